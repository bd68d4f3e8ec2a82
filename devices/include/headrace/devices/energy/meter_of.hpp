// devices/energy/meter_of.hpp - which meter counts for a device.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/energy_meter.hpp>
#include <headrace/core/export.hpp>

#include <memory>

namespace headrace {

/// RAPL for whatever computes on the host's processors, NVML for NVIDIA's GPUs whichever technology shows
/// them; for others one that says why there is nothing. Never null. Two views of one piece of hardware (equal
/// `physical_id`) have meters that count the same.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<EnergyMeter> energy_meter_of(const DeviceInfo& device);

} // namespace headrace
