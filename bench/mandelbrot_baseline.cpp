// bench/mandelbrot_baseline.cpp - see mandelbrot_baseline.hpp.
#include "mandelbrot_baseline.hpp"
#include "command_line.hpp"
#include "program/output_file.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <iostream>

namespace bench {

void MandelbrotProblem::finish(std::size_t frame, std::span<const int> steps) {
    statistics[frame] = mandelbrot::statistics_of(steps, threshold);
    if (folder.empty()) return;
    program::write_whole(mandelbrot::file_of_frame(folder, frame),
                         mandelbrot::encode_png(width, height, steps, threshold));
}

int mandelbrot_baseline(int argc, char** argv, const char* about,
                        const std::function<MandelbrotResult(MandelbrotProblem&)>& work) try {
    MandelbrotProblem problem;
    std::size_t frames = 100;
    double zoom = 0.05;
    bench::CommandLine app(about);
    app.add("--width", problem.width).range(1, 65536);
    app.add("--height", problem.height).range(1, 65536);
    app.add("--threshold", problem.threshold).positive();
    app.add("--frames", frames).positive();
    app.add("--zoom", zoom);
    app.add("--out", problem.folder, "where frames go; none are written otherwise");
    app.add("--host-threads", problem.host_threads).positive();
    app.add("--device", problem.device, "its number");
    if (const auto code = app.parse(argc, argv)) return *code;
    problem.windows = mandelbrot::zoom_from({}, zoom, frames);
    problem.statistics.resize(frames);

    const MandelbrotResult result = work(problem);
    double steps = 0;
    for (const mandelbrot::Statistics& each : problem.statistics) steps += static_cast<double>(each.steps);
    std::cout << nlohmann::json{{"seconds", result.seconds}, {"checksum", steps}, {"device", result.device}}
              << '\n';
    return 0;
} catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
}

} // namespace bench
