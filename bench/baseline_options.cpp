// bench/baseline_options.cpp - see baseline_options.hpp.
#include "baseline_options.hpp"
#include "command_line.hpp"

#include <cstdlib>
#include <vector>

namespace bench {

BaselineOptions parse_baseline_options(int argc, char** argv) {
    BaselineOptions options;
    std::vector<double> camera;
    std::vector<float> sky;
    bench::CommandLine app("One thread a path in plain CUDA; prints its times as JSON.");
    app.add("--scene", options.scene).required().existing_file();
    app.add("--camera", camera, "ex,ey,ez,tx,ty,tz,vfov_degrees").with_commas().count(7);
    app.add("--sky", sky, "r,g,b").with_commas().count(3);
    app.add("--albedo", options.albedo).range(0.0f, 1.0f);
    for (const auto& [name, value] : {std::pair{"--width", &options.width},
                                      {"--height", &options.height},
                                      {"--spp", &options.spp},
                                      {"--max-depth", &options.max_depth},
                                      {"--repeat", &options.repeats}})
        app.add(name, *value).positive();
    app.add("--shadow-rays", options.shadow_rays);
    if (const auto code = app.parse(argc, argv)) std::exit(*code == 0 ? 0 : 2);
    if (!camera.empty())
        options.camera = path_tracer::CameraPose{{camera[0], camera[1], camera[2]},
                                                 {camera[3], camera[4], camera[5]},
                                                 static_cast<float>(camera[6])};
    if (!sky.empty()) options.sky = {sky[0], sky[1], sky[2]};
    return options;
}

} // namespace bench
