// domains/streams/part_times.cpp - see part_times.hpp.
#include "streams/part_times.hpp"

#include <algorithm>

namespace headrace {
namespace {

double as_seconds(PartTimes::Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

} // namespace

PartTimes::PartTimes(std::size_t parts) : begin_(Clock::now()), rows_(parts + 1) {}

PartTimes::PartTimes(std::size_t parts, const PartTimes& before) : begin_(before.begin_), rows_(parts + 1) {
    const std::scoped_lock lock(before.mutex_);
    first_out_ = before.first_out_;
}

void PartTimes::note(std::size_t row, std::int64_t item) {
    const std::scoped_lock lock(mutex_);
    const Clock::time_point now = Clock::now();
    rows_[row][static_cast<std::size_t>(item % kept)] = {item, now};
    if (row == 1) last_in_ = now;
    if (row + 1 == rows_.size() && !first_out_) first_out_ = now;
}

const PartTimes::End* PartTimes::end(std::size_t row, std::int64_t item) const {
    if (item < 0) return nullptr;
    const End& end = rows_[row][static_cast<std::size_t>(item % kept)];
    return end.item == item ? &end : nullptr;
}

std::optional<double> PartTimes::seconds(std::size_t part, std::int64_t since, std::size_t least) const {
    const std::scoped_lock lock(mutex_);
    std::vector<double> all;
    for (const End& mine : rows_[part + 1]) {
        if (mine.item < since) continue;
        const End* const there = end(part, mine.item);
        const End* const before = end(part + 1, mine.item - 1); // the device's end of the previous item
        if (!there || !before) continue;
        all.push_back(std::max(0.0, as_seconds(mine.when - std::max(there->when, before->when))));
    }
    if (all.size() < std::max<std::size_t>(least, 1)) return std::nullopt;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle);
    return *middle;
}

double PartTimes::fill_seconds() const {
    const std::scoped_lock lock(mutex_);
    return first_out_ ? as_seconds(*first_out_ - begin_) : 0;
}

double PartTimes::drain_seconds() const {
    const std::scoped_lock lock(mutex_);
    return last_in_ && finished_ ? as_seconds(*finished_ - *last_in_) : 0;
}

double PartTimes::seconds() const {
    const std::scoped_lock lock(mutex_);
    return as_seconds(finished_.value_or(Clock::now()) - begin_);
}

void PartTimes::finish() {
    const std::scoped_lock lock(mutex_);
    finished_ = Clock::now();
}

} // namespace headrace
