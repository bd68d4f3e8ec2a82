// internal/domains/cluster/clock_offset.hpp - the clock of one rank, compared with that of rank 0: pure
// functions. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>

#include <chrono>
#include <optional>
#include <span>

namespace headrace::cluster {

/// A message to rank 0 and the answer.
///
/// Source  D. Mills, "Internet time synchronization: the Network Time Protocol", 1991, sec. 3
struct Ping {
    std::chrono::nanoseconds sent, returned; ///< by the clock of this rank
    std::chrono::nanoseconds answered;       ///< by the clock of rank 0
};

/// How far the clock of rank 0 is ahead of that of this rank.
struct ClockReading {
    std::chrono::nanoseconds at; ///< by the clock of this rank
    std::chrono::nanoseconds offset;
    std::chrono::nanoseconds error; ///< the offset is wrong by this at most: half of the round trip
};

/// From the ping with the shortest round trip. Nothing: there is none.
[[nodiscard]] HEADRACE_EXPORT std::optional<ClockReading> reading_of(std::span<const Ping> pings);

/// What must be added to times of this rank's clock, so that they are those of rank 0's clock. Between two
/// readings it changes in proportion to the time, and outside of them it does not. A difference between the
/// readings that their errors explain is no drift: then the better reading counts for all times.
class HEADRACE_EXPORT ClockOffset {
public:
    ClockOffset(const ClockReading& begin, const ClockReading& end);
    [[nodiscard]] std::chrono::nanoseconds at(std::chrono::nanoseconds time) const;
    /// The largest error of `at` between the readings, if the clocks differ in speed by a constant.
    [[nodiscard]] std::chrono::nanoseconds error() const;

private:
    ClockReading begin_, end_;
};

} // namespace headrace::cluster
