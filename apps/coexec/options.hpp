// apps/coexec/options.hpp - what a user may ask of the program.
#pragma once
#include "problems.hpp"
#include "program/trace_files.hpp"
#include <headrace/domains/runtime.hpp>

#include <cstdint>
#include <filesystem>

namespace coexec {

/// The words of --memory, in the order of headrace::MemoryModel.
inline constexpr const char* memory_names[] = {"natural", "unified", "buffers"};

/// The command line, checked: every value is in its range.
struct Options {
    const ProblemKind* problem = nullptr;
    Settings settings;
    headrace::RuntimeOptions runtime;
    std::uint32_t repeat = 0;      ///< timed runs after one that warms up; 0: that one is timed
    bool verify = false;           ///< results against a serial version
    std::uint64_t check_every = 1; ///< of them
    std::filesystem::path report;  ///< empty: none
    program::TraceFiles trace;
    bool baselines = false, progress = false, quiet = false;
};

/// Errors  invalid_argument: which option, what is wrong with it, what it takes, which file cannot be
/// written. Throws program::Answered.
[[nodiscard]] Options parse_options(int argc, char** argv);

} // namespace coexec
