// apps/headrace/commands.hpp - what `headrace` can be told to do. Each reads its own options, argv[0] being
// its name, and returns the exit code: 0; 1 for a failure; 2 for a mistake of the user's.
#pragma once
#include <headrace/domains/calibrations.hpp>

#include <string>
#include <vector>

namespace headrace_program {

/// `headrace devices`
[[nodiscard]] int devices(int argc, char** argv);
/// `headrace calibrate`
[[nodiscard]] int calibrate(int argc, char** argv);
/// `headrace doctor`. Returns 1 for a machine with something wrong, too.
[[nodiscard]] int doctor(int argc, char** argv);
/// `headrace report`
[[nodiscard]] int report(int argc, char** argv);

/// For people; several lines.
[[nodiscard]] std::string calibrations_table(const std::vector<headrace::Calibrations::Entry>& entries);

} // namespace headrace_program
