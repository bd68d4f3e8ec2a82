// domains/data/written_parts.cpp - see written_parts.hpp.
#include <headrace/internal/domains/written_parts.hpp>

#include <iterator>

namespace headrace {

std::optional<IndexRange> WrittenParts::enter(IndexRange units, IndexRange elements) {
    if (elements.empty()) return std::nullopt;
    const auto next = parts_.lower_bound(elements.begin);
    if (next != parts_.end() && next->first < elements.end) return next->second.units;
    if (next != parts_.begin())
        if (const Part& before = std::prev(next)->second; before.elements.end > elements.begin)
            return before.units;
    parts_.emplace_hint(next, elements.begin, Part{elements, units});
    by_units_.insert_or_assign(units.begin, elements.begin);
    return std::nullopt;
}

void WrittenParts::remove(IndexRange units) {
    const auto first = by_units_.lower_bound(units.begin), last = by_units_.lower_bound(units.end);
    for (auto one = first; one != last; ++one) parts_.erase(one->second);
    by_units_.erase(first, last);
}

} // namespace headrace
