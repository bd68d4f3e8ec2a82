// internal/domains/job_execution.hpp - a job while it runs: what is left of it, who has which part, how it
// ends. Private to domains/: programs see it as JobHandle.
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
    std::uint64_t begun = 0;                         ///< work units of it, as far as that is known
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
class HEADRACE_EXPORT JobExecution {
public:
    using Clock = std::chrono::steady_clock;
    /// A device that takes part, by its number in the runtime.
    struct Participant {
        std::size_t device;
        const DeviceInfo* info;
        Estimate estimate;
        std::shared_ptr<EnergyReader> energy = nullptr; ///< null: nobody measures
        std::string reserve = {}; ///< why it had better stay out of the job; empty: it is in its team
        /// Which memory it works on, of a job all of whose tasks work on one.
        std::size_t memory = 0;
        std::optional<double> seconds_alone = {}; ///< how long the job takes it alone, for the report
    };
    /// Of a job that writes all of a domain: its tasks work on one memory.
    struct OneMemory {
        std::size_t first;    ///< memory, to begin with
        std::string why = {}; ///< for the report of devices that so have nothing to do
    };
    /// What jobs tell things to: one for all of a runtime.
    struct Listener {
        /// Called under the job's lock: devices that were refused may be wanted after all.
        std::function<void()> ask_again = {};
        /// Called when all is done, before anybody else is told.
        std::function<void(const JobExecution&)> done = {};
    };
    struct Scheduling {
        std::unique_ptr<Policy> policy;
        std::string policy_name;
        bool learns = true;          ///< capabilities follow what is measured
        double expected_seconds = 0; ///< if there is a reserve: after twice that it is needed
        std::shared_ptr<const Listener> listener = nullptr;
        KernelKey kernel = {};                           ///< which measurements are of jobs like this one
        std::uint64_t number = 0;                        ///< of the submission, in its runtime
        std::weak_ptr<Continuations> continuations = {}; ///< of the runtime
        std::shared_ptr<const OneMemory> one_memory = nullptr; ///< null: each device works on its own
    };

    /// `left_out`: the devices that take no part, for the report; null: none. Jobs share it.
    JobExecution(Job job, Scheduling scheduling, std::vector<Participant> participants,
                 std::shared_ptr<const std::vector<LeftOut>> left_out = nullptr);

    [[nodiscard]] const Job& job() const noexcept { return job_; }
    [[nodiscard]] const KernelKey& kernel() const noexcept { return scheduling_.kernel; }
    [[nodiscard]] std::uint64_t number() const noexcept { return scheduling_.number; }
    [[nodiscard]] const Event& event() const noexcept { return event_; }
    /// What a trace calls it; for whoever has a part of it.
    [[nodiscard]] SpanId span() const noexcept { return span_; }

    [[nodiscard]] const std::weak_ptr<Continuations>& continuations() const noexcept {
        return scheduling_.continuations;
    }
    /// The job as others wait for it.
    [[nodiscard]] const JobNodePtr& node() const noexcept { return node_; }
    /// No handle is left: nobody can be told any more that it failed, but the log.
    void forget_handles();
    /// It does not end before `start` or `release`, one of which must follow. False: it has ended.
    [[nodiscard]] bool hold_for_start();
    void release();
    /// From here on workers get ranges.
    void start();

    /// The numbers of the devices that the job can use.
    [[nodiscard]] std::vector<std::size_t> devices() const;
    [[nodiscard]] bool takes_part(std::size_t device) const { return participant(device) != nullptr; }
    /// The next range for this device; nothing if it takes no part, or all is given out, or the job is
    /// stopping.
    [[nodiscard]] std::optional<IndexRange> next(std::size_t device);
    /// The same of several tasks at once, as far as they adjoin.
    [[nodiscard]] std::optional<Portion> next(std::size_t device, std::uint64_t most_tasks);
    /// Seeds of the device's task from `unclaimed` on go back, for a job that is to have the device first, or
    /// since the device has no room for their data. Returns where the task ends now.
    [[nodiscard]] std::uint64_t make_way(std::size_t device, IndexRange task, std::uint64_t unclaimed);
    /// Some has gone back that way.
    [[nodiscard]] bool has_returns() const;
    /// What others gave to this device, or units that were given and that nobody has.
    [[nodiscard]] std::optional<Portion> next_given(std::size_t device);
    /// Signs of life of a task: a launch that has `units_left` to do is enqueued, behind so many requests
    /// that have not ended; those have ended.
    void launched(std::size_t device, const Portion& portion, std::uint64_t units_left,
                  std::size_t awaited = 0);
    void inputs_came(std::size_t device, const Portion& portion);
    /// The task's launches have taken so long, before one that is to follow.
    void ran(std::size_t device, const Portion& portion, Clock::duration busy);
    /// So much of the task has been begun with, of a launch that has paused or that others are in, too.
    void begun(std::size_t device, const Portion& portion, std::uint64_t units);
    /// The same, and the device has worked on nothing else since it last told something.
    void paused(std::size_t device, const Portion& portion, std::uint64_t units, Clock::duration busy);
    /// Tasks that ended together, as those of one launch do.
    void finished(std::size_t device, const std::vector<Portion>& portions, const TaskFigures& figures);
    /// The task will not be finished; without an error because the job is being stopped.
    void abandoned(std::size_t device, const Portion& portion, ErrorPtr error);
    /// The device is about to retire; until it has, the job does not end.
    void hold_for(std::size_t device);
    /// The device is gone. What it has done and what it was doing is computed again elsewhere; where that is
    /// not possible (updated data is already overwritten, units of its tasks were given to others, no device
    /// left) the job fails.
    void retire(std::size_t device, const ErrorPtr& error, const std::vector<Portion>& in_flight);

