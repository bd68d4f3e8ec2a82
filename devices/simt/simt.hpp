// devices/simt/simt.hpp - what discovery needs of CUDA and HIP, in plain C++.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/candidate.hpp>

namespace headrace {

/// NVIDIA's GPUs, named cuda:0, cuda:1, ... in the driver's order; left out in words where there is no
/// driver.
///
/// Sets, where the user has not, what the driver reads once at its start: CUDA_MODULE_LOADING=EAGER, because
/// loading a kernel late waits for those that are running, and CUDA_DEVICE_MAX_CONNECTIONS=32, because
/// streams that share a connection wait for each other. Threads: not while others use the environment.
/// Errors: throws device if there is a driver and it fails.
[[nodiscard]] HEADRACE_EXPORT DeviceCandidates find_cuda_devices();

/// AMD's GPUs, named hip:0, hip:1, ...; the same promises.
[[nodiscard]] HEADRACE_EXPORT DeviceCandidates find_hip_devices();

} // namespace headrace
