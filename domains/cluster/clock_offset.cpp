// domains/cluster/clock_offset.cpp - see clock_offset.hpp.
#include <headrace/internal/domains/cluster/clock_offset.hpp>

#include <algorithm>
#include <cstdint>

namespace headrace::cluster {

using std::chrono::nanoseconds;

std::optional<ClockReading> reading_of(std::span<const Ping> pings) {
    const auto best =
        std::ranges::min_element(pings, {}, [](const Ping& ping) { return ping.returned - ping.sent; });
    if (best == pings.end()) return std::nullopt;
    // The answer was written at any time between. The middle is wrong by half of the round trip at most.
    const nanoseconds error = (best->returned - best->sent + nanoseconds(1)) / 2;
    const nanoseconds middle = best->sent + (best->returned - best->sent) / 2;
    return ClockReading{.at = middle, .offset = best->answered - middle, .error = error};
}

ClockOffset::ClockOffset(const ClockReading& begin, const ClockReading& end) : begin_(begin), end_(end) {
    const bool has_drift =
        end.at > begin.at && std::chrono::abs(end.offset - begin.offset) > begin.error + end.error;
    if (!has_drift) begin_ = end_ = begin.error <= end.error ? begin : end;
}

nanoseconds ClockOffset::at(nanoseconds time) const {
    if (time <= begin_.at) return begin_.offset;
    if (time >= end_.at) return end_.offset;
    const double part =
        static_cast<double>((time - begin_.at).count()) / static_cast<double>((end_.at - begin_.at).count());
    const auto drift = static_cast<double>((end_.offset - begin_.offset).count());
    return begin_.offset + nanoseconds(static_cast<std::int64_t>(part * drift));
}

nanoseconds ClockOffset::error() const { return std::max(begin_.error, end_.error); }

} // namespace headrace::cluster
