// core/busy_time.hpp - the total time of pieces of work that may overlap.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>

#include <chrono>
#include <vector>

namespace headrace {

/// The time that the added intervals cover. Memory is bounded: about a thousand gaps between intervals stay
/// open, and time that is added in an older gap does not count.
///
/// Threads: one at a time.
class HEADRACE_EXPORT BusyTime {
public:
    using Duration = std::chrono::steady_clock::duration;

    void add(EventTimes times);
    [[nodiscard]] Duration total() const;

private:
    void close_half();

    std::vector<EventTimes> covered_; // sorted, disjoint, all after closed_
    std::chrono::steady_clock::time_point closed_ = std::chrono::steady_clock::time_point::min();
    Duration closed_sum_{0}; // time covered before closed_
};

} // namespace headrace
