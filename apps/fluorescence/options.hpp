// apps/fluorescence/options.hpp - what a user may ask of the program.
#pragma once
#include "job_program/checkpoint.hpp"
#include "program/command_line.hpp"
#include "program/trace_files.hpp"
#include "simulation.hpp"
#include <headrace/domains/runtime.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace fluorescence {

/// The command line, checked: every value is in its range.
struct Options {
    std::filesystem::path input;
    KernelChoice kernel = KernelChoice::producer;
    GridChoice grid = GridChoice::rz;
    std::uint64_t photons = 0;         ///< 0: as the input says
    std::optional<std::uint64_t> seed; ///< else the input's, else 1
    double emission_weight = 0.1;
    std::uint32_t most_steps = Settings{}.most_steps;
    headrace::RuntimeOptions runtime;
    job_program::CheckpointOptions checkpoints;
    std::string grids;            ///< what names of files with grids begin with; empty: none
    bool no_fluence = false;      ///< by ways, among the grids and in the picture
    std::filesystem::path mco;    ///< folder of MCML's result files; empty: none
    std::filesystem::path plot;   ///< picture of the fluence; empty: none
    std::filesystem::path report; ///< empty: none
    program::TraceFiles trace;
    bool baselines = false, progress = false, quiet = false;

    [[nodiscard]] Settings settings(const Problem& problem) const;
};

/// Errors  invalid_argument: which option, what is wrong with it, what it takes, which file cannot be
/// written. Throws program::Answered.
[[nodiscard]] Options parse_options(int argc, char** argv);

} // namespace fluorescence
