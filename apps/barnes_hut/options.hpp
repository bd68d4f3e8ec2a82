// apps/barnes_hut/options.hpp - what a user may ask of the program.
#pragma once
#include "gravity.hpp"
#include "program/command_line.hpp"
#include "program/trace_files.hpp"
#include "snapshot.hpp"
#include <headrace/domains/runtime.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace barnes_hut {

/// What decides how bodies move, if it was written: a run that goes on takes the rest from its snapshot.
using Written = std::vector<std::string>;

/// The command line, checked: every value is in its range.
struct Options {
    std::filesystem::path input;   ///< empty: a Plummer sphere, or
    std::filesystem::path restart; ///< a snapshot
    std::size_t plummer = 0;
    std::uint64_t seed = 1;
    Settings settings;
    std::uint64_t steps = 0;
    double dt = 0.01;
    headrace::RuntimeOptions runtime;
    std::filesystem::path accelerations, potentials, output, image, report; ///< empty: none
    program::TraceFiles trace;
    std::uint64_t output_every = 0;   ///< 0: at the end alone
    std::uint64_t energy_every = 0;   ///< 0: at start and end alone
    std::uint64_t snapshot_every = 0; ///< 0: none
    Written written;
    bool baselines = false, progress = false, quiet = false;
};

/// Errors  invalid_argument: which option, what is wrong with it, what it takes, which file cannot be
/// written. Throws program::Answered.
[[nodiscard]] Options parse_options(int argc, char** argv);

[[nodiscard]] Parameters parameters_of(const Options& options);
/// Takes from the snapshot what was not written. Errors  invalid_argument if something else was
void go_on_from(const Snapshot& snapshot, Options& options);

/// Where the bodies of a step go: out.csv of step 20 is out.000020.csv. `extension`: another than the file's
[[nodiscard]] std::filesystem::path numbered(const std::filesystem::path& file, std::uint64_t step,
                                             const std::filesystem::path& extension);
inline constexpr const char* snapshot_extension = ".snapshot";
/// Files of steps after `first` will be written, beside each other. Errors: as program::note_outputs
void note_numbered(const char* option, const std::filesystem::path& file,
                   const std::filesystem::path& extension, std::uint64_t first);

} // namespace barnes_hut
