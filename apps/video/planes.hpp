// apps/video/planes.hpp - the planes of a frame, as host and kernels see them.
#pragma once
#include <headrace/devices/kernels/macros.hpp>

#include <cstddef>
#include <cstdint>

namespace video {

/// A rectangle of samples, row after row.
struct Plane {
    std::int32_t rows = 0, columns = 0;
};

/// One row of a frame: where it begins, its number in its plane, and the plane's size.
struct Row {
    std::int64_t first;
    int y, rows, columns;

    /// There are rows above and below it.
    [[nodiscard]] HEADRACE_HOST_DEVICE bool is_inner() const { return y > 0 && y < rows - 1; }
};

/// Planes that lie one behind the other, the widest first.
struct Planes {
    static constexpr int most = 4;
    Plane plane[most]; ///< those that are not there have no rows

    [[nodiscard]] constexpr std::int64_t rows() const {
        std::int64_t sum = 0;
        for (const Plane& each : plane) sum += each.rows;
        return sum;
    }
    /// Of all planes, if a sample has one byte.
    [[nodiscard]] constexpr std::size_t bytes() const {
        std::size_t sum = 0;
        for (const Plane& each : plane)
            sum += static_cast<std::size_t>(each.rows) * static_cast<std::size_t>(each.columns);
        return sum;
    }
    /// The one with that number, counted through all planes; 0 to rows().
    [[nodiscard]] HEADRACE_HOST_DEVICE Row row(int number) const {
        Row row{0, number, plane[0].rows, plane[0].columns};
        for (int p = 1; p < most; ++p) // of fixed length: GPUs have no place for an index that varies
            if (row.y >= row.rows) {
                row.first += std::int64_t{row.rows} * row.columns;
                row.y -= row.rows;
                row.rows = plane[p].rows;
                row.columns = plane[p].columns;
            }
        row.first += std::int64_t{row.y} * row.columns;
        return row;
    }
};
static_assert(sizeof(Planes) == 32,
              "goes to kernels by value, to OpenCL C too, which has a definition of its own");

} // namespace video
