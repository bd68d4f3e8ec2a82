// apps/job_program/options.cpp - see options.hpp.
#include "job_program/options.hpp"
#include "program/exit_code.hpp"
#include "program/numbers.hpp"
#include "program/used_files.hpp"
#include <headrace/core/policy.hpp>
#include <headrace/domains/calibrations.hpp>

#include <chrono>
#include <map>
#include <sstream>
#include <string>

#include <unistd.h>

namespace job_program {

namespace {

std::map<std::string, double> to_powers(const std::string& text) {
    std::map<std::string, double> powers;
    std::istringstream list(text);
    for (std::string one; std::getline(list, one, ',');) {
        const auto equals = one.find('=');
        if (equals == std::string::npos || equals == 0)
            program::refuse("--power " + text + ": takes such as gpu=1,cpu=0.35");
        powers[one.substr(0, equals)] = program::real("--power", one.substr(equals + 1), 1e-9, 1e9);
    }
    return powers;
}

} // namespace

void add_device_options(program::CommandLine& line, headrace::RuntimeOptions& runtime) {
    program::note_input(headrace::Calibrations::file_of_user());
    line.devices(runtime.devices,
                 "Such as cpu,cuda:0,opencl:pocl, or @FILE.toml; default: $HEADRACE_DEVICES, else all, each "
                 "processor once");
    static const std::string policies = "How work is dealt out to devices: " + headrace::known_policies();
    line.text("--policy", runtime.policy, "NAME", policies.c_str());
    line.text(
        "--model", runtime.model, "NAME",
        "What is known of the devices' speeds: calibrated (by earlier runs), online (by this one), peak");
    const std::string none = "none";
    line.option("--power", none, "LIST", "Such as gpu=1,cpu=0.35: speeds instead of a model",
                [none, &runtime](const std::string& text) {
                    if (text != none) runtime.powers = to_powers(text);
                });
    const std::string off = "off";
    line.option("--watchdog", off, "SECONDS",
                "Leave, with exit code 3, when a device has given no sign of life for so long; off: only say "
                "so, each minute",
                [off, &runtime, program = line.program()](const std::string& text) {
                    if (text == off) return;
                    runtime.patience = std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::duration<double>(program::real("--watchdog", text, 0.1, 1e6)));
                    runtime.on_hang = [program] {
                        ::_exit(program::complain(program, "what hangs cannot be stopped, leaving without it",
                                                  hung_exit_code));
                    };
                });
}

void add_message_options(program::CommandLine& line, program::TraceFiles& trace, bool& progress, bool& quiet,
                         const char* bar) {
    trace.add_options(line);
    line.flag("--progress", progress, bar);
    line.quiet(quiet);
}

} // namespace job_program
