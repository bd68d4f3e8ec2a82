// devices/simt/simt.hpp - finds CUDA and HIP devices; plain C++, for discovery.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/candidate.hpp>

namespace headrace {

/// Finds NVIDIA's GPUs, named cuda:0, cuda:1, ... in the driver's order. Without a driver, `left_out` says
/// so.
///
/// The driver reads two variables once, at its start. This sets them, unless the user has set them.
/// CUDA_MODULE_LOADING=EAGER: a kernel that is loaded late waits for running kernels.
/// CUDA_DEVICE_MAX_CONNECTIONS=`streams`, 32 at most: streams that share a connection wait for each other.
/// Threads: not while others use the environment. Errors: throws device if there is a driver and it fails.
[[nodiscard]] HEADRACE_EXPORT DeviceCandidates find_cuda_devices(unsigned streams);

/// Finds AMD's GPUs, named hip:0, hip:1, ...; otherwise the same, without the variables.
[[nodiscard]] HEADRACE_EXPORT DeviceCandidates find_hip_devices();

} // namespace headrace
