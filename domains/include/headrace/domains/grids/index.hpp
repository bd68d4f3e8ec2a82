// domains/grids/index.hpp - index spaces of 1 to 3 dimensions, slowest dimension first, as in the layout of
// arrays. Compiled for every technology.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/kernels/macros.hpp>

#include <cstdint>
#include <type_traits>

namespace headrace {

/// One point of a grid: the argument of a kernel's call.
///
/// Signed, because stencils step back from it. 32 bits with two or more dimensions, because GPUs multiply
/// 32-bit numbers in one instruction.
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

/// A point with `Kernel::margin` neighbours on every side, so that the kernel need not check for the edge.
template <int Rank>
struct InnerIndex : Index<Rank> {};

/// The parameter of a kernel with a margin: `void operator()(IndexOf<2> auto at) const`.
template <class T, int Rank>
concept IndexOf = std::is_same_v<T, Index<Rank>> || std::is_same_v<T, InnerIndex<Rank>>;

/// `static constexpr int margin = 1;` in a kernel: it also takes an InnerIndex, for points at least so far
/// from the grid's ends. The grid's ends must lie within its arrays. CPUs need it to vectorise stencils.
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

    /// Size of dimension `d`.
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

/// The part [first, last) of `whole` in its slowest dimension; indices are those of the whole.
template <int Rank>
[[nodiscard]] constexpr Grid<Rank> rows(Grid<Rank> whole, std::int64_t first, std::int64_t last) {
    whole.first = first;
    whole.end[0] = last;
    return whole;
}

/// Default number of points in a GPU's block. Rows of 64, so that neighbouring lanes of a warp or wavefront
/// read neighbouring elements. 256 in all, which divides the number of resident threads of every GPU.
template <int Rank>
[[nodiscard]] HEADRACE_HOST_DEVICE constexpr Grid<Rank> default_block() {
    if constexpr (Rank == 1)
        return grid(256);
    else if constexpr (Rank == 2)
        return grid(4, 64);
    else
        return grid(2, 2, 64);
}

/// A Grid with a number of dimensions that is known only at run time.
struct HEADRACE_EXPORT AnyGrid {
    int rank = 0;
    std::int64_t end[3] = {};
    std::int64_t first = 0;

    AnyGrid() = default;
    template <int Rank>
    AnyGrid(const Grid<Rank>& grid) : rank(Rank), first(grid.first) { // NOLINT: any grid converts
        for (int d = 0; d < Rank; ++d) end[d] = grid.end[d];
    }
    /// Throws invalid_argument if a kernel's indices cannot count its points.
    void check() const;
    /// Throws invalid_argument if it has a different number of dimensions.
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

/// Number of dimensions of the kernel's index. 0: the kernel has no call operator; every implementation is
/// added separately.
template <class Kernel>
inline constexpr int index_rank = std::is_invocable_v<const Kernel&, Index<1>>   ? 1
                                  : std::is_invocable_v<const Kernel&, Index<2>> ? 2
                                  : std::is_invocable_v<const Kernel&, Index<3>> ? 3
                                                                                 : 0;

} // namespace headrace
