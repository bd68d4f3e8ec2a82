// core/energy_meter.hpp - how much energy a device uses, if the hardware has a counter.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/figure.hpp>

#include <chrono>
#include <string_view>

namespace headrace {

/// Counts all energy that one piece of hardware uses, also the energy used by other programs.
///
/// Threads   one at a time
/// Cost      a reading takes microseconds to milliseconds: see the implementations
class HEADRACE_EXPORT EnergyMeter {
public:
    virtual ~EnergyMeter() = default;
    EnergyMeter(const EnergyMeter&) = delete;
    EnergyMeter& operator=(const EnergyMeter&) = delete;

    /// The counter: "RAPL", "NVML" or "none".
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// The energy used since a fixed moment, or the reason why it is not known. Counters wrap: a caller that
    /// needs differences must read at least once a minute.
    [[nodiscard]] virtual Figure joules() = 0;
    /// The shortest time over which a difference has a meaning: a counter is updated only at intervals.
    [[nodiscard]] virtual std::chrono::nanoseconds shortest() const noexcept = 0;

protected:
    EnergyMeter() = default;
};

} // namespace headrace
