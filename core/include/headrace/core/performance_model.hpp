// core/performance_model.hpp - how fast a device runs a kernel, estimated before the job measures it.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace headrace {

/// What a model knows about one device that runs one kernel.
struct Estimate {
    double peak = 1;                        ///< greater than 0; on the same scale for all devices
    std::optional<double> units_per_second; ///< measured in earlier jobs
    bool certain = false;                   ///< several measurements agree, and the last one is recent
};

/// How long whole jobs took on a given set of devices.
struct WholeJobs {
    double seconds = 0;   ///< median
    std::size_t jobs = 0; ///< number of measured jobs; 0: the last one is too old
    double last = std::numeric_limits<double>::infinity(); ///< seconds of the last job
    double seconds_ago = 0;                                ///< how long ago the last job was
};

/// Identifies measurements that can be compared: the same kernel on problems of similar size.
struct HEADRACE_EXPORT KernelKey {
    std::string kernel; ///< the job's name, or the name set by Job::kernel_name
    std::uint64_t work_units = 0;
    Bytes bytes = 0; ///< of the job's domains

    /// True if the kernel is the same, and work units and bytes each differ at most by the factor `times`.
    [[nodiscard]] bool is_within(double times, const KernelKey& other) const;
};

/// The larger number divided by the smaller one. A zero counts as 1.
[[nodiscard]] HEADRACE_EXPORT double size_ratio(std::uint64_t one, std::uint64_t other);

/// Gives jobs their first estimates, and receives their measurements. This base class knows only theoretical
/// peaks. Calibrations keeps measurements on disk (domains/calibrations.hpp). Inside a job, Rates (no derived
/// class) starts from an estimate and continues with the measurements of the job.
///
/// Threads: any.
class HEADRACE_EXPORT PerformanceModel {
public:
    virtual ~PerformanceModel() = default;
    PerformanceModel() = default;
    PerformanceModel(const PerformanceModel&) = delete;
    PerformanceModel& operator=(const PerformanceModel&) = delete;

    [[nodiscard]] virtual Estimate estimate(const DeviceInfo& device, const KernelKey& /*kernel*/) const {
        return {.peak = peak(device), .units_per_second = {}};
    }
    /// Called when a job with this kernel has ended, with the rate of the device in it.
    virtual void measured(const DeviceInfo& /*device*/, const KernelKey& /*kernel*/,
                          double /*units_per_second*/) {}

    /// Called when a job has ended that these devices were chosen for, with its total time.
    virtual void took(std::span<const DeviceInfo* const> /*devices*/, const KernelKey& /*kernel*/,
                      double /*seconds*/) {}
    /// How long jobs with this problem took on these devices, if that is known.
    [[nodiscard]] virtual std::optional<WholeJobs> whole_jobs(std::span<const DeviceInfo* const> /*devices*/,
                                                              const KernelKey& /*kernel*/) const {
        return std::nullopt;
    }

    /// Single-precision GFLOP/s. If the driver reports no clock, DeviceInfo::peak_gflops is 0, and the result
    /// is 1 GFLOP/s per lane. Real hardware is faster, but the device gets some work and can be measured.
    [[nodiscard]] static double peak(const DeviceInfo& device);
};

} // namespace headrace
