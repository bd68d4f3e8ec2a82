// domains/grids/index.cpp - see index.hpp.
#include <headrace/core/error.hpp>
#include <headrace/domains/grids/index.hpp>

#include <limits>
#include <string>

namespace headrace {

void AnyGrid::check() const {
    constexpr std::int64_t limit = std::numeric_limits<int>::max();
    for (int d = 0; d < rank; ++d)
        if (end[d] < 0 || (rank > 1 && end[d] > limit))
            throw Error{ErrorKind::invalid_argument, "a grid with a size of " + std::to_string(end[d])};
    if (first < 0 || first > end[0])
        throw Error{ErrorKind::invalid_argument,
                    "a grid from " + std::to_string(first) + " to " + std::to_string(end[0])};
}

void AnyGrid::check_rank(int wanted) const {
    if (rank != wanted)
        throw Error{ErrorKind::invalid_argument, "a grid of " + std::to_string(rank) +
                                                     " dimensions for a kernel of " + std::to_string(wanted)};
}

} // namespace headrace
