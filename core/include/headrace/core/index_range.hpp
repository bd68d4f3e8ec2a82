// core/index_range.hpp - consecutive indices.
#pragma once
#include <cstdint>

namespace headrace {

/// A range of consecutive work units or elements: [begin, end).
struct IndexRange {
    std::uint64_t begin = 0, end = 0;
    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return end - begin; }
    [[nodiscard]] constexpr bool empty() const noexcept { return end <= begin; }
    friend constexpr bool operator==(IndexRange, IndexRange) = default;
};

} // namespace headrace
