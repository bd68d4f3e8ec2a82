// core/performance_model.hpp - how fast a device is with a kernel, before the job has shown it.
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

/// What a model knows of one device running one kernel.
struct Estimate {
    double peak = 1;                        ///< greater than zero; compares with those of other devices
    std::optional<double> units_per_second; ///< measured in earlier jobs
    bool certain = false;                   ///< several measurements agree, the last one not long ago
};

/// How long jobs took that certain devices have done.
struct WholeJobs {
    double seconds = 0;   ///< median
    std::size_t jobs = 0; ///< that were measured; 0: the last one is long ago
    double last = std::numeric_limits<double>::infinity(); ///< seconds of the last one
    double seconds_ago = 0;                                ///< that was
};

/// Which measurements say something of each other: one kernel on problems of about one size.
struct HEADRACE_EXPORT KernelKey {
    std::string kernel; ///< the job's name, or what it calls its kernel: Job::kernel_name
    std::uint64_t work_units = 0;
    Bytes bytes = 0; ///< of the job's domains

    /// The same kernel, and neither units nor bytes are more than so many times as many.
    [[nodiscard]] bool is_within(double times, const KernelKey& other) const;
};

/// How many times as much the larger one is; nothing counts as one.
[[nodiscard]] HEADRACE_EXPORT double size_ratio(std::uint64_t one, std::uint64_t other);

/// Gives the estimates that jobs begin with, and is told what they measured. Three there are: this one, which
/// knows theoretical peaks alone; Calibrations, kept on disk (domains/calibrations.hpp); and Rates, which
/// every job has for itself and which goes on from an estimate by what the job measures.
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
    /// A job with this kernel has ended, in which the device did so much.
    virtual void measured(const DeviceInfo& /*device*/, const KernelKey& /*kernel*/,
                          double /*units_per_second*/) {}

    /// These devices were to do the job, and it took so long.
    virtual void took(std::span<const DeviceInfo* const> /*devices*/, const KernelKey& /*kernel*/,
                      double /*seconds*/) {}
    /// How long this very problem takes these devices, if that is known.
    [[nodiscard]] virtual std::optional<WholeJobs> whole_jobs(std::span<const DeviceInfo* const> /*devices*/,
                                                              const KernelKey& /*kernel*/) const {
        return std::nullopt;
    }

    /// Single-precision GFLOP/s. A driver that does not tell its clock leaves 0: one GFLOP/s per lane is
    /// below any hardware there is, and gives the device some work from which the others can be told apart.
    [[nodiscard]] static double peak(const DeviceInfo& device);
};

} // namespace headrace
