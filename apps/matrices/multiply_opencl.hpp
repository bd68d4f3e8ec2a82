// apps/matrices/multiply_opencl.hpp - the kernels of multiply.cl as implementations of Multiply.
#pragma once
#include "matrices/multiply.kernels.hpp"
#include <headrace/headrace.hpp>

namespace matrices {

struct OpenClMultiply {
    const char* name;
    int group_rows, group_columns; ///< work-items of a work-group
    int item_rows, item_columns;   ///< numbers that a work-item computes
};
inline constexpr OpenClMultiply opencl_for_gpus{"multiply", 16, 16, 8, 8};
inline constexpr OpenClMultiply opencl_for_processors{"multiply_on_processor", 16, 1, 4, 32};

/// Both run on every device.
[[nodiscard]] headrace::Implementations<Multiply>::Run on_opencl(const OpenClMultiply& which);

} // namespace matrices
