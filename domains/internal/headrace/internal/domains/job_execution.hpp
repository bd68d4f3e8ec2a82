// internal/domains/job_execution.hpp - a job while it runs: its remaining work, the work ranges of devices,
// its end. Internal to domains/: programs see it as JobHandle.
#pragma once
#include <headrace/core/busy_time.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>
#include <headrace/core/policy.hpp>
#include <headrace/core/trace.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/domains/report.hpp>
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/domains/checked_writes.hpp>
#include <headrace/internal/domains/job_energy.hpp>
#include <headrace/internal/domains/task_scope.hpp>
#include <headrace/internal/domains/work_range.hpp>
#include <headrace/internal/domains/written_parts.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace {

class Continuations;

/// What finished tasks add to the report of their device.
struct TaskMetrics {
    std::vector<EventTimes> launches; ///< of kernels, by the device's own clock
    std::uint64_t bytes_in = 0, bytes_out = 0;
    EngineMetrics engine;
};

/// A task that a device has, as its worker last reported it.
struct TaskInFlight {
    std::size_t number; ///< of the device
    std::string device; ///< id of the device
    WorkRange work_range;
    std::chrono::steady_clock::time_point last_sign; ///< of progress
    std::uint64_t launches = 0;                      ///< begun; 0: it is being prepared
    std::uint64_t units_left = 0;                    ///< when the last of them began
    std::size_t awaited = 0;                         ///< requests that must end before the first launch
    std::uint64_t begun = 0;                         ///< its work units that have begun, as far as known
};

/// The progress of a job, for a report about why it does not end.
struct ExecutionStatus {
    std::string job;
    std::uint64_t work_units = 0, finished = 0;
    bool started = false; ///< its predecessors have ended
    std::chrono::steady_clock::time_point last_sign;
    std::vector<TaskInFlight> tasks;
};

/// The state of a submitted job. Devices have the numbers that the runtime uses.
///
/// Threads   any: workers ask for ranges and report, handles wait. Only report() may block.
class HEADRACE_EXPORT JobExecution {
public:
    using Clock = std::chrono::steady_clock;
    /// A device that takes part, with its number in the runtime.
    struct Participant {
        std::size_t device;
        const DeviceInfo* info;
        Estimate estimate;
        std::shared_ptr<EnergyReader> energy = nullptr; ///< null: not measured
        std::string standby = {}; ///< why it is on standby; empty: it is in the co-execution set
        /// The memory on which it works, if all tasks of the job work on one memory.
        std::size_t memory = 0;
        std::optional<double> seconds_alone = {}; ///< of the job on this device alone, for the report
    };
    /// For a job that writes all of a domain: its tasks work on one memory.
    struct OneMemory {
        std::size_t first;    ///< the memory at the start
        std::string why = {}; ///< for the report of devices that therefore have no work
    };
    /// Receives notices of jobs; one for all jobs of a runtime.
    struct Observer {
        /// Called under the job's lock: devices that were refused should ask again.
        std::function<void()> ask_again = {};
        /// Called when the job has ended, before any waiter is notified.
        std::function<void(const JobExecution&)> done = {};
    };
    struct Scheduling {
        std::unique_ptr<Policy> policy;
        std::string policy_name;
        bool learns = true;          ///< measurements update capabilities
        double expected_seconds = 0; ///< with devices on standby: they join after twice this time
        std::shared_ptr<const Observer> observer = nullptr;
        KernelKey kernel = {};                                 ///< key of measurements for jobs like this one
        std::uint64_t number = 0;                              ///< of the submission, in its runtime
        std::weak_ptr<Continuations> continuations = {};       ///< of the runtime
        std::shared_ptr<const OneMemory> one_memory = nullptr; ///< null: each device works on its own memory
    };

    /// `left_out`: devices that take no part, for the report; null: none. Jobs share the list.
    JobExecution(Job job, Scheduling scheduling, std::vector<Participant> participants,
                 std::shared_ptr<const std::vector<LeftOut>> left_out = nullptr);

    [[nodiscard]] const Job& job() const noexcept { return job_; }
    [[nodiscard]] const KernelKey& kernel() const noexcept { return scheduling_.kernel; }
    [[nodiscard]] std::uint64_t number() const noexcept { return scheduling_.number; }
    [[nodiscard]] const Event& event() const noexcept { return event_; }
    /// Its span in a trace; for all parts of the job.
    [[nodiscard]] SpanId span() const noexcept { return span_; }

