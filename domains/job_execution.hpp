// domains/job_execution.hpp - a job while it runs: what is left of it, who has which part, how it ends.
// Private to domains/: programs see it as JobHandle.
#pragma once
#include <headrace/core/busy_time.hpp>
#include <headrace/core/policy.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/domains/portion.hpp>
#include <headrace/domains/report.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
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
    Portion portion;
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
    /// What others gave to this device, or units that were given and that nobody has.
    [[nodiscard]] std::optional<Portion> next_given(std::size_t device);
    /// Signs of life of a task: a launch that has `units_left` to do is enqueued, behind so many requests
    /// that have not ended; those have ended.
    void launched(std::size_t device, const Portion& portion, std::uint64_t units_left,
                  std::size_t awaited = 0);
    void inputs_came(std::size_t device, const Portion& portion);
    /// Tasks that ended together, as those of one launch do.
    void finished(std::size_t device, const std::vector<Portion>& portions, const TaskFigures& figures);
    /// The task will not be finished; without an error because the job is being stopped.
    void abandoned(std::size_t device, const Portion& portion, ErrorPtr error);
    /// The device is gone. What it has done and what it was doing is computed again elsewhere; where that is
    /// not possible (updated data is already overwritten, units of its tasks were given to others, no device
    /// left) the job fails.
    void retire(std::size_t device, const ErrorPtr& error, const std::vector<Portion>& in_flight);

    // What a device has not begun goes to those that have nothing to do: giving.cpp.

    /// The worker has nothing to do at all, in this job or another, or has something again. True if what it
    /// was given meanwhile is there for others now.
    bool idle(std::size_t device, bool is_idle);
    /// Seeds of the giver's task that it has not begun, those from `unclaimed` on, go to devices that are
    /// idle: to each a share by capability, unless that would not fill a lane group of it; `lanes`: of the
    /// giver's groups. Returns where the task ends now. Nobody gives as long as the job has work that nobody
    /// was given, or if it updates data.
    [[nodiscard]] std::uint64_t give_back(std::size_t giver, IndexRange task, std::uint64_t unclaimed,
                                          std::uint64_t lanes);
    /// The share of the giver's units that goes to idle devices, and the least that are worth the trouble.
    struct Appetite {
        double share = 0; ///< 0: nobody is idle, or units are not shared
        std::uint64_t least = 0;
        Bytes most = 0; ///< there is no room for more
    };
    [[nodiscard]] Appetite appetite(std::size_t giver, std::uint64_t lanes, std::uint64_t left) const;
    /// Units of the giver's tasks, for those who are idle, or whoever asks.
    void give(std::size_t giver, UnitBatch units);
    /// The device has no room for more of the units at once: the others are there for whoever asks.
    [[nodiscard]] Portion keep(std::size_t device, const Portion& portion, std::uint64_t units);

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
        std::vector<Portion> done;  ///< to be repeated if the device is lost
        std::vector<Portion> gifts; ///< that it has not taken yet
        bool retired = false;
        bool idle = false;
    };
    using Key = std::tuple<std::size_t, bool, std::uint64_t>; ///< device, units are given, first of them

    Share* share_of(std::size_t device);
    /// Null: it has ended.
    TaskInFlight* in_flight(std::size_t device, const Portion& portion);
    static Key key(std::size_t device, const Portion& portion) {
        return {device, portion.units != nullptr, portion.range.begin};
    }
    Portion give_out(Share& share, Portion portion);
    void take_back(std::size_t device, const Portion& portion);
    /// For whoever asks.
    void put_back(const Portion& portion);
    enum class Gift : std::uint8_t { seeds, units };
    /// A device that waits while the giver works.
    struct Hungry {
        std::size_t place;   ///< in shares_
        double share;        ///< that it should have of what the giver has left
        std::uint64_t least; ///< seeds or units that are worth the trouble
    };
    [[nodiscard]] std::vector<Hungry> hungry(std::size_t giver, Gift gift, std::uint64_t lanes) const;
    /// Those whose share of so many seeds or units is worth the trouble.
    [[nodiscard]] static std::vector<Hungry> worth_it(std::vector<Hungry> hungry, std::uint64_t left);
    [[nodiscard]] static double total_share(const std::vector<Hungry>& hungry);
    [[nodiscard]] bool is_repeatable() const;
    [[nodiscard]] bool takes_units(const Share& share) const;
    [[nodiscard]] Portion number(UnitBatch units);
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
    std::vector<Portion> loose_units_; ///< given, and nobody has them now
    std::uint64_t given_ = 0;          ///< units
    Bytes given_bytes_ = 0;            ///< their words are kept until the job ends
    std::map<Key, TaskInFlight> in_flight_;
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