    // What a device has not begun goes to those that have nothing to do: giving.cpp.

    /// The worker has nothing to do at all, in this job or another, or has something again. True if others
    /// should know: they may have something for it, or what it was given meanwhile is there for them now.
    bool idle(std::size_t device, bool is_idle);
    /// Whether somebody is idle, and so many seeds that the giver has not begun with take it so long that it
    /// pays to ask its launch to pause, and to give away a share. At the pace of its task they take
    /// `seconds`; what is known of the device may say more. `lanes`: of the giver's groups.
    [[nodiscard]] bool would_take(std::size_t giver, std::uint64_t seeds, std::uint64_t lanes,
                                  double seconds = 0) const;
    /// Seeds of the giver's task that it has not begun, those from `unclaimed` on, go to devices that are
    /// idle: to each a share by capability, unless that would not fill a lane group of it; `lanes`: of the
    /// giver's groups. Returns where the task ends now. Nobody gives as long as the job has work that nobody
    /// was given, or if it updates data.
    [[nodiscard]] std::uint64_t give_back(std::size_t giver, IndexRange task, std::uint64_t unclaimed,
                                          std::uint64_t lanes);
    /// The share of the giver's units that goes to idle devices, and the least that pay.
    [[nodiscard]] Schedule::Demand appetite(std::size_t giver, std::uint64_t lanes, std::uint64_t left) const;
    /// Units of the giver's tasks, for those who are idle, or whoever asks.
    void give(std::size_t giver, UnitBatch units);
    /// The device has no room for more of the units at once: the others are there for whoever asks.
    [[nodiscard]] Portion keep(std::size_t device, const Portion& portion, std::uint64_t units);

    /// The device is full, and this task has not begun there. True: the job goes on in another memory, and
    /// the task with it. False: there is none.
    [[nodiscard]] bool leave_memory(std::size_t device, const Portion& portion);
    /// How the next task uses a domain: what earlier ones wrote in another memory is fetched.
    [[nodiscard]] Access access_of(const Job::Use& use) const;

    /// Of checked mode: a task has written these elements of its part of a domain, which holds `contents`.
    /// The job fails at once if two tasks scattered to one element differently; and when all tasks have ended
    /// if none wrote an element of a part.
    void note_written(const Job::Use& use, IndexRange part, const std::vector<bool>& written,
                      std::span<const std::byte> contents);

    /// Ends the job early, with success never.
    void stop(ErrorPtr why);
    [[nodiscard]] bool stopping() const;

    /// The job has work that nobody was given, and the device may have some of it, now.
    [[nodiscard]] bool wants(std::size_t device) const;
    /// When those in reserve step in, unless somebody of the team is lost before; nothing if there are none,
    /// or if they have.
    [[nodiscard]] std::optional<Clock::time_point> reserve_steps_in() const;
    /// The same for one that is in reserve.
    [[nodiscard]] std::optional<Clock::time_point> steps_in(std::size_t device) const;
    [[nodiscard]] std::vector<const DeviceInfo*> team() const; ///< that take part and are not in reserve
    /// What the job took these. Where the reserve has helped: what it would have, at the pace at which they
    /// did their part; infinite if they have ended nothing.
    [[nodiscard]] double seconds_of_team() const;
    /// Somebody was lost.
    [[nodiscard]] bool has_losses() const;
    /// Another job had devices at the same time.
    void disturb() noexcept { disturbed_ = true; }
    [[nodiscard]] bool was_disturbed() const noexcept { return disturbed_; }
    [[nodiscard]] bool has_several_devices() const noexcept { return several_devices_; }
    [[nodiscard]] bool has_only_cpus() const noexcept { return only_cpus_; }
    /// Somebody else may want what this device was given and has not begun.
    [[nodiscard]] bool others_may_take_over(std::size_t device) const;
    /// What the portion is to take the device, by what is known of its speed from this job or others; nothing
    /// if that was never measured, or is uncertain where others could do it, or for units that were given.
    [[nodiscard]] std::optional<double> expected_seconds(std::size_t device, const Portion& portion) const;
    /// How long devices were and will be busy with what it gave out, as far as that can be said.
    [[nodiscard]] double charged_seconds() const;
    /// Before others of its priority that began later, it does not go: it has been charged as much as they.
    void charge_at_least(double seconds);
    struct Measurement {
        const DeviceInfo* device;
        double units_per_second;
        bool is_brief; ///< the device was at work for too short a time for a model to keep it
    };
    /// What the devices did.
    [[nodiscard]] std::vector<Measurement> measurements() const;

