// apps/program/trace_files.hpp - --trace and --gantt: files that show what ran when.
#pragma once
#include "program/command_line.hpp"
#include <headrace/core/trace.hpp>

#include <filesystem>
#include <optional>
#include <string_view>

namespace program {

/// Empty names are files that nobody wants; "-" is standard output.
struct TraceFiles {
    std::filesystem::path json;  ///< for viewers of traces
    std::filesystem::path chart; ///< SVG

    /// Adds --trace and --gantt.
    void add_options(CommandLine& line);
    /// Nobody will read a trace: none need be made.
    [[nodiscard]] bool empty() const { return json.empty() && chart.empty(); }
    [[nodiscard]] bool is_on_stdout() const { return json == "-" || chart == "-"; }
    /// Begins a trace if one is wanted.
    void begin(std::optional<headrace::Trace>& trace) const;
    /// Of several ranks of MPI, rank 0 writes what all have recorded. All call it. `caption`: a line for the
    /// chart. Errors: io
    void write(headrace::Trace& trace, std::string_view caption = {}) const;
};

} // namespace program
