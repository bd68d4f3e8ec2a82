// domains/job_execution.hpp - a job while it runs: what is left of it, who has which part, how it ends.
// Private to domains/: programs see it as JobHandle.
#pragma once
#include <headrace/core/busy_time.hpp>
#include <headrace/core/policy.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/domains/report.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace {

/// What finished tasks add to their device's report.
struct TaskFigures {
    std::vector<EventTimes> launches; ///< of kernels, by the device's own clock
    std::uint64_t bytes_in = 0, bytes_out = 0;
    EngineFigures engine;
};

/// A task that a device has, as its worker last told of it.
struct TaskInFlight {
    std::size_t number; ///< of the device
    std::string device; ///< its id
    IndexRange range;
    std::chrono::steady_clock::time_point last_sign; ///< of life
    std::uint64_t launches = 0;                      ///< begun; 0: it is being prepared
    std::uint64_t units_left = 0;                    ///< when the last of them began
    std::size_t awaited = 0;                         ///< requests that have to end before the first of them
};

/// How far a job is, for those who wonder why it does not end.
struct JobStanding {
    std::string job;
    std::uint64_t work_units = 0, finished = 0;
    bool started = false; ///< those that it comes after have ended
    std::chrono::steady_clock::time_point last_sign;
    std::vector<TaskInFlight> tasks;
};

/// The state of a submitted job. Devices are numbered as in the runtime.
///
/// Threads   any: workers ask for ranges and report, handles wait. No call blocks.
class JobExecution {
public:
    /// A device that takes part, by its number in the runtime.
    struct Participant {
        std::size_t device;
        const DeviceInfo* info;
    };

    JobExecution(Job job, std::unique_ptr<Policy> policy, std::string policy_name,
                 std::vector<Participant> participants, std::vector<LeftOut> left_out);

    [[nodiscard]] const Job& job() const noexcept { return job_; }
    [[nodiscard]] const Event& event() const noexcept { return event_; }

    /// From here on workers get ranges.
    void start();

    /// The next range for this device; nothing if it takes no part, or all is given out, or the job is
    /// stopping.
    [[nodiscard]] std::optional<IndexRange> next(std::size_t device);
    /// Signs of life of a task: a launch that has `units_left` to do is enqueued, behind so many requests
    /// that have not ended; those have ended.
    void launched(std::size_t device, IndexRange range, std::uint64_t units_left, std::size_t awaited = 0);
    void inputs_came(std::size_t device, IndexRange range);
    /// Tasks that ended together, as those of one launch do.
    void finished(std::size_t device, const std::vector<IndexRange>& ranges, const TaskFigures& figures);
    /// The task will not be finished; without an error because the job is being stopped.
    void abandoned(std::size_t device, IndexRange range, ErrorPtr error);
    /// The device is gone. What it has done and what it was doing is computed again elsewhere; where that is
    /// not possible (updated data is already overwritten, no device left) the job fails.
    void retire(std::size_t device, const ErrorPtr& error, const std::vector<IndexRange>& in_flight);

    /// Ends the job early, with success never.
    void stop(ErrorPtr why);
    [[nodiscard]] bool stopping() const;

    [[nodiscard]] std::uint64_t finished_units() const;
    [[nodiscard]] JobStanding standing() const;
    [[nodiscard]] JobReport report() const;

private:
    using Clock = std::chrono::steady_clock;
    struct Share {
        Participant who;
        DeviceReport figures;
        BusyTime busy;
        std::vector<IndexRange> done; ///< to be repeated if the device is lost
        bool retired = false;
    };

    Share* share_of(std::size_t device);
    /// Null: it has ended.
    TaskInFlight* in_flight(std::size_t device, IndexRange range);
    IndexRange give_out(const Share& share, IndexRange range);
    void take_back(std::size_t device, IndexRange range);
    [[nodiscard]] std::uint64_t left_units() const;
    /// If this was the end: the outcome is set after the lock is gone.
    void settle_if_ended(std::unique_lock<std::mutex> lock);

    const Job job_;
    const std::unique_ptr<Policy> policy_;
    const std::string policy_name_;
    const std::vector<LeftOut> left_out_;

    mutable std::mutex mutex_;
    std::vector<Share> shares_;
    std::vector<double> capability_;
    IndexRange left_;
    std::vector<IndexRange> returned_;
    std::map<std::pair<std::size_t, std::uint64_t>, TaskInFlight> in_flight_; ///< by device and first unit
    Clock::time_point last_sign_; ///< that something began or ended
    std::uint64_t finished_ = 0;
    bool started_ = false;
    ErrorPtr stop_reason_;
    Clock::time_point begin_, end_;
    Promise promise_;
    Event event_;
    bool ended_ = false;
};

} // namespace headrace
