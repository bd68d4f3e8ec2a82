// apps/controller_program/stream_report.cpp - see stream_report.hpp.
#include "controller_program/stream_report.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

namespace controller_program {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN(); // null in JSON

std::string times_text(const headrace::Figure& measured, const headrace::Figure& predicted) {
    return (measured.value ? fmt::format("{:.4g} s", *measured.value) : "not measured") +
           (predicted.value ? fmt::format(" ({:.4g} s predicted)", *predicted.value) : "");
}

void report_shares(Machine& machine, const std::vector<headrace::StreamShareReport>& shares) {
    std::string text;
    std::vector<double> items, predicted, measured;
    for (const headrace::StreamShareReport& share : shares) {
        text += fmt::format("{}{}: {} items", text.empty() ? "" : "; ", share.device, share.items);
        if (share.items > 0) text += ", each " + times_text(share.seconds, share.predicted_seconds);
        items.push_back(static_cast<double>(share.items));
        predicted.push_back(share.predicted_seconds.value.value_or(unknown));
        measured.push_back(share.seconds.value.value_or(unknown));
    }
    machine.report("shares", text);
    machine.report("share_items", items);
    machine.report("share_seconds_predicted", predicted);
    machine.report("share_seconds", measured);
}

void report_parts(Machine& machine, const headrace::StreamReport& stream) {
    machine.report("fill_seconds", stream.fill_seconds);
    machine.report("drain_seconds", stream.drain_seconds);
    machine.report("remapped", std::int64_t{stream.remapped});
    std::string parts, times;
    std::vector<double> predicted, measured, transfers;
    for (const headrace::StreamPartReport& part : stream.parts) {
        const char* const separator = parts.empty() ? "" : "; ";
        parts += separator + part.device + ": " + part.first_piece;
        if (part.last_piece != part.first_piece) parts += " to " + part.last_piece;
        times += separator + part.device + ": " + times_text(part.seconds, part.predicted_seconds);
        predicted.push_back(part.predicted_seconds.value.value_or(unknown));
        measured.push_back(part.seconds.value.value_or(unknown));
        transfers.push_back(part.transfer_seconds);
    }
    machine.report("parts", parts);
    machine.report("part_times", times);
    machine.report("part_seconds_predicted", predicted);
    machine.report("part_seconds", measured);
    machine.report("part_transfer_seconds_predicted", transfers);
}

} // namespace

void report_stream(Machine& machine, const headrace::StreamReport& stream) {
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
    machine.caption(to_string(stream));
    machine.report("mapping", std::string(stream.parts.empty() ? "whole" : "parts"));
    if (stream.parts.empty())
        report_shares(machine, stream.shares);
    else
        report_parts(machine, stream);
}

} // namespace controller_program
