// internal/devices/cpu/placement.hpp - which hardware threads a processor's device uses. It is pure, so tests
// can invent machines.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/cpu/topology.hpp>
#include <headrace/internal/devices/settings.hpp>

#include <span>
#include <vector>

namespace headrace {

/// The cores of `topology` that the settings select, without those in `taken`. Each core lists only the
/// hardware threads that the device uses.
///
/// If there are at most as many threads as cores, each thread has its own core. Further threads use the
/// cores' other hardware threads. Without a number, it takes all hardware threads of the NUMA range. Errors:
/// throws invalid_argument if there is no such range, or if too few hardware threads are left in it.
[[nodiscard]] HEADRACE_EXPORT std::vector<Core>
place(const CpuTopology& topology, const DeviceSettings& settings, std::span<const Core> taken);

} // namespace headrace
