// bench/path_tracing.cpp - what does the framework cost, and what does it gain, on whole paths?
//
// Runs the plain CUDA program and headrace-path-tracer with both kernels in one run, taking turns, so
// that all see the same machine in the same state; drops the first turn; prints a Markdown table of medians
// with their spread.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Settings {
    std::vector<std::string> cameras{// Sponza: from above, down the nave, across. The image plane is 1 x
                                     // 0.5625 (half-sizes) at 1.2 before the eye.
                                     "-15.24,21.5,2.54,-14.414,21.062,2.184,50.22967",
                                     "-34,5,11.26,-33.0573,5.0292,10.9276,50.22967",
                                     "-1.3,4.96,12.28,-2.2886,5.0107,12.1381,50.22967"};
    std::string scene, sky = "1,1,1", device = "cuda:0", commit = "unknown";
    double albedo = 0.8;
    unsigned width = 1280, height = 720, spp = 256, depth = 8, repeats = 7;
    fs::path programs;
};

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char letter : text) out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return out + "'";
}

/// Runs a shell command to its end; throws unless it succeeds.
void run(const std::string& command) {
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

json read_json(const fs::path& file) {
    std::ifstream stream(file);
    return json::parse(stream);
}

/// Options that both programs take, spelt alike.
std::string picture(const Settings& settings, const std::string& camera) {
    return fmt::format(
        " --scene {} --camera={} --width {} --height {} --spp {} --max-depth {} --sky {} --albedo {}",
        quoted(settings.scene), camera, settings.width, settings.height, settings.spp, settings.depth,
        settings.sky, settings.albedo);
}

/// Seconds of one turn of each contestant.
struct Contestant {
    std::string name, command;
    std::vector<double> kernel_seconds, job_seconds;
};

struct Spread {
    double least, median, most;
};
Spread spread(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return {values.front(), values[values.size() / 2], values.back()};
}

std::string row(const Contestant& contestant, const std::string& camera, double segments, double baseline) {
    const Spread job = spread(contestant.job_seconds), kernel = spread(contestant.kernel_seconds);
    return fmt::format("| {} | {} | {:.1f} ({:.1f} to {:.1f}) | {:.1f} | {:.0f} | {:.3f} |\n", camera,
                       contestant.name, 1e3 * job.median, 1e3 * job.least, 1e3 * job.most,
                       1e3 * kernel.median, 1e-6 * segments / job.median, baseline / job.median);
}

/// The table's rows for one camera, and the machine as the baseline sees it.
std::string compare(const Settings& settings, const std::string& label, const std::string& camera,
                    json& machine) {
    const fs::path file = fs::temp_directory_path() / "headrace-path-tracing.json";
    const auto program = [&](const char* name) { return quoted((settings.programs / name).string()); };
    const std::string scene = picture(settings, camera);

    Contestant baseline{
        "one thread a path, plain CUDA", program("path_tracer_baseline") + scene + " --repeat 1", {}, {}};
    std::vector<Contestant> ours;
    for (const std::string kernel : {"consumer", "producer"})
        ours.push_back({"Headrace, " + kernel,
                        program("headrace-path-tracer") + scene +
                            fmt::format(" --roulette-from 0 --no-direct-light --quiet --kernel {} --devices "
                                        "{} --out {} --report {}",
                                        kernel, settings.device,
                                        quoted((file.parent_path() / "path-tracing.pfm").string()),
                                        quoted(file.string())),
                        {},
                        {}});

    double segments = 0;
    for (unsigned turn = 0; turn <= settings.repeats; ++turn) { // turn 0 warms up
        run(baseline.command + " >" + quoted(file.string()));
        machine = read_json(file);
        segments = machine.at("segments");
        if (turn > 0) {
            baseline.kernel_seconds.push_back(machine.at("median_seconds"));
            baseline.job_seconds.push_back(machine.at("median_seconds"));
        }
        for (Contestant& contestant : ours) {
            run(contestant.command);
            const json report = read_json(file);
            if (turn == 0) continue;
            contestant.job_seconds.push_back(report.at("seconds"));
            contestant.kernel_seconds.push_back(report.at("devices").at(0).at("busy_seconds"));
        }
    }
    const double reference = spread(baseline.job_seconds).median;
    std::string rows = row(baseline, label, segments, reference);
    for (const Contestant& contestant : ours) rows += row(contestant, label, segments, reference);
    return rows;
}

} // namespace

int main(int argc, char** argv) try {
    Settings settings;
    settings.programs = fs::canonical("/proc/self/exe").parent_path();
    CLI::App app("Whole paths: Headrace beside a plain CUDA program. The table goes to stdout.");
    app.add_option("--scene", settings.scene, "a mesh that headrace-path-tracer reads")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("--camera", settings.cameras,
                   "ex,ey,ez,tx,ty,tz,vfov_degrees; may be given several times");
    app.add_option("--width", settings.width);
    app.add_option("--height", settings.height);
    app.add_option("--spp", settings.spp);
    app.add_option("--max-depth", settings.depth);
    app.add_option("--sky", settings.sky);
    app.add_option("--albedo", settings.albedo);
    app.add_option("--device", settings.device);
    app.add_option("--repeat", settings.repeats, "turns after the first, which warms up")
        ->check(CLI::Range(1, 1000));
    app.add_option("--commit", settings.commit, "what was measured, for the heading");
    CLI11_PARSE(app, argc, argv);

    std::string rows;
    json machine;
    for (std::size_t i = 0; i < settings.cameras.size(); ++i)
        rows += compare(settings, std::to_string(i + 1), settings.cameras[i], machine);

    fmt::print("{}, driver {}, CUDA {}, commit {}; medians (least to most) of {} turns after a warm-up\n\n",
               std::string(machine.at("device")), std::string(machine.at("driver")),
               std::string(machine.at("runtime")), settings.commit, settings.repeats);
    fmt::print("`path_tracing{} --repeat {}` with {} cameras\n\n", picture(settings, "..."), settings.repeats,
               settings.cameras.size());
    fmt::print("| camera | program | job [ms] | in kernels [ms] | M segments/s | speed "
               "|\n|---|---|---|---|---|---|\n{}",
               rows);
    return 0;
} catch (const std::exception& error) {
    std::cerr << "path_tracing: " << error.what() << '\n';
    return 1;
}