    [[nodiscard]] const std::weak_ptr<Continuations>& continuations() const noexcept {
        return scheduling_.continuations;
    }
    /// The job as other jobs wait for it.
    [[nodiscard]] const JobNodePtr& node() const noexcept { return node_; }
    /// The last handle is gone: from now on only the log can report a failure.
    void forget_handles();
    /// The job does not end before `start` or `release`; one of these calls must follow. False: it has ended.
    [[nodiscard]] bool hold_for_start();
    void release();
    /// From now on workers get ranges.
    void start();

    /// The numbers of the devices that the job can use.
    [[nodiscard]] std::vector<std::size_t> devices() const;
    [[nodiscard]] bool takes_part(std::size_t device) const { return participant(device) != nullptr; }
    /// The next range for this device. Nothing if the device takes no part, if no range is left, or if the
    /// job is stopping.
    [[nodiscard]] std::optional<IndexRange> next(std::size_t device);
    /// The same for several tasks at once, if they are adjacent.
    [[nodiscard]] std::optional<WorkRange> next(std::size_t device, std::uint64_t most_tasks);
    /// Returns seeds of the device's task, from `unclaimed` on, to the job: another job goes first on the
    /// device, or the device has no room for their data. Returns the new end of the task.
    [[nodiscard]] std::uint64_t make_way(std::size_t device, IndexRange task, std::uint64_t unclaimed);
    /// True if some seeds were returned in this way.
    [[nodiscard]] bool has_returns() const;
    /// Units or seeds transferred to this device, or transferred units that no device has.
    [[nodiscard]] std::optional<WorkRange> next_transferred(std::size_t device);
    /// Progress of a task: a launch with `units_left` remaining units is enqueued behind `awaited` unfinished
    /// requests (launched); these requests have ended (inputs_came).
    void launched(std::size_t device, const WorkRange& work_range, std::uint64_t units_left,
                  std::size_t awaited = 0);
    void inputs_came(std::size_t device, const WorkRange& work_range);
    /// The launches of the task took `busy` so far; a further one follows.
    void ran(std::size_t device, const WorkRange& work_range, Clock::duration busy);
    /// So many units of the task have begun, in a launch that has paused or that contains other tasks too.
    void begun(std::size_t device, const WorkRange& work_range, std::uint64_t units);
    /// The same. The device worked on nothing else since its last report.
    void paused(std::size_t device, const WorkRange& work_range, std::uint64_t units, Clock::duration busy);
    /// Tasks that ended together, as the tasks of one launch do.
    void finished(std::size_t device, const std::vector<WorkRange>& work_ranges, const TaskMetrics& metrics);
    /// The task will not be finished. `error` is null if the job is being stopped.
    void abandoned(std::size_t device, const WorkRange& work_range, ErrorPtr error);
    /// The device will retire soon; the job does not end before that.
    void hold_for(std::size_t device);
    /// The device is lost. Other devices repeat its finished and unfinished work. The job fails if this is
    /// impossible: updated data are already overwritten, units of its tasks were transferred to other
    /// devices, or no device is left.
    void retire(std::size_t device, const ErrorPtr& error, const std::vector<WorkRange>& in_flight);

    // Transfers of work that a device has not begun, to devices without work: job_transfers.cpp.

    /// The worker has no work at all, in any job, or has work again. Returns true if other workers should be
    /// woken: they may have work for it, or may now take what was transferred to it meanwhile.
    bool idle(std::size_t device, bool is_idle);
    /// True if a device is idle, and the donor's `seeds` that have not begun take so long that a transfer is
    /// worth a pause of the donor's launch. At the pace of its task they take `seconds`; the known speed of
    /// the device may give a longer time. `lanes`: of the donor's groups.
    [[nodiscard]] bool would_take(std::size_t donor, std::uint64_t seeds, std::uint64_t lanes,
                                  double seconds = 0) const;
    /// Transfers seeds of the donor's task that have not begun, from `unclaimed` on, to idle devices. Each
    /// gets a share by capability, unless the share does not fill a lane group of the device. `lanes`: of the
    /// donor's groups. Returns the new end of the task. Transfers nothing while the job has work that no
    /// device has, or if it updates data.
    [[nodiscard]] std::uint64_t give_back(std::size_t donor, IndexRange task, std::uint64_t unclaimed,
                                          std::uint64_t lanes);
    /// The share of the donor's units for idle devices, and the smallest number worth a transfer.
    [[nodiscard]] Schedule::Demand demand(std::size_t donor, std::uint64_t lanes, std::uint64_t left) const;
    /// Transfers units of the donor's tasks to idle devices, or to the next device that asks.
    void transfer(std::size_t donor, UnitBatch units);
    /// The device has room for only `units` of the range at once; the next devices that ask get the others.
    [[nodiscard]] WorkRange keep(std::size_t device, const WorkRange& work_range, std::uint64_t units);

