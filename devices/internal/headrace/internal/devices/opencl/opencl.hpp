// internal/devices/opencl/opencl.hpp - what discovery needs of OpenCL, in plain C++.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/candidate.hpp>

namespace headrace {

/// Every device of every platform that the ICD loader shows, named opencl:0, opencl:1, ... in the loader's
/// order.
///
/// Aliases name the platform: opencl:pocl, opencl:nvidia, opencl:amd, opencl:intel, opencl:rusticl.
/// A platform that is absent or has no device is left out in words. Throws Error{device} if a driver fails.
[[nodiscard]] HEADRACE_EXPORT DeviceCandidates find_opencl_devices();

} // namespace headrace
