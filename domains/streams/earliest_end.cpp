// domains/streams/earliest_end.cpp - see earliest_end.hpp.
#include <headrace/domains/streams/earliest_end.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace headrace {
namespace {

constexpr std::size_t kept = 5;   // the median does not follow one that was disturbed
constexpr std::size_t weight = 2; // of what is expected, in measurements

double seconds_between(EarliestEnd::Clock::time_point begin, EarliestEnd::Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

} // namespace

double EarliestEnd::One::median() const {
    std::deque<double> sorted = seconds;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    return *middle;
}

void EarliestEnd::expect(std::size_t controller, double seconds) {
    const std::scoped_lock lock(mutex_);
    all_[controller].seconds.assign(weight, seconds);
}

void EarliestEnd::begin() {
    const std::scoped_lock lock(mutex_);
    for (One& one : all_) one.items = 0;
}

std::size_t EarliestEnd::give(Clock::time_point now) {
    const std::scoped_lock lock(mutex_);
    double fastest = std::numeric_limits<double>::infinity();
    for (const One& one : all_)
        if (!one.seconds.empty()) fastest = std::min(fastest, one.median());
    if (fastest == std::numeric_limits<double>::infinity()) fastest = 1; // only numbers of items count
    const auto end = [&](const One& one) {
        const double each = one.seconds.empty() ? fastest : one.median();
        if (one.items == 0) return each;
        const double done = std::min(seconds_between(one.since, now), each);
        return static_cast<double>(one.items + 1) * each - done;
    };
    const auto first = std::ranges::min_element(all_, {}, end);
    if (first->items++ == 0) first->since = now;
    return static_cast<std::size_t>(first - all_.begin());
}

void EarliestEnd::ended(std::size_t controller, Clock::time_point now) {
    const std::scoped_lock lock(mutex_);
    One& one = all_[controller];
    if (one.items == 0) return; // of a stream that was left
    --one.items;
    if (std::exchange(one.is_warm, true)) {
        one.seconds.push_back(seconds_between(one.since, now));
        if (one.seconds.size() > kept) one.seconds.pop_front();
    }
    one.since = now;
}

} // namespace headrace
