// domains/streams/earliest_end.cpp - see earliest_end.hpp.
#include <headrace/internal/domains/streams/earliest_end.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace headrace {
namespace {

constexpr std::size_t kept = 5; // the median ignores a single disturbed item
constexpr std::size_t said = 2; // a predicted value counts as this many measurements
constexpr double patience = 50; // times as long as the stream could be delayed

double seconds_between(EarliestEnd::Clock::time_point begin, EarliestEnd::Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

/// Of two values, the smaller one.
double median_of(std::deque<double> sorted) {
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
    std::ranges::nth_element(sorted, middle);
    return *middle;
}

} // namespace

double EarliestEnd::One::median() const { return median_of(seconds); }

void EarliestEnd::expect(std::size_t controller, double seconds) {
    const std::scoped_lock lock(mutex_);
    all_[controller].seconds.assign(said, seconds);
    all_[controller].measured = 0;
}

std::optional<double> EarliestEnd::seconds(std::size_t controller) const {
    const std::scoped_lock lock(mutex_);
    const One& one = all_[controller];
    return one.seconds.empty() ? std::nullopt : std::optional(one.median());
}

std::optional<double> EarliestEnd::measured_seconds(std::size_t controller) const {
    const std::scoped_lock lock(mutex_);
    const One& one = all_[controller];
    if (one.measured == 0) return std::nullopt;
    return median_of({one.seconds.end() - static_cast<std::ptrdiff_t>(one.measured), one.seconds.end()});
}

void EarliestEnd::begin(Clock::time_point now) {
    const std::scoped_lock lock(mutex_);
    for (One& one : all_) {
        one.items = 0;
        one.since = now;
    }
}

std::size_t EarliestEnd::next(Clock::time_point now) {
    const std::scoped_lock lock(mutex_);
    double fastest = std::numeric_limits<double>::infinity();
    for (const One& one : all_)
        if (!one.seconds.empty()) fastest = std::min(fastest, one.median());
    if (fastest == std::numeric_limits<double>::infinity()) fastest = 1; // only numbers of items count
    const auto each = [&](const One& one) { return one.seconds.empty() ? fastest : one.median(); };
    const auto number = [this](auto one) { return static_cast<std::size_t>(one - all_.begin()); };

    const auto idle = static_cast<double>(std::ranges::count(all_, std::size_t{0}, &One::items));
    const auto is_due = [&](const One& one) {
        return one.items == 0 && seconds_between(one.since, now) > patience * each(one) * idle;
    };
    if (const auto due = std::ranges::find_if(all_, is_due); due != all_.end()) return number(due);
    return number(std::ranges::min_element(all_, {}, [&](const One& one) {
        if (one.items == 0) return each(one);
        // A controller that takes longer than expected was slower than expected.
        const double elapsed = seconds_between(one.since, now);
        return static_cast<double>(one.items + 1) * std::max(elapsed, each(one)) - elapsed;
    }));
}

void EarliestEnd::given(std::size_t controller, Clock::time_point now) {
    const std::scoped_lock lock(mutex_);
    One& one = all_[controller];
    if (one.items++ == 0) one.since = now;
}

void EarliestEnd::ended(std::size_t controller, bool succeeded, Clock::time_point now) {
    const std::scoped_lock lock(mutex_);
    One& one = all_[controller];
    --one.items;
    if (succeeded && std::exchange(one.is_warm, true)) {
        one.seconds.push_back(seconds_between(one.since, now));
        if (one.seconds.size() > kept) one.seconds.pop_front();
        one.measured = std::min(one.measured + 1, kept);
    }
    one.since = now;
}

} // namespace headrace
