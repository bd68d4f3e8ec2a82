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
    std::uint64_t learned = 0;                       ///< of these: the device's speed takes them into account
    double charge = 0; ///< seconds, for what it was expected to take, or has taken
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
    /// What a device has done. The report is made of this when a caller asks for one: very many jobs may
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
        std::vector<Portion> gifts = {};          ///< that it has not taken yet
        std::uint64_t outstanding = 0, begun = 0; ///< work units in flight: not begun with, begun with
        Clock::time_point reckoned_from = {};     ///< what is outstanding was as it is known then
        bool is_steady = false;                   ///< at work ever since, with data moved and kernels made
        bool retired = false;
        bool is_leaving = false; ///< will be retired
        bool idle = false;
        bool refused = false;   ///< by the policy, since somebody got something
        bool has_woken = false; ///< all others because of that, since a task began or ended
        bool left_out = false;  ///< when it last was, since it does not take over anything either
        bool is_full = false;   ///< the job has left its memory
        bool is_spared = false; ///< all tasks so far work on another memory

        [[nodiscard]] bool is_in_reserve() const { return !participant.reserve.empty(); }
        [[nodiscard]] double busy_seconds() const {
            return std::chrono::duration<double>(busy.total()).count();
        }
    };
    using Key = std::tuple<std::size_t, bool, std::uint64_t>; ///< device, units are given, first of them

    /// What a job has from when it starts, or is asked for: very many may wait, and one that waits takes
    /// little memory.
    struct Running {
        Running(const Job& job, const Scheduling& scheduling, std::span<const Participant> participants);

        std::vector<Share> shares;         ///< as long as the list of participants
        std::optional<std::size_t> memory; ///< that all tasks work on; none: each device on its own
        bool has_moved = false;            ///< tasks that are done worked on another memory
        bool has_returns = false;
        Rates rates;
        std::map<const Job::Use*, WrittenParts> written; ///< of uses whose parts the user names
        CheckedWrites checked;                           ///< in checked mode
        std::vector<IndexRange> left;                    ///< not given out, or returned; the last is next
        std::vector<Portion> loose_units;                ///< given, and nobody has them now
        std::uint64_t given = 0;                         ///< units
        Bytes given_bytes = 0;                           ///< their words are kept until the job ends
        std::map<Key, TaskInFlight> in_flight;
        Clock::time_point last_sign; ///< that something began or ended
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
    /// Its number among the participants, in the rates, and what policies are told.
    [[nodiscard]] std::size_t place_of(const Share& share) const {
        return static_cast<std::size_t>(&share - running().shares.data());
    }
    /// Null: it has ended.
    TaskInFlight* in_flight(std::size_t device, const Portion& portion);
    static Key key(std::size_t device, const Portion& portion) {
        return {device, portion.units != nullptr, portion.range.begin};
    }
    /// Of what users wrote, policies and divisions. If it throws, the job fails with that.
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
    /// Another memory is the one that tasks work on: see OneMemory.
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
    /// For whoever asks.
    void put_back(const Portion& portion);
    enum class Gift : std::uint8_t { seeds, units };
    /// A device that waits while the giver works.
    struct Hungry {
        std::size_t place;   ///< among the shares
        double share;        ///< that it should have of what the giver has left
        std::uint64_t least; ///< seeds or units that are worth the trouble
    };
    [[nodiscard]] std::vector<Hungry> hungry(std::size_t giver, Gift gift, std::uint64_t lanes) const;
    /// Those whose share of so many seeds or units is worth the trouble.
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
    /// If this was the end: the outcome is set after the lock is gone.
    void settle_if_ended(std::unique_lock<std::mutex> lock);
    void fail_domains(const ErrorPtr& error) const;
    [[nodiscard]] bool fails_unheard() const;

    const Job job_;
    const Scheduling scheduling_;
    const std::vector<Participant> participants_;
    const std::shared_ptr<const std::vector<LeftOut>> left_out_;
    const bool several_devices_, only_cpus_;

    mutable std::mutex mutex_;
    mutable std::unique_ptr<Running> running_; ///< null: it waits
    std::atomic<bool> disturbed_ = false;
    bool started_ = false;
    bool has_handles_ = true;
    bool ended_ = false;
    double charged_ = 0;           ///< seconds of devices
    unsigned holds_ = 0;           ///< by those who are to start it
    mutable ErrorPtr stop_reason_; ///< also what a question was answered with
    Promise promise_;
    Event event_;
    const JobNodePtr node_;
    SpanId span_ = 0; // set before anybody gets a range
};

} // namespace headrace
