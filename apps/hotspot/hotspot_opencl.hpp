// apps/hotspot/hotspot_opencl.hpp - what runs where: the implementations of Hotspot, with that of hotspot.cl
// for OpenCL's processors.
#pragma once
#include "hotspot.kernels.hpp"
#include <headrace/headrace.hpp>

namespace hotspot {

/// Cells that a work-item of HotspotOnProcessor steps, as hotspot.cl has them.
inline constexpr int block_rows = 16, block_columns = 248;

[[nodiscard]] const headrace::Implementations<Hotspot>& all_implementations();

} // namespace hotspot
