// apps/job_program/options.cpp - see options.hpp.
#include "job_program/options.hpp"
#include "program/exit_code.hpp"

#include <chrono>
#include <string>

#include <unistd.h>

namespace job_program {

void add_device_options(program::CommandLine& line, headrace::RuntimeOptions& runtime) {
    line.text("--devices", runtime.devices, "LIST",
              "Such as cpu,cuda:0,opencl:pocl, or @FILE.toml; default: $HEADRACE_DEVICES, else all, each "
              "processor once");
    line.text("--policy", runtime.policy, "NAME",
              "How work is dealt out to devices: demand, or demand:20 for smaller tasks");
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

void add_message_options(program::CommandLine& line, std::filesystem::path& trace, bool& progress,
                         bool& quiet, const char* bar) {
    line.output("--trace", trace,
                "When each task ran and where, as JSON for ui.perfetto.dev or chrome://tracing");
    line.flag("--progress", progress, bar);
    line.flag("--quiet", quiet, "Nothing but errors");
}

} // namespace job_program
