// apps/controller_program/stream_report.cpp - see stream_report.hpp.
#include "controller_program/stream_report.hpp"

#include <limits>
#include <string>
#include <vector>

namespace controller_program {

void report_stream(Machine& machine, const headrace::StreamReport& stream) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN(); // null in JSON
    const auto figure = [&](const char* name, const headrace::Figure& value) {
        if (value.value) machine.report(name, *value.value);
    };
    if (stream.seconds > 0) machine.report("stream_seconds", stream.seconds);
    figure("alone_seconds", stream.alone_seconds);
    figure("speed_up", stream.speed_up);
    figure("expected_speed_up", stream.expected);
    figure("efficiency", stream.efficiency);
    if (!stream.efficiency.value) machine.report("efficiency_absent", stream.efficiency.why_absent);
    if (!stream.left_out.empty()) machine.report("without", reasons(stream.left_out));
    if (stream.parts.empty()) return;
    machine.report("fill_seconds", stream.fill_seconds);
    machine.report("drain_seconds", stream.drain_seconds);
    machine.report("remapped", std::int64_t{stream.remapped});
    std::string parts;
    std::vector<double> predicted, measured, transfers;
    for (const headrace::StreamPartReport& part : stream.parts) {
        parts += (parts.empty() ? "" : "; ") + part.device + ": " + part.first_piece;
        if (part.last_piece != part.first_piece) parts += " to " + part.last_piece;
        predicted.push_back(part.predicted_seconds.value.value_or(unknown));
        measured.push_back(part.seconds.value.value_or(unknown));
        transfers.push_back(part.transfer_seconds);
    }
    machine.report("parts", parts);
    machine.report("part_seconds_predicted", predicted);
    machine.report("part_seconds", measured);
    machine.report("part_transfer_seconds_predicted", transfers);
}

} // namespace controller_program
