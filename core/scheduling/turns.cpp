// core/scheduling/turns.cpp - see turns.hpp.
#include <headrace/internal/core/sorted_indices.hpp>
#include <headrace/internal/core/turns.hpp>

#include <utility>

namespace headrace {

std::vector<std::size_t> order_of_turns(std::span<const Turn> turns) {
    return sorted_indices(turns.size(),
                          [&](std::size_t i) { return std::pair(-turns[i].priority, turns[i].charged); });
}

} // namespace headrace
