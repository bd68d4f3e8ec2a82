// core/energy_meter.hpp - how much energy a device uses, where something counts it.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/figure.hpp>

#include <chrono>
#include <string_view>

namespace headrace {

/// Counts the energy that one piece of hardware uses: all of it, whoever's programs run there.
///
/// Threads   one at a time
/// Cost      a reading takes microseconds to milliseconds: see the implementations
class HEADRACE_EXPORT EnergyMeter {
public:
    virtual ~EnergyMeter() = default;
    EnergyMeter(const EnergyMeter&) = delete;
    EnergyMeter& operator=(const EnergyMeter&) = delete;

    /// What counts: "RAPL", "NVML"; "none".
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// Used since some moment, the same one for every reading; or why nobody knows. Counters wrap: whoever
    /// wants differences reads at least once a minute.
    [[nodiscard]] virtual Figure joules() = 0;
    /// The least time over which a difference says something: counters are renewed now and then.
    [[nodiscard]] virtual std::chrono::nanoseconds shortest() const noexcept = 0;

protected:
    EnergyMeter() = default;
};

} // namespace headrace
