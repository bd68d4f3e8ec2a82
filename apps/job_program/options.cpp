// apps/job_program/options.cpp - see options.hpp.
#include "job_program/options.hpp"

namespace job_program {

void add_device_options(program::CommandLine& line, std::string& devices, std::string& policy) {
    line.text("--devices", devices, "LIST",
              "Such as cpu,cuda:0,opencl:pocl, or @FILE.toml; default: $HEADRACE_DEVICES, else all, each "
              "processor once");
    line.text("--policy", policy, "NAME",
              "How work is dealt out to devices: demand, or demand:20 for smaller tasks");
}

void add_message_options(program::CommandLine& line, std::filesystem::path& trace, bool& progress,
                         bool& quiet, const char* bar) {
    line.output("--trace", trace,
                "When each task ran and where, as JSON for ui.perfetto.dev or chrome://tracing");
    line.flag("--progress", progress, bar);
    line.flag("--quiet", quiet, "Nothing but errors");
}

} // namespace job_program
