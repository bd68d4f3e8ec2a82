// tests/apps/optical_flow_reference.hpp - hierarchical Horn-Schunck optical flow, serial and in double
// precision, as its definition says it.
#pragma once
#include "optical_flow/size.hpp"

#include <span>
#include <vector>

namespace optical_flow::test {

/// Shapes    u and v [height x width], row-major
/// Units     pixels
struct Field {
    std::vector<double> u, v;
};

/// By what `first` has moved where `second` was taken. Levels have (n + 1) / 2 rows and columns of the finer
/// one. On each, the flow of the coarser one, or none, is improved `warps` times: the second frame is seen
/// from where the flow leads, and the rest found by `iterations` steps of Jacobi's.
///
/// Shapes    first and second [height x width], row-major, 0 to 1
[[nodiscard]] Field flow_of(std::span<const double> first, std::span<const double> second, Size size,
                            int levels, int warps, int iterations, double alpha);

} // namespace optical_flow::test
