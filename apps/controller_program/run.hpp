// apps/controller_program/run.hpp - the frame of a controller program, which its main() fills:
//
//     int main(int argc, char** argv) {
//         int size = 1024;
//         program::CommandLine line("headrace-hotspot", "How heat spreads over a chip.");
//         line.whole("--size", size, 1, 65536, "N", "Rows and columns of the grid");
//         return controller_program::run(line, argc, argv, [&](controller_program::Machine& machine) {
//             headrace::Controller& gpu = machine.controller();
//             headrace::Array<float> heat("heat", headrace::grid(size, size), machine.device());
//             machine.timed([&] { launch<Spread>(gpu, headrace::grid(size, size), heat); });
//             machine.report("checksum", sum(heat));
//         });
//     }
#pragma once
#include "controller_program/machine.hpp"
#include "program/command_line.hpp"

#include <cstdint>
#include <functional>

namespace controller_program {

/// What several ranks of MPI do: none of them works (program/one_process.hpp), or `work` divides its work by
/// Machine::session().
enum class OnRanks : std::uint8_t { refused, shared };

/// Adds the options that all have (--mode, --devices, --report, --trace, --gantt, --quiet), reads all of
/// them, finds out whether files can be written, opens the devices, calls `work`, and reports. Returns the
/// exit code: 0; 1 for a failure; 2 for a mistake of the user's, each with a line on stderr.
///
/// The report for people goes to stdout, or to stderr if an output of the program's is "-".
[[nodiscard]] int run(program::CommandLine& line, int argc, char** argv,
                      const std::function<void(Machine&)>& work, OnRanks on_ranks = OnRanks::refused);

} // namespace controller_program
