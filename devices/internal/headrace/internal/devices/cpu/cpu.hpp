// internal/devices/cpu/cpu.hpp - the host's processors as a device: oneTBB on chosen cores; each stream is a
// thread.
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

/// Finds the host's processors: one device, named "cpu".
[[nodiscard]] HEADRACE_EXPORT DeviceCandidates find_cpu_devices();

/// Makes a device of the first `cores` cores; 0: of all cores that this process may use. Its threads are
/// pinned to the cores, unless these are all.
///
/// Its kernels work in place on host memory. `peak_gflops` is cores x clock x vector lanes x 2 for each unit
/// that multiplies and adds: an upper bound. Code compiled for every x86-64 machine stays far below it.
/// Errors: throws invalid_argument if there are fewer cores.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<Device> make_cpu_device(unsigned cores = 0);

/// Makes a device of these cores and pins its threads to them. `id` is its name, such as "cpu:1". `numa`: its
/// allocations come from there, except the data that kernels use in place.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<Device>
make_cpu_device(std::string id, std::span<const Core> cores, std::optional<NumaRange> numa);

} // namespace headrace
