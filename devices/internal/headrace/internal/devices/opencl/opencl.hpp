// internal/devices/opencl/opencl.hpp - finds OpenCL devices; plain C++, for discovery.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/candidate.hpp>

namespace headrace {

/// Finds every device of every platform that the ICD loader shows. The names are opencl:0, opencl:1, ... in
/// the loader's order.
///
/// Aliases name the platform: opencl:pocl, opencl:nvidia, opencl:amd, opencl:intel, opencl:rusticl.
/// If a platform is absent or has no device, `left_out` says so. Throws Error{device} if a driver fails.
[[nodiscard]] HEADRACE_EXPORT DeviceCandidates find_opencl_devices();

} // namespace headrace
