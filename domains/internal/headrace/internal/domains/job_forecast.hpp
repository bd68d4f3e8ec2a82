// internal/domains/job_forecast.hpp - what a job will want of a device, and what it was charged so far.
// Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/job_state.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace headrace {

/// A view of a job, for those that choose between jobs, and that choose how long a launch takes.
///
/// Threads   any
class HEADRACE_EXPORT JobForecast {
public:
    using Clock = std::chrono::steady_clock;

    explicit JobForecast(const JobState& state) : state_(state) {}

    /// True if the job has work that no device has, and this device may take some of it now.
    [[nodiscard]] bool wants(std::size_t device) const;
    /// True if other devices may take work that this device has and has not begun.
    [[nodiscard]] bool others_may_take_over(std::size_t device) const;
    /// Expected seconds of the work range on the device, from its speed in this job or others. Nothing if the
    /// speed was never measured, if it is uncertain and other devices take part, or for transferred units.
    [[nodiscard]] std::optional<double> expected_seconds(std::size_t device,
                                                         const WorkRange& work_range) const;
    /// The time at which standby devices join, unless a device of the co-execution set is lost before.
    /// Nothing if there are no standby devices, or they have joined.
    [[nodiscard]] std::optional<Clock::time_point> standby_steps_in() const;
    /// The time at which this device may get work although nothing happens: as a standby device, or because
    /// the policy has refused it while others were to end sooner. Nothing if neither is so.
    [[nodiscard]] std::optional<Clock::time_point> asks_again(std::size_t device) const;
    /// Estimated device time, past and future, of the work that the job has given to devices.
    [[nodiscard]] double charged_seconds() const;

private:
    const JobState& state_;
};

} // namespace headrace
