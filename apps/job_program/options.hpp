// apps/job_program/options.hpp - options that every program which runs jobs has.
#pragma once
#include "program/command_line.hpp"
#include "program/trace_files.hpp"
#include <headrace/domains/runtime.hpp>

namespace job_program {

/// The exit code of a program that leaves because a device no longer answers.
constexpr int hung_exit_code = 3;

/// --devices, --policy, --model, --power and --watchdog.
void add_device_options(program::CommandLine& line, headrace::RuntimeOptions& runtime);

/// --trace, --gantt, --progress and --quiet. `bar`: what --help says of --progress.
void add_message_options(program::CommandLine& line, program::TraceFiles& trace, bool& progress, bool& quiet,
                         const char* bar = "A bar on stderr while it works");

} // namespace job_program
