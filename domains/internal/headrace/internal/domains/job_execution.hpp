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
#include <headrace/internal/core/rates.hpp>
#include <headrace/internal/domains/checked_writes.hpp>
#include <headrace/internal/domains/job_energy.hpp>
#include <headrace/internal/domains/portion.hpp>
#include <headrace/internal/domains/task_scope.hpp>
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
struct TaskFigures {
    std::vector<EventTimes> launches; ///< of kernels, by the device's own clock
    std::uint64_t bytes_in = 0, bytes_out = 0;
    EngineFigures engine;
};

/// A task that a device has, as its worker last reported it.
struct TaskInFlight {
    std::size_t number; ///< of the device
    std::string device; ///< id of the device
    Portion portion;
    std::chrono::steady_clock::time_point last_sign; ///< of progress
    std::uint64_t launches = 0;                      ///< begun; 0: it is being prepared
    std::uint64_t units_left = 0;                    ///< when the last of them began
    std::size_t awaited = 0;                         ///< requests that must end before the first launch
    std::uint64_t begun = 0;                         ///< its work units that have begun, as far as known
    std::uint64_t learned = 0;                       ///< of these: included in the device's measured speed
    double charge = 0;                               ///< seconds charged for it, as expected or as measured
};

/// The progress of a job, for a report about why it does not end.
struct JobStanding {
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
        std::string reserve = {}; ///< why it is on standby; empty: it is in the co-execution set
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
    struct Listener {
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
        std::shared_ptr<const Listener> listener = nullptr;
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
    [[nodiscard]] std::optional<Portion> next(std::size_t device, std::uint64_t most_tasks);
    /// Returns seeds of the device's task, from `unclaimed` on, to the job: another job goes first on the
    /// device, or the device has no room for their data. Returns the new end of the task.
    [[nodiscard]] std::uint64_t make_way(std::size_t device, IndexRange task, std::uint64_t unclaimed);
    /// True if some seeds were returned in this way.
    [[nodiscard]] bool has_returns() const;
    /// Units or seeds transferred to this device, or transferred units that no device has.
    [[nodiscard]] std::optional<Portion> next_given(std::size_t device);
    /// Progress of a task: a launch with `units_left` remaining units is enqueued behind `awaited` unfinished
    /// requests (launched); these requests have ended (inputs_came).
    void launched(std::size_t device, const Portion& portion, std::uint64_t units_left,
                  std::size_t awaited = 0);
    void inputs_came(std::size_t device, const Portion& portion);
    /// The launches of the task took `busy` so far; a further one follows.
    void ran(std::size_t device, const Portion& portion, Clock::duration busy);
    /// So many units of the task have begun, in a launch that has paused or that contains other tasks too.
    void begun(std::size_t device, const Portion& portion, std::uint64_t units);
    /// The same. The device worked on nothing else since its last report.
    void paused(std::size_t device, const Portion& portion, std::uint64_t units, Clock::duration busy);
    /// Tasks that ended together, as the tasks of one launch do.
    void finished(std::size_t device, const std::vector<Portion>& portions, const TaskFigures& figures);
    /// The task will not be finished. `error` is null if the job is being stopped.
    void abandoned(std::size_t device, const Portion& portion, ErrorPtr error);
    /// The device will retire soon; the job does not end before that.
    void hold_for(std::size_t device);
    /// The device is lost. Other devices repeat its finished and unfinished work. The job fails if this is
    /// impossible: updated data are already overwritten, units of its tasks were transferred to other
    /// devices, or no device is left.
    void retire(std::size_t device, const ErrorPtr& error, const std::vector<Portion>& in_flight);

    // Transfers of work that a device has not begun, to devices without work: giving.cpp.

