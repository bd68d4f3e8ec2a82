// apps/headrace/calibrate.cpp - headrace calibrate: fills the performance models before the first real job.
#include "coexec/problems.hpp"
#include "commands.hpp"
#include "job_program/progress_bar.hpp"
#include "program/command_line.hpp"
#include "program/exit_code.hpp"
#include "program/output_file.hpp"
#include <headrace/domains/calibrations.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace headrace_program {
namespace {

struct Options {
    std::string devices = "all";
    unsigned repeat = 3;
    bool small = false, quiet = false;
};

Options parse(const std::string& name, int argc, char** argv) {
    Options options;
    program::CommandLine line(
        name,
        "Runs headrace-coexec's problems on each device by itself, so that jobs like them know how fast "
        "the devices are from the beginning. Other jobs measure themselves: each counts for the next.");
    line.text("--devices", options.devices, "LIST",
              "Such as cpu,cuda:0, or @FILE.toml; all: each processor and GPU once");
    line.whole("--repeat", options.repeat, 1U, 9U, "N", "Measurements of each, after one that is not kept");
    line.flag("--small", options.small, "Problems of some seconds on one core; else those of the paper");
    line.flag("--quiet", options.quiet, "No progress, no table");
    line.parse(argc, argv);
    return options;
}

std::vector<std::string> ids(const std::string& list) {
    std::vector<std::string> ids;
    for (const auto& device : headrace::select_devices(list).devices) ids.push_back(device->info().id);
    return ids;
}

void run_once(headrace::Runtime& runtime, coexec::Problem& problem) {
    problem.reset();
    runtime.submit(problem.job()).wait();
}

/// The runtime keeps what it measures when it ends.
void calibrate(const std::string& device, const coexec::ProblemKind& kind, const Options& options) {
    coexec::Settings settings;
    settings.size = options.small ? kind.small : kind.size;
    {
        headrace::RuntimeOptions warm_up;
        warm_up.devices = device;
        warm_up.model = "online"; // compilers and caches are nobody's speed
        headrace::Runtime runtime(warm_up);
        run_once(runtime, *kind.make(settings, runtime));
    }
    headrace::RuntimeOptions measuring;
    measuring.devices = device;
    headrace::Runtime runtime(measuring);
    const auto problem = kind.make(settings, runtime);
    for (unsigned i = 0; i < options.repeat; ++i) run_once(runtime, *problem);
}

} // namespace

int calibrate(int argc, char** argv) {
    const std::string name = "headrace calibrate";
    return program::exit_code_of(name, [&] {
        const Options options = parse(name, argc, argv);
        const auto file = headrace::Calibrations::file_of_user();
        if (file.empty())
            program::refuse(
                "HEADRACE_CALIBRATIONS is empty, so nothing would be kept: name a file, or unset it");
        const auto devices = ids(options.devices);
        const auto kinds = coexec::problem_kinds();
        job_program::ProgressBar bar(devices.size() * kinds.size(), !options.quiet);
        std::uint64_t done = 0;
        for (const std::string& device : devices)
            for (const coexec::ProblemKind& kind : kinds) {
                calibrate(device, kind, options);
                bar.show(++done);
            }
        bar.finish();
        if (!options.quiet)
            program::write_output("-", calibrations_table(headrace::Calibrations(file).entries()));
    });
}

} // namespace headrace_program
