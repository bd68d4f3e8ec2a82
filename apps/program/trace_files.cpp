// apps/program/trace_files.cpp - see trace_files.hpp.
#include "program/trace_files.hpp"
#include "program/output_file.hpp"
#include <headrace/domains/cluster/rank_traces.hpp>

namespace program {

void TraceFiles::add_options(CommandLine& line) {
    line.output("--trace", json,
                "When each task and transfer ran and where, as JSON for ui.perfetto.dev or chrome://tracing");
    line.output("--gantt", chart, "The same as a picture, SVG");
}

void TraceFiles::begin(std::optional<headrace::Trace>& trace) const {
    if (empty()) return;
    trace.emplace();
    headrace::cluster::compare_clocks();
}

void TraceFiles::write(headrace::Trace& trace, std::string_view caption) const {
    headrace::cluster::merge_traces(trace);
    if (!json.empty()) write_output(json, trace.json());
    if (!chart.empty()) write_output(chart, trace.svg(caption));
}

} // namespace program
