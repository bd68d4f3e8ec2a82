// internal/core/rates.hpp - capabilities of a job's devices: first estimated, then measured in the job.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace headrace {

/// The on-line performance model. The rate of a device is the units of its finished tasks divided by their
/// time; each task counts 0.7 times as much as the next one. A group of devices completes work in bursts, so
/// its rate is what it tells. A device without finished tasks has its estimate, times the median of measured
/// rate / estimate of the other devices.
///
/// Arithmetic, without clocks. Threads: one at a time.
class HEADRACE_EXPORT Rates {
public:
    /// `learns`: false keeps the estimates as they are.
    explicit Rates(std::vector<Estimate> estimates, bool learns = true);

    /// Ignores tasks without work units, and times of zero or less.
    void completed(std::size_t device, std::uint64_t units, std::chrono::nanoseconds time);
    /// The device has this rate: it is a group, and has measured it.
    void tell(std::size_t device, double units_per_second);
    void lost(std::size_t device) { devices_[device].lost = true; }

    /// Work units per second if any device was ever measured, else GFLOP/s; 0 for a lost device.
    [[nodiscard]] double capability(std::size_t device) const;
    /// The same; the best device has 1.
    [[nodiscard]] double relative_capability(std::size_t device) const;
    /// True if any device was ever measured.
    [[nodiscard]] bool are_per_second() const;
    /// True if the device was measured in this job or an earlier one.
    [[nodiscard]] bool measured(std::size_t device) const;
    /// True if the last measurements of the job agree. Also true if the estimate is certain, unless the job
    /// shows that estimates are wrong by a factor of 2 or more.
    [[nodiscard]] bool certain(std::size_t device) const;
    /// The rate measured in this job.
    [[nodiscard]] std::optional<double> units_per_second(std::size_t device) const;
    /// The fastest rate of the device in this job, divided by its rate now; 0: nothing was measured.
    [[nodiscard]] double slowdown(std::size_t device) const;

private:
    struct HEADRACE_EXPORT One {
        Estimate estimate;
        double units = 0, seconds = 0; ///< of its tasks; older tasks count less
        double fastest = 0;            ///< highest units per second so far
        unsigned agreeing = 0;         ///< number of last measurements that agree
        bool lost = false;
    };
    [[nodiscard]] double estimated(const One& device) const;
    void note(One& one, double weight, double units, double seconds);

    std::vector<One> devices_;
    double units_per_peak_ = 1;   ///< median; gives an estimate for a device without earlier measurements
    double slower_or_faster_ = 1; ///< median of measured rate / estimate, over devices with finished tasks
    bool learns_;
};

} // namespace headrace
