// apps/job_program/options.hpp - options that every program which runs jobs has.
#pragma once
#include "program/command_line.hpp"

#include <filesystem>
#include <string>

namespace job_program {

/// --devices and --policy.
void add_device_options(program::CommandLine& line, std::string& devices, std::string& policy);

/// --trace, --progress and --quiet. `bar`: what --help says of --progress.
void add_message_options(program::CommandLine& line, std::filesystem::path& trace, bool& progress,
                         bool& quiet, const char* bar = "A bar on stderr while it works");

} // namespace job_program
