// apps/controller_program/stream_report.hpp - fields of a program's report about a stream of items.
#pragma once
#include "controller_program/machine.hpp"
#include <headrace/domains/streams/stream_report.hpp>

namespace controller_program {

/// Adds how long the stream took, how well devices divided it, and what each had, parts or whole items, was
/// to take for it and took. The Gantt chart's caption says how well. A figure that is not known is not there,
/// or null in a list.
void report_stream(Machine& machine, const headrace::StreamReport& stream);

} // namespace controller_program
