// internal/devices/cpu/placement.hpp - which hardware threads a device of the processor computes on: pure, so
// that made-up machines test it.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/cpu/topology.hpp>
#include <headrace/internal/devices/settings.hpp>

#include <span>
#include <vector>

namespace headrace {

/// The cores of `topology` that these settings mean, without those in `taken`: each as many of its hardware
/// threads as are to be used.
///
/// No more threads than cores: each has a core to itself; more: the cores' other hardware threads too. No
/// number: everything there is in the NUMA range. Errors: throws invalid_argument if there is no such range,
/// or not as much of it left.
[[nodiscard]] HEADRACE_EXPORT std::vector<Core>
place(const CpuTopology& topology, const DeviceSettings& settings, std::span<const Core> taken);

} // namespace headrace