    /// The worker has no work at all, in any job, or has work again. Returns true if other workers should be
    /// woken: they may have work for it, or may now take what was transferred to it meanwhile.
    bool idle(std::size_t device, bool is_idle);
    /// True if a device is idle, and the donor's `seeds` that have not begun take so long that a transfer is
    /// worth a pause of the donor's launch. At the pace of its task they take `seconds`; the known speed of
    /// the device may give a longer time. `lanes`: of the donor's groups.
    [[nodiscard]] bool would_take(std::size_t giver, std::uint64_t seeds, std::uint64_t lanes,
                                  double seconds = 0) const;
    /// Transfers seeds of the donor's task that have not begun, from `unclaimed` on, to idle devices. Each
    /// gets a share by capability, unless the share does not fill a lane group of the device. `lanes`: of the
    /// donor's groups. Returns the new end of the task. Transfers nothing while the job has work that no
    /// device has, or if it updates data.
    [[nodiscard]] std::uint64_t give_back(std::size_t giver, IndexRange task, std::uint64_t unclaimed,
                                          std::uint64_t lanes);
    /// The share of the donor's units for idle devices, and the smallest number worth a transfer.
    struct Appetite {
        double share = 0; ///< 0: no device is idle, or units are not shared
        std::uint64_t least = 0;
        Bytes most = 0; ///< limit of room for transferred units
    };
    [[nodiscard]] Appetite appetite(std::size_t giver, std::uint64_t lanes, std::uint64_t left) const;
    /// Transfers units of the donor's tasks to idle devices, or to the next device that asks.
    void give(std::size_t giver, UnitBatch units);
    /// The device has room for only `units` of the range at once; the next devices that ask get the others.
    [[nodiscard]] Portion keep(std::size_t device, const Portion& portion, std::uint64_t units);

    /// The device is full, and this task has not begun there. True: the job, with this task, continues in
    /// another memory. False: there is no other memory.
    [[nodiscard]] bool leave_memory(std::size_t device, const Portion& portion);
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
    [[nodiscard]] std::optional<Clock::time_point> reserve_steps_in() const;
    /// The same for one device; nothing if it is not on standby.
    [[nodiscard]] std::optional<Clock::time_point> steps_in(std::size_t device) const;
    [[nodiscard]] std::vector<const DeviceInfo*> team() const; ///< all devices not on standby
    /// Seconds that the job took the co-execution set. If standby devices helped: an estimate from the rate
    /// of the set. Infinite if the set finished nothing.
    [[nodiscard]] double seconds_of_team() const;
    /// True if a device was lost, or its memory was full.
    [[nodiscard]] bool has_losses() const;
    /// Another job used the devices at the same time.
    void disturb() noexcept { disturbed_ = true; }
    [[nodiscard]] bool was_disturbed() const noexcept { return disturbed_; }
    [[nodiscard]] bool has_several_devices() const noexcept { return several_devices_; }
    [[nodiscard]] bool has_only_cpus() const noexcept { return only_cpus_; }
    /// True if other devices may take work that this device has and has not begun.
    [[nodiscard]] bool others_may_take_over(std::size_t device) const;
    /// Expected seconds of the portion on the device, from its speed in this job or others. Nothing if the
    /// speed was never measured, if it is uncertain and other devices take part, or for transferred units.
    [[nodiscard]] std::optional<double> expected_seconds(std::size_t device, const Portion& portion) const;
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
    [[nodiscard]] JobStanding standing() const;
    /// May wait some milliseconds for energy meters.
    [[nodiscard]] JobReport report() const;

private:
    /// Counters of a device. A report is made from them only on request, since very many jobs may
    /// wait.
    struct Counters {
        std::uint64_t tasks = 0, work_units = 0; ///< finished
        double finished_seconds = 0;             ///< end of the last of them, since the job began
        Bytes bytes_in = 0, bytes_out = 0;
        std::uint64_t seeds_given = 0, units_given = 0, units_received = 0;
        EngineFigures engine;
    };
    struct Share {
        const Participant& participant;
        Counters counters = {};
        BusyTime busy = {};
        ErrorPtr loss = nullptr;                  ///< why it was retired
        std::vector<Portion> done = {};           ///< to be repeated if the device is lost
        std::vector<Portion> gifts = {};          ///< transferred to it and not taken yet
        std::uint64_t outstanding = 0, begun = 0; ///< work units in flight: not begun, begun
        Clock::time_point reckoned_from = {};     ///< time for which `outstanding` is known
        bool is_steady = false;                   ///< at work since then, after transfers and kernel builds
        bool retired = false;
        bool is_leaving = false; ///< will be retired
        bool idle = false;
        bool refused = false;   ///< by the policy, since a device last got work
        bool has_woken = false; ///< all others after a refusal, since a task began or ended
        bool left_out = false;  ///< at its last refusal; it may not take over work either
        bool is_full = false;   ///< the job has left its memory
        bool is_spared = false; ///< all tasks so far work on another memory

