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
    const auto found = by_units_.find(units.begin);
    if (found == by_units_.end()) return; // its part was empty
    parts_.erase(found->second);
    by_units_.erase(found);
}

} // namespace headrace
