// domains/streams/earliest_end.cpp - see earliest_end.hpp.
#include <headrace/domains/streams/earliest_end.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace headrace {
namespace {

constexpr std::size_t kept = 5;   // the median does not follow one that was disturbed
constexpr std::size_t enough = 2; // measurements: one may have been disturbed
constexpr double seldom = 50;     // times that the stream could be kept waiting

double seconds_between(EarliestEnd::Clock::time_point begin, EarliestEnd::Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

} // namespace

bool EarliestEnd::One::is_known() const { return seconds.size() >= enough; }

/// Of two the shorter one.
double EarliestEnd::One::median() const {
    std::deque<double> sorted = seconds;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
    std::ranges::nth_element(sorted, middle);
    return *middle;
}

void EarliestEnd::expect(std::size_t controller, double seconds) {
    const std::scoped_lock lock(mutex_);
    all_[controller].seconds.assign(enough, seconds);
}

void EarliestEnd::begin() {
    const std::scoped_lock lock(mutex_);
    for (One& one : all_) one.items = 0;
}

std::size_t EarliestEnd::give(Clock::time_point now) {
    const std::scoped_lock lock(mutex_);
    One& one = next(now);
    for (One& other : all_) ++other.passed_over;
    one.passed_over = 0;
    if (one.items++ == 0) one.since = now;
    return static_cast<std::size_t>(&one - all_.data());
}

EarliestEnd::One& EarliestEnd::next(Clock::time_point now) {
    double fastest = std::numeric_limits<double>::infinity();
    for (const One& one : all_)
        if (one.is_known()) fastest = std::min(fastest, one.median());
    if (fastest == std::numeric_limits<double>::infinity()) fastest = 1; // only numbers of items count
    const auto each = [&](const One& one) { return one.is_known() ? one.median() : fastest; };
    const auto is_due = [&](const One& one) {
        return one.items == 0 && static_cast<double>(one.passed_over) * fastest > seldom * each(one);
    };
    if (const auto due = std::ranges::find_if(all_, is_due); due != all_.end()) return *due;
    return *std::ranges::min_element(all_, {}, [&](const One& one) {
        if (one.items == 0) return each(one);
        const double done = std::min(seconds_between(one.since, now), each(one));
        return static_cast<double>(one.items + 1) * each(one) - done;
    });
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
