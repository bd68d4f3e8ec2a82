// apps/barnes_hut/options.hpp - what a user may ask of the program.
#pragma once
#include "gravity.hpp"
#include "program/command_line.hpp"
#include "program/trace_files.hpp"
#include <headrace/domains/runtime.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace barnes_hut {

/// The command line, checked: every value is in its range.
struct Options {
    std::filesystem::path input; ///< empty: a Plummer sphere
    std::size_t plummer = 0;
    std::uint64_t seed = 1;
    Settings settings;
    std::uint64_t steps = 0;
    double dt = 0.01;
    headrace::RuntimeOptions runtime;
    std::filesystem::path accelerations, potentials, output, image, report; ///< empty: none
    program::TraceFiles trace;
    std::uint64_t output_every = 0; ///< 0: at the end alone
    std::uint64_t energy_every = 0; ///< 0: at start and end alone
    bool baselines = false, progress = false, quiet = false;
};

/// Errors  invalid_argument: which option, what is wrong with it, what it takes, which file cannot be
/// written. Throws program::Answered.
[[nodiscard]] Options parse_options(int argc, char** argv);

} // namespace barnes_hut
