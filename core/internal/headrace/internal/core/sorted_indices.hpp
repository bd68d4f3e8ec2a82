// internal/core/sorted_indices.hpp - the order of elements that stay in their places.
#pragma once
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace headrace {

/// The indices [0, count), sorted by `key(index)`. Indices with equal keys stay in ascending order.
template <class Key>
[[nodiscard]] std::vector<std::size_t> sorted_indices(std::size_t count, Key key) {
    std::vector<std::size_t> indices(count);
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    std::ranges::stable_sort(indices, {}, key);
    return indices;
}

} // namespace headrace
