// core/busy_time.hpp - how long something was at work, when its pieces of work overlap.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>

#include <chrono>
#include <vector>

namespace headrace {

/// The time covered by any of the intervals added so far. Does not grow without end: what comes a thousand
/// gaps late fills no gap any more.
///
/// Threads: one at a time.
class HEADRACE_EXPORT BusyTime {
public:
    using Duration = std::chrono::steady_clock::duration;

    void add(EventTimes times);
    [[nodiscard]] Duration total() const;

private:
    void close_half();

    std::vector<EventTimes> covered_; // in order, apart from each other, all after closed_
    std::chrono::steady_clock::time_point closed_ = std::chrono::steady_clock::time_point::min();
    Duration closed_sum_{0}; // of what was covered before
};

} // namespace headrace
