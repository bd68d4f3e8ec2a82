// bench/baseline_options.cpp - see baseline_options.hpp.
#include "baseline_options.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <vector>

namespace bench {

BaselineOptions parse_baseline_options(int argc, char** argv) {
    BaselineOptions options;
    std::vector<double> camera;
    std::vector<float> sky;
    CLI::App app("One thread a path in plain CUDA; prints its times as JSON.");
    app.add_option("--scene", options.scene)->required()->check(CLI::ExistingFile);
    app.add_option("--camera", camera, "ex,ey,ez,tx,ty,tz,vfov_degrees")->delimiter(',')->expected(7);
    app.add_option("--sky", sky, "r,g,b")->delimiter(',')->expected(3);
    app.add_option("--albedo", options.albedo)->check(CLI::Range(0.0f, 1.0f));
    for (const auto& [name, value] : {std::pair{"--width", &options.width},
                                      {"--height", &options.height},
                                      {"--spp", &options.spp},
                                      {"--max-depth", &options.max_depth},
                                      {"--repeat", &options.repeats}})
        app.add_option(name, *value)->check(CLI::PositiveNumber);
    app.add_option("--shadow-rays", options.shadow_rays);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::exit(app.exit(error) == 0 ? 0 : 2);
    }
    if (!camera.empty())
        options.camera = path_tracer::CameraPose{{camera[0], camera[1], camera[2]},
                                                 {camera[3], camera[4], camera[5]},
                                                 static_cast<float>(camera[6])};
    if (!sky.empty()) options.sky = {sky[0], sky[1], sky[2]};
    return options;
}

} // namespace bench
