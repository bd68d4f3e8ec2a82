// core/performance_model.hpp - how fast a device is, in numbers that compare with those of other devices.
#pragma once
#include <headrace/core/device.hpp>

#include <algorithm>
#include <string_view>

namespace headrace {

/// Gives the capabilities that policies work with. Threads: any.
class PerformanceModel {
public:
    virtual ~PerformanceModel() = default;
    PerformanceModel(const PerformanceModel&) = delete;
    PerformanceModel& operator=(const PerformanceModel&) = delete;

    /// Work per unit of time of `device` running `kernel`, greater than zero; only ratios between devices
    /// mean anything.
    [[nodiscard]] virtual double capability(const DeviceInfo& device, std::string_view kernel) const = 0;

protected:
    PerformanceModel() = default;
};

/// Theoretical peak: the same for every kernel.
class PeakModel final : public PerformanceModel {
public:
    [[nodiscard]] double capability(const DeviceInfo& device, std::string_view /*kernel*/) const override {
        // A driver that does not tell its clock leaves 0. One GFLOP/s per lane is below any hardware there
        // is, and gives the device some work from which the others can be told apart.
        const double lanes =
            static_cast<double>(std::max(1U, device.compute_units)) * std::max(1U, device.lane_group);
        return device.peak_gflops > 0 ? device.peak_gflops : lanes;
    }
};

} // namespace headrace
