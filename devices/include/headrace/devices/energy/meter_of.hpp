// devices/energy/meter_of.hpp - the energy meter of a device.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/energy_meter.hpp>
#include <headrace/core/export.hpp>

#include <memory>

namespace headrace {

/// RAPL for a device that computes on the host's processors. NVML for NVIDIA's GPUs, in every technology. For
/// other devices, a meter that says why it has no value. Never null. Two views of one piece of hardware
/// (equal `physical_id`) have meters that count the same energy.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<EnergyMeter> energy_meter_of(const DeviceInfo& device);

} // namespace headrace