    [[nodiscard]] double seconds_so_far() const; ///< until the last task ended
    [[nodiscard]] std::uint64_t finished_units() const;
    [[nodiscard]] JobStanding standing() const;
    /// May wait for energy meters, for milliseconds.
    [[nodiscard]] JobReport report() const;

private:
    /// What a device has done, beside its schedule's account. The report is made of this when a caller asks
    /// for one: very many jobs may wait.
    struct Counters {
        std::uint64_t tasks = 0;     ///< finished
        double finished_seconds = 0; ///< end of the last of them, since the job began
        Bytes bytes_in = 0, bytes_out = 0;
        EngineFigures engine;
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
    using Key = std::tuple<std::size_t, bool, std::uint64_t>; ///< device, units are given, first of them

    /// What a job has from when it starts, or is asked for: very many may wait, and one that waits takes
    /// little memory.
    struct Running {
        Running(const Job& job, Scheduling& scheduling, std::span<const Participant> participants);

        Schedule schedule;
        std::vector<Share> shares;                       ///< as long as the list of participants
        std::map<const Job::Use*, WrittenParts> written; ///< of uses whose parts the user names
        CheckedWrites checked;                           ///< in checked mode
        /// Transferred units, by the number of the first. They are kept until the job ends, for the case that
        /// their device is lost.
        std::map<std::uint64_t, std::shared_ptr<const UnitBatch>> batches;
        std::map<Key, TaskInFlight> in_flight;
        Clock::time_point last_sign; ///< that something began or ended
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
    /// Its number among the participants, in the schedule, and what policies are told.
    [[nodiscard]] std::size_t place_of(const Share& share) const {
        return static_cast<std::size_t>(&share - running().shares.data());
    }
    [[nodiscard]] std::size_t place_of(std::size_t device) const { return place_of(*share_of(device)); }
    /// Null: it has ended.
    TaskInFlight* in_flight(std::size_t device, const Portion& portion);
    static Key key(std::size_t device, const Portion& portion) {
        return {device, portion.units != nullptr, portion.range.begin};
    }
    /// An event of the schedule, which may call what users wrote, policies and divisions. If that throws, the
    /// job fails with it.
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
        if (scheduling_.listener && scheduling_.listener->ask_again) scheduling_.listener->ask_again();
    }
    bool enter_parts(IndexRange units);
    void leave_parts(IndexRange units);
    [[nodiscard]] Portion portion_of(const Work& work) const;
    std::optional<Portion> hand_out(std::size_t device, const std::optional<Work>& work);
    void note_task(std::size_t device, const Portion& portion);
    void forget_task(std::size_t device, const Portion& portion);
    void shorten(std::size_t device, IndexRange task, std::uint64_t end);
    [[nodiscard]] bool is_held() const;
    /// From the begin until the last task ended; with the lock.
    [[nodiscard]] double seconds_taken() const {
        return std::chrono::duration<double>(running().end - running().begin).count();
    }
    [[nodiscard]] DeviceReport report_of(const Share& share) const;
    [[nodiscard]] Clock::time_point end_of_patience() const;
    /// If this was the end: the outcome is set after the lock is gone.
    void settle_if_ended(std::unique_lock<std::mutex> lock);
    void fail_domains(const ErrorPtr& error) const;
    [[nodiscard]] bool fails_unheard() const;

    const Job job_;
    mutable Scheduling scheduling_; ///< its policy goes to the schedule when the job starts
    const std::vector<Participant> participants_;
    const std::shared_ptr<const std::vector<LeftOut>> left_out_;
    const bool several_devices_, only_cpus_;

    mutable std::mutex mutex_;
    mutable std::unique_ptr<Running> running_; ///< null: it waits
    std::atomic<bool> disturbed_ = false;
    bool started_ = false;
    bool has_handles_ = true;
    bool ended_ = false;
    unsigned holds_ = 0;           ///< by those who are to start it
    mutable ErrorPtr stop_reason_; ///< also what a question was answered with
    Promise promise_;
    Event event_;
    const JobNodePtr node_;
    SpanId span_ = 0; // set before anybody gets a range
};

} // namespace headrace
