// internal/domains/job_account.hpp - what each device did for a job, and how long that took. Internal to
// domains/.
#pragma once
#include <headrace/core/busy_time.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/report.hpp>
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/domains/job_energy.hpp>
#include <headrace/internal/domains/job_scheduling.hpp>
#include <headrace/internal/domains/work_range.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headrace {

/// What finished tasks add to the report of their device.
struct TaskMetrics {
    std::vector<EventTimes> launches; ///< of kernels, by the device's own clock
    std::uint64_t bytes_in = 0, bytes_out = 0;
    EngineMetrics engine;
};

/// What a model learns of a job: how fast its devices were, and how long it took.
struct JobOutcome {
    struct Measurement {
        const DeviceInfo* device;
        double units_per_second;
        bool is_brief; ///< the device worked for too short a time for a model to keep it
    };
    KernelKey kernel;
    bool has_several_devices = false;
    bool was_disturbed = false; ///< another job used the devices at the same time
    bool has_losses = false;    ///< a device was lost, or its memory was full
    double seconds = 0;         ///< until the last task ended
    /// Seconds that the job took the co-execution set. If standby devices helped: an estimate from the rate
    /// of the set. Infinite if the set finished nothing.
    double seconds_of_coexecution_set = 0;
    std::vector<const DeviceInfo*> set;    ///< all devices not on standby
    std::vector<Measurement> measurements; ///< the measured speeds of the devices
};

/// Counters and times of one job, beside what its schedule counts.
///
/// Threads   one at a time: the job's lock
class HEADRACE_EXPORT JobAccount {
public:
    using Clock = std::chrono::steady_clock;

    /// `participants` must outlive it.
    explicit JobAccount(const JobParticipants& participants);

    /// The job starts now.
    void begin();
    [[nodiscard]] Clock::time_point begun() const noexcept { return begin_; }
    /// The schedule's time: seconds since then.
    [[nodiscard]] double now() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
    /// So many tasks of a device have ended now, together. Returns how long the device was busy with them.
    Clock::duration add(std::size_t place, std::uint64_t tasks, const TaskMetrics& metrics);
    /// How long the device has worked that has worked the longest.
    [[nodiscard]] Clock::duration busiest() const;
    /// The device is lost. The first reason is reported.
    void lose(std::size_t place, const ErrorPtr& why);
    /// The job has ended.
    void end() { energy_.end(seconds()); }

    /// From the begin until the last task ended.
    [[nodiscard]] double seconds() const { return std::chrono::duration<double>(end_ - begin_).count(); }
    [[nodiscard]] EventTimes times() const { return {begin_, end_}; }
    /// The report of a job, without its energy.
    [[nodiscard]] JobReport report(const Job& job, const JobScheduling& scheduling,
                                   const Schedule& schedule) const;
    /// A copy, which may wait for its meters without the lock.
    [[nodiscard]] JobEnergy energy() const { return energy_; }
    [[nodiscard]] JobOutcome outcome(const KernelKey& kernel, const Schedule& schedule) const;

private:
    /// Of one device.
    struct Share {
        std::uint64_t tasks = 0;     ///< finished
        double finished_seconds = 0; ///< end of the last of them, since the job began
        Bytes bytes_in = 0, bytes_out = 0;
        EngineMetrics engine = {};
        BusyTime busy = {};
        ErrorPtr loss = nullptr; ///< why it was retired

        [[nodiscard]] double busy_seconds() const {
            return std::chrono::duration<double>(busy.total()).count();
        }
    };
    [[nodiscard]] DeviceReport report_of(std::size_t place, const Job& job, const JobScheduling& scheduling,
                                         const Schedule& schedule) const;
    void compare_with_each_alone(JobReport& report) const;

    const JobParticipants& participants_;
    std::vector<Share> shares_; ///< by place
    JobEnergy energy_;
    Clock::time_point begin_, end_;
};

} // namespace headrace