    /// The device is full, and this task has not begun there. True: the job, with this task, continues in
    /// another memory. False: there is no other memory.
    [[nodiscard]] bool leave_memory(std::size_t device, const WorkRange& work_range);
    /// How the next task uses a domain: it also fetches what earlier tasks wrote in another memory.
    [[nodiscard]] Access access_of(const Job::Use& use) const;

    /// In checked mode: a task has written these elements of its part of a domain, which holds `contents`.
    /// The job fails at once if two tasks scattered different values to one element. It fails at its end if
    /// no task wrote an element of a part.
    void note_written(const Job::Use& use, IndexRange part, const std::vector<bool>& written,
                      std::span<const std::byte> contents);

    /// Ends the job early, never with success.
    void stop(ErrorPtr why);
    [[nodiscard]] bool stopping() const;

    /// True if the job has work that no device has, and this device may take some of it now.
    [[nodiscard]] bool wants(std::size_t device) const;
    /// The time at which standby devices join, unless a device of the co-execution set is lost before.
    /// Nothing if there are no standby devices, or they have joined.
    [[nodiscard]] std::optional<Clock::time_point> standby_steps_in() const;
    /// The same for one device; nothing if it is not on standby.
    [[nodiscard]] std::optional<Clock::time_point> steps_in(std::size_t device) const;
    [[nodiscard]] std::vector<const DeviceInfo*> coexecution_set() const; ///< all devices not on standby
    /// Seconds that the job took the co-execution set. If standby devices helped: an estimate from the rate
    /// of the set. Infinite if the set finished nothing.
    [[nodiscard]] double seconds_of_coexecution_set() const;
    /// True if a device was lost, or its memory was full.
    [[nodiscard]] bool has_losses() const;
    /// Another job used the devices at the same time.
    void disturb() noexcept { disturbed_ = true; }
    [[nodiscard]] bool was_disturbed() const noexcept { return disturbed_; }
    [[nodiscard]] bool has_several_devices() const noexcept { return several_devices_; }
    [[nodiscard]] bool has_only_cpus() const noexcept { return only_cpus_; }
    /// True if other devices may take work that this device has and has not begun.
    [[nodiscard]] bool others_may_take_over(std::size_t device) const;
    /// Expected seconds of the work range on the device, from its speed in this job or others. Nothing if the
    /// speed was never measured, if it is uncertain and other devices take part, or for transferred units.
    [[nodiscard]] std::optional<double> expected_seconds(std::size_t device,
                                                         const WorkRange& work_range) const;
    /// Estimated device time, past and future, of the work that the job has given to devices.
    [[nodiscard]] double charged_seconds() const;
    /// Keeps a new job from going before jobs of its priority that began earlier: raises its charge.
    void charge_at_least(double seconds);
    struct Measurement {
        const DeviceInfo* device;
        double units_per_second;
        bool is_brief; ///< the device worked for too short a time for a model to keep it
    };
    /// The measured speeds of the devices.
    [[nodiscard]] std::vector<Measurement> measurements() const;

    [[nodiscard]] double seconds_so_far() const; ///< until the last task ended
    [[nodiscard]] std::uint64_t finished_units() const;
    [[nodiscard]] ExecutionStatus status() const;
    /// May wait some milliseconds for energy meters.
    [[nodiscard]] JobReport report() const;

private:
    /// Counters of a device, beside the schedule's account. A report is made from them only on request, since
    /// very many jobs may wait.
    struct Counters {
        std::uint64_t tasks = 0;     ///< finished
        double finished_seconds = 0; ///< end of the last of them, since the job began
        Bytes bytes_in = 0, bytes_out = 0;
        EngineMetrics engine;
    };
    struct Share {
        const Participant& participant;
        Counters counters = {};
        BusyTime busy = {};
        ErrorPtr loss = nullptr; ///< why it was retired
        bool is_leaving = false; ///< will be retired

        [[nodiscard]] double busy_seconds() const {
            return std::chrono::duration<double>(busy.total()).count();
        }
    };
    using Key = std::tuple<std::size_t, bool, std::uint64_t>; ///< device, are transferred units, first unit

