// apps/headrace/calibrate.cpp - headrace calibrate: fills the performance models before the first real job.
#include "coexec/problems.hpp"
#include "commands.hpp"
#include "job_program/progress_bar.hpp"
#include "program/command_line.hpp"
#include "program/exit_code.hpp"
#include "program/one_process.hpp"
#include "program/output_file.hpp"
#include "program/used_files.hpp"
#include <headrace/core/cache_folder.hpp>
#include <headrace/domains/calibrations.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
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
    line.example({"headrace calibrate --devices cpu --small --repeat 1"});
    line.devices(options.devices, "Such as cpu,cuda:0, or @FILE.toml; all: each processor and GPU once");
    line.whole("--repeat", options.repeat, 1U, 9U, "N", "Measurements of each, after one that is not kept");
    line.flag("--small", options.small, "Problems of some seconds on one core; else those of the paper");
    line.flag("--quiet", options.quiet, "No progress, no table");
    line.parse(argc, argv);
    return options;
}

std::filesystem::path file_to_fill() {
    auto file = headrace::Calibrations::file_of_user();
    if (file.empty())
        program::refuse(std::getenv("HEADRACE_CALIBRATIONS") != nullptr
                            ? "HEADRACE_CALIBRATIONS is empty, so nothing would be kept: name a file, or "
                              "unset it"
                            : "neither XDG_CACHE_HOME nor HOME says where to keep calibrations: let "
                              "HEADRACE_CALIBRATIONS name a file");
    if (!headrace::Calibrations(file).is_kept())
        program::refuse(fmt::format("nothing can be kept in {}", file.string()));
    headrace::make_private_folder(file.parent_path());
    program::note_output("HEADRACE_CALIBRATIONS", file);
    program::check_writable(file); // better now than after minutes
    return file;
}

/// Of one problem, on devices as they are side by side, a processor with as many cores as that leaves it; one
/// works at a time. What was measured is kept at the end.
class Calibration {
public:
    Calibration(const coexec::ProblemKind& kind, const Options& options)
        : kind_(kind),
          options_(options),
          warm_up_({.devices = options.devices, .model = "online"}),
          measuring_({.devices = options.devices, .model = "calibrated"}) {}

    [[nodiscard]] std::vector<const headrace::DeviceInfo*> devices() const { return measuring_.devices(); }
    void measure(const std::string& device) {
        run(warm_up_, device, 1); // compilers and caches are nobody's speed
        run(measuring_, device, options_.repeat);
    }

private:
    void run(headrace::Runtime& runtime, const std::string& device, unsigned times) const {
        coexec::Settings settings;
        settings.size = options_.small ? kind_.small : kind_.size;
        const auto problem = kind_.make(settings, runtime);
        for (unsigned i = 0; i < times; ++i) {
            problem->reset();
            runtime.submit(problem->job().only_on({device})).wait();
        }
    }

    const coexec::ProblemKind& kind_;
    const Options& options_;
    headrace::Runtime warm_up_, measuring_;
};

/// Returns what went wrong, a line each.
std::vector<std::string> calibrate_all(const Options& options) {
    std::vector<std::string> failures;
    const auto kinds = coexec::problem_kinds();
    std::optional<job_program::ProgressBar> bar;
    std::uint64_t done = 0;
    for (const coexec::ProblemKind& kind : kinds) {
        Calibration calibration(kind, options);
        const auto devices = calibration.devices();
        if (!bar) bar.emplace(devices.size() * kinds.size(), !options.quiet);
        for (const headrace::DeviceInfo* const device : devices) {
            bar->show(done++, fmt::format("{} on {}", kind.name, device->id));
            try {
                calibration.measure(device->id);
            } catch (const headrace::Error& error) {
                failures.push_back(fmt::format("{} on {}: {}", kind.name, device->id, error.what()));
            }
        }
    }
    if (bar) bar->finish();
    return failures;
}

} // namespace

int calibrate(int argc, char** argv) {
    const std::string name = "headrace calibrate";
    return program::exit_code_of(name, [&] {
        if (program::is_spare_rank()) return;
        const Options options = parse(name, argc, argv);
        program::expect_one_process();
        const auto file = file_to_fill();
        const auto failures = calibrate_all(options);
        if (!options.quiet)
            program::write_output("-", calibrations_table(headrace::Calibrations(file).entries()));
        if (!failures.empty())
            throw headrace::Error{headrace::ErrorKind::device,
                                  fmt::format("not measured: {}", fmt::join(failures, "; "))};
    });
}

} // namespace headrace_program
