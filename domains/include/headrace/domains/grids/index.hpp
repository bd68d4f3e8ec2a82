// domains/grids/index.hpp - index spaces of one to three dimensions, slowest dimension first, as arrays are
// laid out. Compiled for every technology.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/persistent/kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace headrace {

/// One point of a grid: what a kernel is called with.
///
/// Signed, because stencils step back from it; of 32 bits beyond one dimension, because GPUs multiply those
/// in one instruction.
template <int Rank>
struct Index;
template <>
struct Index<1> {
    std::int64_t x;
};
template <>
struct Index<2> {
    int y, x;
};
template <>
struct Index<3> {
    int z, y, x;
};

/// A point that has `Kernel::margin` neighbours on every side, so that nobody need look for the edge.
template <int Rank>
struct InnerIndex : Index<Rank> {};

/// What a kernel with a margin is called with: `void operator()(IndexOf<2> auto at) const`.
template <class T, int Rank>
concept IndexOf = std::is_same_v<T, Index<Rank>> || std::is_same_v<T, InnerIndex<Rank>>;

/// `static constexpr int margin = 1;` in a kernel says that it takes an InnerIndex too, for points at least
/// so far from the grid's ends, which must lie within its arrays. On CPUs it is what makes stencils vectors.
template <class Kernel>
[[nodiscard]] constexpr int margin_of() {
    if constexpr (requires { Kernel::margin; })
        return Kernel::margin;
    else
        return 0;
}

/// The points of a kernel's run: [first, end[0]) in the slowest dimension, [0, end[d]) in the others.
template <int Rank>
struct Grid {
    static_assert(Rank >= 1 && Rank <= 3, "grids have one to three dimensions");
    static constexpr int rank = Rank;

    std::int64_t end[Rank] = {};
    std::int64_t first = 0;

    /// Of dimension `d`.
    [[nodiscard]] HEADRACE_HOST_DEVICE constexpr std::int64_t size(int d) const {
        return d == 0 ? end[0] - first : end[d];
    }
    [[nodiscard]] HEADRACE_HOST_DEVICE constexpr std::int64_t size() const {
        std::int64_t points = size(0);
        for (int d = 1; d < Rank; ++d) points *= end[d];
        return points;
    }
};

/// `grid(rows, columns)`: as many dimensions as sizes, slowest first.
template <class... Sizes>
[[nodiscard]] HEADRACE_HOST_DEVICE constexpr Grid<sizeof...(Sizes)> grid(Sizes... sizes) {
    static_assert((std::is_integral_v<Sizes> && ...), "sizes are whole numbers");
    return {{static_cast<std::int64_t>(sizes)...}, 0};
}

/// The part of `whole` with [first, last) in its slowest dimension; indices stay those of the whole.
template <int Rank>
[[nodiscard]] constexpr Grid<Rank> rows(Grid<Rank> whole, std::int64_t first, std::int64_t last) {
    whole.first = first;
    whole.end[0] = last;
    return whole;
}

/// Points that a GPU takes at once where the kernel does not say: rows of 64, so that neighbours read
/// neighbours in warps and wavefronts, and 256 in all, a number that divides what every GPU keeps resident.
template <int Rank>
[[nodiscard]] HEADRACE_HOST_DEVICE constexpr Grid<Rank> default_block() {
    if constexpr (Rank == 1)
        return grid(256);
    else if constexpr (Rank == 2)
        return grid(4, 64);
    else
        return grid(2, 2, 64);
}

/// A Grid whose number of dimensions is known at run time.
struct HEADRACE_EXPORT AnyGrid {
    int rank = 0;
    std::int64_t end[3] = {};
    std::int64_t first = 0;

    AnyGrid() = default;
    template <int Rank>
    AnyGrid(const Grid<Rank>& grid) : rank(Rank), first(grid.first) { // NOLINT: every grid is one
        for (int d = 0; d < Rank; ++d) end[d] = grid.end[d];
    }
    /// Throws invalid_argument if a kernel's indices could not count its points.
    void check() const;
    /// Throws invalid_argument if it has another number of dimensions.
    template <int Rank>
    [[nodiscard]] Grid<Rank> as() const {
        check_rank(Rank);
        Grid<Rank> grid;
        for (int d = 0; d < Rank; ++d) grid.end[d] = end[d];
        grid.first = first;
        return grid;
    }

private:
    void check_rank(int wanted) const;
};

/// How many dimensions the kernel's index has; 0: it has no call operator, so every implementation is given
/// apart.
template <class Kernel>
inline constexpr int index_rank = std::is_invocable_v<const Kernel&, Index<1>>   ? 1
                                  : std::is_invocable_v<const Kernel&, Index<2>> ? 2
                                  : std::is_invocable_v<const Kernel&, Index<3>> ? 3
                                                                                 : 0;

} // namespace headrace
