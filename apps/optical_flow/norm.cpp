// apps/optical_flow/norm.cpp - see norm.hpp.
#include "norm.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <cmath>
#include <cstddef>
#include <functional>

namespace optical_flow {

double norm(std::span<const float> u, std::span<const float> v) {
    constexpr std::size_t grain = 65536; // fixed: it decides in which order is added
    const tbb::blocked_range<std::size_t> all(0, u.size(), grain);
    const double squares = tbb::parallel_deterministic_reduce(
        all, 0.0,
        [&](const tbb::blocked_range<std::size_t>& part, double sum) {
            for (std::size_t i = part.begin(); i < part.end(); ++i)
                sum += static_cast<double>(u[i]) * u[i] + static_cast<double>(v[i]) * v[i];
            return sum;
        },
        std::plus<>{});
    return std::sqrt(squares);
}

} // namespace optical_flow
