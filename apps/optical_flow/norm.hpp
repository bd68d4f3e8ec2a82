// apps/optical_flow/norm.hpp - one figure that tells flow fields apart.
#pragma once
#include <span>

namespace optical_flow {

/// The 2-norm of a field: the root of the sum of all u^2 and v^2, in double precision. The same bits whatever
/// the number of threads.
[[nodiscard]] double norm(std::span<const float> u, std::span<const float> v);

} // namespace optical_flow
