// bench/path_tracing.cpp - what does the framework cost, and what does it gain, on whole paths?
//
// Runs the plain CUDA program and headrace-path-tracer with both kernels in one run, taking turns, so
// that all see the same machine in the same state; drops the first turn; prints a Markdown table of medians
// with their spread. With shadow rays, which the plain program does not have, the kernels are alone.
#include "command_line.hpp"

#include <core/scratch_folder.hpp>

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
    unsigned width = 1280, height = 720, depth = 8, repeats = 7;
    std::vector<unsigned> spp{256}, shadow_rays; ///< shadow rays: none, unless there are numbers
    fs::path programs, scratch;
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
std::string picture(const Settings& settings, const std::string& camera, unsigned spp) {
    return fmt::format(" --scene {}{} --width {} --height {} --spp {} --max-depth {} --sky {} --albedo {}",
                       quoted(settings.scene), camera.empty() ? "" : " --camera=" + camera, settings.width,
                       settings.height, spp, settings.depth, settings.sky, settings.albedo);
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

/// Where programs leave what they report.
fs::path report_file(const Settings& settings) { return settings.scratch / "report.json"; }

/// headrace-path-tracer with each kernel.
std::vector<Contestant> both_kernels(const Settings& settings, const std::string& picture,
                                     const std::string& light) {
    std::vector<Contestant> both;
    for (const std::string kernel : {"consumer", "producer"})
        both.push_back(
            {"Headrace, " + kernel,
             quoted((settings.programs / "headrace-path-tracer").string()) + picture +
                 fmt::format(" {} --quiet --kernel {} --devices {} --out {} --report {}", light, kernel,
                             settings.device, quoted((settings.scratch / "picture.pfm").string()),
                             quoted(report_file(settings).string())),
             {},
             {}});
    return both;
}

void take_turn(const Settings& settings, Contestant& contestant, bool counts) {
    run(contestant.command);
    if (!counts) return;
    const json report = read_json(report_file(settings));
    contestant.job_seconds.push_back(report.at("seconds"));
    contestant.kernel_seconds.push_back(report.at("devices").at(0).at("busy_seconds"));
}

/// The table's rows for one camera, and the machine as the baseline sees it.
std::string compare(const Settings& settings, const std::string& label, const std::string& camera,
                    unsigned spp, json& machine) {
    const std::string scene = picture(settings, camera, spp);
    Contestant baseline{"one thread a path, plain CUDA",
                        quoted((settings.programs / "path_tracer_baseline").string()) + scene + " --repeat 1",
                        {},
                        {}};
    std::vector<Contestant> ours = both_kernels(settings, scene, "--roulette-from 0 --no-direct-light");

    double segments = 0;
    for (unsigned turn = 0; turn <= settings.repeats; ++turn) { // turn 0 warms up
        run(baseline.command + " >" + quoted(report_file(settings).string()));
        machine = read_json(report_file(settings));
        segments = machine.at("segments");
        if (turn > 0) {
            baseline.kernel_seconds.push_back(machine.at("median_seconds"));
            baseline.job_seconds.push_back(machine.at("median_seconds"));
        }
        for (Contestant& contestant : ours) take_turn(settings, contestant, turn > 0);
    }
    const double reference = spread(baseline.job_seconds).median;
    std::string rows = row(baseline, label, segments, reference);
    for (const Contestant& contestant : ours) rows += row(contestant, label, segments, reference);
    return rows;
}

/// A row for both kernels with shadow rays, from the scene's own camera.
std::string compare_kernels(const Settings& settings, unsigned spp, unsigned shadow_rays) {
    std::vector<Contestant> both =
        both_kernels(settings, picture(settings, "", spp), fmt::format("--shadow-rays {}", shadow_rays));
    for (unsigned turn = 0; turn <= settings.repeats; ++turn)
        for (Contestant& contestant : both) take_turn(settings, contestant, turn > 0);
    std::string row = fmt::format("| {} | {} |", spp, shadow_rays);
    for (const Contestant& contestant : both) {
        const Spread kernel = spread(contestant.kernel_seconds);
        row += fmt::format(" {:.2f} ({:.2f} to {:.2f}) |", 1e3 * kernel.median, 1e3 * kernel.least,
                           1e3 * kernel.most);
    }
    const double paths = double{1} * settings.width * settings.height * spp;
    return row + fmt::format(" {:.1f} | {:.3f} |\n", 1e-6 * paths / spread(both[1].kernel_seconds).median,
                             spread(both[0].kernel_seconds).median / spread(both[1].kernel_seconds).median);
}

} // namespace

int main(int argc, char** argv) try {
    const headrace::test::ScratchFolder scratch;
    Settings settings;
    settings.scratch = scratch.path();
    settings.programs = fs::canonical("/proc/self/exe").parent_path();
    bench::CommandLine app("Whole paths: Headrace beside a plain CUDA program. The table goes to stdout.");
    app.add("--scene", settings.scene, "a mesh that headrace-path-tracer reads").required().existing_file();
    app.add("--camera", settings.cameras, "ex,ey,ez,tx,ty,tz,vfov_degrees; may be given several times");
    app.add("--width", settings.width);
    app.add("--height", settings.height);
    app.add("--spp", settings.spp, "one or several").with_commas();
    app.add("--shadow-rays", settings.shadow_rays,
            "instead of the cameras: both kernels with so many at each hit, from the scene's own camera")
        .with_commas();
    app.add("--max-depth", settings.depth);
    app.add("--sky", settings.sky);
    app.add("--albedo", settings.albedo);
    app.add("--device", settings.device);
    app.add("--repeat", settings.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", settings.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;

    const std::string times =
        fmt::format("medians (least to most) of {} turns after a warm-up", settings.repeats);
    if (!settings.shadow_rays.empty()) {
        fmt::print("{}, {} x {}, commit {}; {}\n\n", settings.device, settings.width, settings.height,
                   settings.commit, times);
        fmt::print(
            "| samples a pixel | shadow rays | consumer, in kernels [ms] | producer, in kernels [ms] | "
            "M paths/s | speed |\n|---|---|---|---|---|---|\n");
        for (const unsigned spp : settings.spp)
            for (const unsigned rays : settings.shadow_rays)
                fmt::print("{}", compare_kernels(settings, spp, rays));
        return 0;
    }

    std::string rows;
    json machine;
    for (std::size_t i = 0; i < settings.cameras.size(); ++i)
        for (const unsigned spp : settings.spp)
            rows += compare(settings, std::to_string(i + 1), settings.cameras[i], spp, machine);

    fmt::print("{}, driver {}, CUDA {}, commit {}; {}\n\n", std::string(machine.at("device")),
               std::string(machine.at("driver")), std::string(machine.at("runtime")), settings.commit, times);
    fmt::print("`path_tracing{} --repeat {}` with {} cameras\n\n",
               picture(settings, "...", settings.spp.front()), settings.repeats, settings.cameras.size());
    fmt::print("| camera | program | job [ms] | in kernels [ms] | M segments/s | speed "
               "|\n|---|---|---|---|---|---|\n{}",
               rows);
    return 0;
} catch (const std::exception& error) {
    std::cerr << "path_tracing: " << error.what() << '\n';
    return 1;
}
