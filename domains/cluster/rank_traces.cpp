// domains/cluster/rank_traces.cpp - see rank_traces.hpp.
#include <headrace/core/log.hpp>
#include <headrace/domains/cluster/rank_traces.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace headrace::cluster {
namespace {

using std::chrono::nanoseconds;

/// Rank 0 answers while it computes. Later, the trace does without the reading.
constexpr std::chrono::seconds patience{2};

void put(Writer& message, const std::optional<ClockReading>& reading) {
    message.put<std::uint8_t>(reading ? 1 : 0).put(reading.value_or(ClockReading{}));
}
std::optional<ClockReading> get_reading(Reader& message) {
    const bool is_known = message.get<std::uint8_t>() != 0;
    const auto reading = message.get<ClockReading>();
    return is_known ? std::optional(reading) : std::nullopt;
}

void add(Trace& trace, Trace::Process process, const Message& bytes) {
    Reader message(bytes);
    std::optional<ClockReading> begin = get_reading(message), end = get_reading(message);
    if (!begin) begin = end;
    if (!end) end = begin;
    if (!begin) {
        log_warning(process.name + ": its clock could not be compared with that of rank 0, so the trace "
                                   "shows its requests at wrong times if it is on another host");
        return trace.add_process(std::move(process), message.bytes(), [](nanoseconds time) { return time; });
    }
    const ClockOffset offset(*begin, *end);
    process.clock_offset = offset.at(end->at);
    process.clock_error = offset.error();
    trace.add_process(std::move(process), message.bytes(),
                      [&](nanoseconds time) { return time + offset.at(time); });
}

} // namespace

void compare_clocks() {
    if (const auto node = current_node()) node->wire().ping_first();
}

void merge_traces(Trace& trace) {
    const auto node = current_node();
    if (!node) return;
    Wire& wire = node->wire();
    Writer mine;
    if (node->rank() != 0) {
        put(mine, wire.clock_reading(nanoseconds(0))); // of the begin: it has come long ago
        wire.ping_first();
        put(mine, wire.clock_reading(patience));
        mine.put(std::span<const std::byte>(trace.bytes()));
    }
    const std::vector<Message> all = wire.gather(mine.take());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        Trace::Process process;
        process.number = rank;
        process.name = fmt::format("rank {} on {}", rank, node->hosts()[rank]);
        if (rank == 0)
            trace.show_as(std::move(process));
        else if (!all[rank].empty())
            add(trace, std::move(process), all[rank]);
    }
}

} // namespace headrace::cluster