        [[nodiscard]] bool is_in_reserve() const { return !participant.reserve.empty(); }
        [[nodiscard]] double busy_seconds() const {
            return std::chrono::duration<double>(busy.total()).count();
        }
    };
    using Key = std::tuple<std::size_t, bool, std::uint64_t>; ///< device, are transferred units, first unit

    /// State of a job that has started or was queried. Very many jobs may wait, so a waiting job has none and
    /// takes little memory.
    struct Running {
        Running(const Job& job, const Scheduling& scheduling, std::span<const Participant> participants);

        std::vector<Share> shares;         ///< as long as the list of participants
        std::optional<std::size_t> memory; ///< that all tasks work on; none: each device on its own
        bool has_moved = false;            ///< earlier tasks worked on another memory
        bool has_returns = false;
        Rates rates;
        std::map<const Job::Use*, WrittenParts> written; ///< of uses with parts that the user computes
        CheckedWrites checked;                           ///< in checked mode
        std::vector<IndexRange> left;                    ///< not given out, or returned; the last is next
        std::vector<Portion> loose_units;                ///< transferred, and no device has them now
        std::uint64_t given = 0;                         ///< units
        Bytes given_bytes = 0;                           ///< of transferred units, kept until the job ends
        std::map<Key, TaskInFlight> in_flight;
        Clock::time_point last_sign; ///< at which something began or ended
        std::uint64_t finished = 0;  ///< work units
        Clock::time_point begin, end;
        JobEnergy energy;
    };
    /// With the lock.
    Running& running() const {
        if (!running_) running_ = std::make_unique<Running>(job_, scheduling_, participants_);
        return *running_;
    }

