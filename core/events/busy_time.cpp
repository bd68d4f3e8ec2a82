// core/events/busy_time.cpp - see busy_time.hpp.
#include <headrace/core/busy_time.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace headrace {
namespace {

constexpr std::ptrdiff_t gaps = 1024; // number of gaps that stay open, at least

} // namespace

void BusyTime::add(EventTimes times) {
    times.begin = std::max(times.begin, closed_);
    if (times.end <= times.begin) return;
    // Merge it with the intervals that touch it.
    const auto first = std::ranges::lower_bound(covered_, times.begin, std::ranges::less{}, &EventTimes::end);
    auto last = first;
    for (; last != covered_.end() && last->begin <= times.end; ++last) {
        times.begin = std::min(times.begin, last->begin);
        times.end = std::max(times.end, last->end);
    }
    covered_.insert(covered_.erase(first, last), times);
    if (std::ssize(covered_) > 2 * gaps) close_half();
}

BusyTime::Duration BusyTime::total() const {
    Duration sum = closed_sum_;
    for (const EventTimes& times : covered_) sum += times.end - times.begin;
    return sum;
}

void BusyTime::close_half() {
    const auto open = covered_.begin() + gaps;
    for (auto old = covered_.begin(); old != open; ++old) closed_sum_ += old->end - old->begin;
    closed_ = std::prev(open)->end;
    covered_.erase(covered_.begin(), open);
}

} // namespace headrace
