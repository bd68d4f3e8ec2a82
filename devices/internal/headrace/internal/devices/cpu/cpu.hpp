// internal/devices/cpu/cpu.hpp - the host's processors as a device: oneTBB on chosen cores, streams that are
// threads.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/candidate.hpp>
#include <headrace/devices/cpu/topology.hpp>
#include <headrace/internal/devices/settings.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace headrace {

/// The host's processors, all of them as one device named "cpu".
[[nodiscard]] HEADRACE_EXPORT DeviceCandidates find_cpu_devices();

/// `cores` 0: all that this process may use; else the first so many of them, to which the threads are pinned
/// unless these are all.
///
/// Its kernels work in place on host memory. `peak_gflops` is cores x clock x vector lanes x 2 for each unit
/// that multiplies and adds: an upper bound that code compiled for every x86-64 machine does not come near.
/// Errors: throws invalid_argument if there are fewer cores.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<Device> make_cpu_device(unsigned cores = 0);

/// On these cores, to which its threads are pinned; `id` is its name among devices, "cpu" being all of them.
/// `numa`: memory that it allocates comes from there, but for the data that kernels use in place.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<Device>
make_cpu_device(std::string id, std::span<const Core> cores, std::optional<NumaRange> numa);

} // namespace headrace
