// bench/starpu/mandelbrot.hpp - headrace-coexec's picture, as tasks of StarPU.
#pragma once
#include "workload.hpp"

#include <span>

namespace bench {

/// size x size pixels with at most so many steps into `steps`, a row a band.
[[nodiscard]] std::unique_ptr<StarPuWorkload> starpu_mandelbrot(std::uint32_t size, std::uint32_t iterations,
                                                                std::span<std::uint32_t> steps,
                                                                std::uint32_t tasks);

} // namespace bench