    [[nodiscard]] const Participant* participant(std::size_t device) const;
    Share* share_of(std::size_t device);
    [[nodiscard]] const Share* share_of(std::size_t device) const;
    /// Index of the device among the participants, in `rates` and for policies.
    [[nodiscard]] std::size_t place_of(const Share& share) const {
        return static_cast<std::size_t>(&share - running().shares.data());
    }
    /// Null: the task has ended.
    TaskInFlight* in_flight(std::size_t device, const Portion& portion);
    static Key key(std::size_t device, const Portion& portion) {
        return {device, portion.units != nullptr, portion.range.begin};
    }
    /// Calls user code (policies and divisions). If it throws, the job fails with the exception.
    template <class Answer, class Question>
    Answer ask(const Question& question, Answer otherwise) const {
        const TaskScope inside(*node_, TaskScope::Code::with_lock);
        try {
            return question();
        } catch (...) {
            if (!stop_reason_) stop_reason_ = current_error();
            ask_again(); // as in stop
            return otherwise;
        }
    }
    [[nodiscard]] std::uint64_t next_of_policy(std::size_t place, const Progress& progress) const {
        return ask([&] { return scheduling_.policy->next(place, progress); }, std::uint64_t{0});
    }
    [[nodiscard]] bool takes_over(std::size_t place, const Progress& progress) const {
        return ask([&] { return scheduling_.policy->takes_over(place, progress); }, false);
    }
    [[nodiscard]] std::uint64_t split(IndexRange range, std::uint64_t wanted) const {
        return ask([&] { return job_.split(range, wanted); }, range.size());
    }
    /// True if tasks work on another memory than this device: see OneMemory.
    [[nodiscard]] bool stands_by(const Share& share) const {
        const auto& memory = running().memory;
        return memory && share.participant.memory != *memory;
    }
    [[nodiscard]] bool can_work(const Share& share) const {
        return !share.retired && !share.is_full && !stands_by(share);
    }
    [[nodiscard]] double capability(std::size_t place) const {
        return can_work(running().shares[place]) ? running().rates.capability(place) : 0;
    }
    void ask_again() const {
        if (scheduling_.listener && scheduling_.listener->ask_again) scheduling_.listener->ask_again();
    }
    bool go_to_next_memory();
    bool enter_parts(IndexRange units);
    Portion give_out(Share& share, Portion portion);
    void take_back(std::size_t device, const Portion& portion);
    void cut_off(std::size_t giver, IndexRange task, std::uint64_t cut);
    /// For the next device that asks.
    void put_back(const Portion& portion);
    enum class Gift : std::uint8_t { seeds, units };
    /// An idle device, which waits while the donor works.
    struct Hungry {
        std::size_t place;   ///< among the shares
        double share;        ///< its part of the donor's remaining work
        std::uint64_t least; ///< seeds or units that are worth a transfer
    };
    [[nodiscard]] std::vector<Hungry> hungry(std::size_t giver, Gift gift, std::uint64_t lanes) const;
    /// Those with a share of `left` seeds or units that is worth a transfer.
    [[nodiscard]] static std::vector<Hungry> worth_it(std::vector<Hungry> hungry, std::uint64_t left);
    [[nodiscard]] static double total_share(const std::vector<Hungry>& hungry);
    [[nodiscard]] bool is_held() const;
    [[nodiscard]] bool is_repeatable() const;
    [[nodiscard]] bool gives_back(const DeviceInfo& device) const;
    [[nodiscard]] bool takes_units(const Share& share) const;
    [[nodiscard]] Portion number(UnitBatch units);
    [[nodiscard]] std::uint64_t left_units() const;
    /// From the begin until the last task ended; with the lock.
    [[nodiscard]] double seconds_taken() const {
        return std::chrono::duration<double>(running().end - running().begin).count();
    }
    void learn(Share& share, std::uint64_t units, Clock::duration busy);
    void let_in();
    std::uint64_t note_begun(Share& share, TaskInFlight& task, std::uint64_t units);
    [[nodiscard]] std::uint64_t expected_in_flight(std::size_t place) const;
    [[nodiscard]] double relative_capability(std::size_t place) const;
    [[nodiscard]] std::vector<DeviceProgress> device_progress() const;
    [[nodiscard]] DeviceReport report_of(const Share& share) const;
    [[nodiscard]] bool reserve_waits() const;
    [[nodiscard]] Clock::time_point end_of_patience() const;
    [[nodiscard]] Progress progress(std::span<const DeviceProgress> devices) const;
    /// Ends the job if nothing remains. Sets the outcome after it releases the lock.
    void settle_if_ended(std::unique_lock<std::mutex> lock);
    void fail_domains(const ErrorPtr& error) const;
    [[nodiscard]] bool fails_unheard() const;

    const Job job_;
    const Scheduling scheduling_;
    const std::vector<Participant> participants_;
    const std::shared_ptr<const std::vector<LeftOut>> left_out_;
    const bool several_devices_, only_cpus_;

    mutable std::mutex mutex_;
    mutable std::unique_ptr<Running> running_; ///< null: the job waits
    std::atomic<bool> disturbed_ = false;
    bool started_ = false;
    bool has_handles_ = true;
    bool ended_ = false;
    double charged_ = 0;           ///< seconds of devices
    unsigned holds_ = 0;           ///< by callers that are about to start it
    mutable ErrorPtr stop_reason_; ///< `ask` also sets it
    Promise promise_;
    Event event_;
    const JobNodePtr node_;
    SpanId span_ = 0; // set before any device gets a range
};

} // namespace headrace
