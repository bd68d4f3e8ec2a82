// core/scheduling/work.cpp - see work.hpp.
#include <headrace/internal/core/work.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace headrace {

OpenWork::OpenWork(IndexRange units) {
    if (!units.empty()) left_.push_back(units);
}

std::uint64_t OpenWork::units() const {
    std::uint64_t units = 0;
    for (const IndexRange range : left_) units += range.size();
    return units;
}

void OpenWork::cut(std::uint64_t end) {
    left_.back().begin = end;
    if (left_.back().empty()) left_.pop_back();
}

Work OpenWork::take_transferred() {
    const Work work = transferred_.back();
    transferred_.pop_back();
    return work;
}

void OpenWork::put_back(const Work& work) {
    if (work.is_transferred)
        transferred_.push_back(work);
    else
        left_.push_back(work.range);
}

void OpenWork::tell(StateText& out) const {
    out << "left:";
    for (const IndexRange range : left_) out << " " << range.begin << "-" << range.end;
    out << "; loose:";
    for (const Work& work : transferred_) out << work;
}

void CompletedWork::add(const Work& work) {
    if (work.is_transferred) return transferred_.push_back(work);
    const IndexRange range = work.range;
    auto next = std::ranges::lower_bound(ranges_, range.begin, {}, &IndexRange::begin);
    if (next != ranges_.begin() && std::prev(next)->end == range.begin) {
        --next;
        next->end = range.end;
    } else {
        next = ranges_.insert(next, range);
    }
    if (const auto after = std::next(next); after != ranges_.end() && after->begin == next->end) {
        next->end = after->end;
        ranges_.erase(after);
    }
}

std::vector<Work> CompletedWork::take() {
    std::vector<Work> all = std::exchange(transferred_, {});
    for (const IndexRange range : std::exchange(ranges_, {})) all.push_back({.range = range});
    return all;
}

void CompletedWork::forget() noexcept {
    ranges_.clear();
    transferred_.clear();
}

void CompletedWork::tell(StateText& out) const {
    for (const IndexRange range : ranges_) out << Work{.range = range};
    for (const Work& work : transferred_) out << work;
}

} // namespace headrace