    /// State of a job that has started or was queried. Very many jobs may wait, so a waiting job has none and
    /// takes little memory.
    struct Running {
        Running(const Job& job, Scheduling& scheduling, std::span<const Participant> participants);

        Schedule schedule;
        std::vector<Share> shares;                       ///< as long as the list of participants
        std::map<const Job::Use*, WrittenParts> written; ///< of uses with parts that the user computes
        CheckedWrites checked;                           ///< in checked mode
        /// Transferred units, by the number of the first. They are kept until the job ends, for the case that
        /// their device is lost.
        std::map<std::uint64_t, std::shared_ptr<const UnitBatch>> batches;
        std::map<Key, TaskInFlight> in_flight;
        Clock::time_point last_sign; ///< at which something began or ended
        Clock::time_point begin, end;
        JobEnergy energy;

        /// The schedule's time.
        [[nodiscard]] double now() const {
            return std::chrono::duration<double>(Clock::now() - begin).count();
        }
    };
    /// With the lock.
    Running& running() const {
        if (!running_) running_ = std::make_unique<Running>(job_, scheduling_, participants_);
        return *running_;
    }

    [[nodiscard]] const Participant* participant(std::size_t device) const;
    Share* share_of(std::size_t device);
    [[nodiscard]] const Share* share_of(std::size_t device) const;
    /// Index of the device among the participants, in the schedule and for policies.
    [[nodiscard]] std::size_t participant_of(const Share& share) const {
        return static_cast<std::size_t>(&share - running().shares.data());
    }
    [[nodiscard]] std::size_t participant_of(std::size_t device) const {
        return participant_of(*share_of(device));
    }
    /// Null: the task has ended.
    TaskInFlight* in_flight(std::size_t device, const WorkRange& work_range);
    static Key key(std::size_t device, const WorkRange& work_range) {
        return {device, work_range.units != nullptr, work_range.range.begin};
    }
    /// Calls the schedule, which may call user code (policies and divisions). If that throws, the job fails
    /// with the exception.
    template <class Answer, class Question>
    Answer ask(const Question& question, Answer otherwise) const {
        const TaskScope inside(*node_, TaskScope::Code::with_lock);
        try {
            Answer answer = question();
            if (running().schedule.takes_wake()) ask_again();
            return answer;
        } catch (...) {
            fail(current_error());
            return otherwise;
        }
    }
    /// With the lock.
    void fail(ErrorPtr why) const {
        if (!stop_reason_) stop_reason_ = std::move(why);
        ask_again(); // as in stop
    }
    void ask_again() const {
        if (scheduling_.observer && scheduling_.observer->ask_again) scheduling_.observer->ask_again();
    }
    bool enter_parts(IndexRange units);
    void leave_parts(IndexRange units);
    [[nodiscard]] WorkRange work_range_of(const Work& work) const;
    std::optional<WorkRange> hand_out(std::size_t device, const std::optional<Work>& work);
    void note_task(std::size_t device, const WorkRange& work_range);
    void forget_task(std::size_t device, const WorkRange& work_range);
    void shorten(std::size_t device, IndexRange task, std::uint64_t end);
    [[nodiscard]] bool is_held() const;
    /// From the begin until the last task ended; with the lock.
    [[nodiscard]] double seconds_taken() const {
        return std::chrono::duration<double>(running().end - running().begin).count();
    }
    [[nodiscard]] DeviceReport report_of(const Share& share) const;
    [[nodiscard]] Clock::time_point end_of_patience() const;
    /// Ends the job if nothing remains. Sets the outcome after it releases the lock.
    void settle_if_ended(std::unique_lock<std::mutex> lock);
    void fail_domains(const ErrorPtr& error) const;
    [[nodiscard]] bool fails_unheard() const;

    const Job job_;
    mutable Scheduling scheduling_; ///< its policy goes to the schedule when the job starts
    const std::vector<Participant> participants_;
    const std::shared_ptr<const std::vector<LeftOut>> left_out_;
    const bool several_devices_, only_cpus_;

    mutable std::mutex mutex_;
    mutable std::unique_ptr<Running> running_; ///< null: the job waits
    std::atomic<bool> disturbed_ = false;
    bool started_ = false;
    bool has_handles_ = true;
    bool ended_ = false;
    unsigned holds_ = 0;           ///< by callers that are about to start it
    mutable ErrorPtr stop_reason_; ///< `ask` also sets it
    Promise promise_;
    Event event_;
    const JobNodePtr node_;
    SpanId span_ = 0; // set before any device gets a range
};

} // namespace headrace
