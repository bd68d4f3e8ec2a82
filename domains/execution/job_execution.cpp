// domains/execution/job_execution.cpp - see job_execution.hpp.
#include "execution/footprint.hpp"
#include "execution/schedule_work.hpp"
#include <headrace/core/log.hpp>
#include <headrace/internal/domains/job_execution.hpp>
#include <headrace/internal/domains/task_scope.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

/// Lanes that a multiprocessor holds: what a task needs to have one unit for each of a GPU's.
constexpr std::uint64_t lanes_per_compute_unit = 1024;

/// As the job says, and as its user does.
class JobDivision final : public Division {
public:
    explicit JobDivision(const Job& job) : job_(job) {}
    [[nodiscard]] std::uint64_t split(IndexRange left, std::uint64_t wanted) const override {
        return job_.split(left, wanted);
    }

private:
    const Job& job_; // outlives the schedule
};

/// Whether tasks can be done once more, or elsewhere beside one that has begun.
bool is_repeatable(const Job& job) {
    return std::ranges::none_of(job.uses(), [](const Job::Use& use) { return use.access == Access::update; });
}

Schedule::Shape shape_of(const Job& job, const JobExecution::Scheduling& scheduling) {
    return {.work_units = job.work_units(),
            .learns = scheduling.learns,
            .moves_data = job.moves_data(),
            .is_repeatable = is_repeatable(job),
            .shares_units = job.shares_units(),
            .expected_seconds = scheduling.expected_seconds,
            .memory = scheduling.one_memory ? std::optional(scheduling.one_memory->first) : std::nullopt};
}

std::vector<Schedule::Participant> participants_of(const Job& job,
                                                   std::span<const JobExecution::Participant> participants) {
    std::vector<Schedule::Participant> all;
    for (const JobExecution::Participant& one : participants) {
        const DeviceInfo& info = *one.info;
        const bool is_gpu = info.kind == DeviceKind::gpu;
        const KernelVariant* const variant = job.variant(info.technology);
        // Launches pause when they are asked to, and work on transferred units; host functions do neither.
        const bool has_launches = variant != nullptr && variant->bind != nullptr;
        all.push_back({.estimate = one.estimate,
                       .least = std::max<std::uint64_t>(info.lane_group, job.grain()),
                       .full = is_gpu ? info.compute_units * lanes_per_compute_unit : info.compute_units,
                       .lane_group = info.lane_group,
                       .is_processor = info.kind == DeviceKind::cpu,
                       .gives_back = info.fine_grained_host_coherence && is_repeatable(job) && has_launches,
                       .takes_units = variant == nullptr || has_launches,
                       .is_standby = !one.standby.empty(),
                       .memory = one.memory});
    }
    return all;
}

void log_failure(Error error, const std::string& job) {
    log_error(std::string("a job failed, and no caller waited for it: ") + error.in_job(job).what());
}

} // namespace

JobExecution::JobExecution(Job job, Scheduling scheduling, std::vector<Participant> participants,
                           std::shared_ptr<const std::vector<LeftOut>> left_out)
    : job_(std::move(job)),
      scheduling_(std::move(scheduling)),
      participants_(std::move(participants)),
      left_out_(std::move(left_out)),
      several_devices_(participants_.size() > 1),
      only_cpus_(std::ranges::all_of(
          participants_, [](const Participant& one) { return one.info->kind == DeviceKind::cpu; })),
      event_(promise_.event()),
      node_(std::make_shared<JobNode>(job_.name(), event_)) {}

JobExecution::Running::Running(const Job& job, Scheduling& scheduling,
                               std::span<const Participant> participants)
    : schedule(shape_of(job, scheduling), participants_of(job, participants), std::move(scheduling.policy),
               std::make_shared<JobDivision>(job)) {
    for (const Job::Use& use : job.uses()) // rows of different tasks cannot overlap
        if (writes(use.access) && use.slice.part && !use.slice.is_rows) written.try_emplace(&use);
    shares.reserve(participants.size());
    for (const Participant& participant : participants) {
        energy.add(participant.energy);
        shares.push_back({participant});
    }
}

std::vector<std::size_t> JobExecution::devices() const {
    std::vector<std::size_t> numbers;
    for (const Participant& participant : participants_) numbers.push_back(participant.device);
    return numbers;
}

void JobExecution::start() {
    std::unique_lock lock(mutex_);
    started_ = true;
    if (holds_ > 0) --holds_;
    if (Trace* const trace = Trace::recording())
        span_ = trace->add({nullptr, "jobs", "jobs", false}, job_.name(), event_, {});
    Running& run = running();
    run.energy.begin();
    run.begin = run.end = run.last_sign = Clock::now();
    settle_if_ended(std::move(lock)); // it may have been stopped before it began
}

std::optional<IndexRange> JobExecution::next(std::size_t device) {
    const auto work_range = next(device, 1);
    return work_range ? std::optional(work_range->range) : std::nullopt;
}

std::optional<WorkRange> JobExecution::next(std::size_t device, std::uint64_t most_tasks) {
    std::unique_lock lock(mutex_);
    const Share* const share = share_of(device);
    if (!started_ || stop_reason_ || !share) return std::nullopt;
    Running& run = running();
    const std::size_t place = participant_of(*share);
    auto work_range = hand_out(
        device, ask([&] { return run.schedule.next(place, run.now(), most_tasks); }, std::optional<Work>()));
    if (stop_reason_) {
        settle_if_ended(std::move(lock));
        return std::nullopt;
    }
    return work_range;
}

/// What the schedule has granted. Nothing, and the job fails, if its parts are those of other tasks.
std::optional<WorkRange> JobExecution::hand_out(std::size_t device, const std::optional<Work>& work) {
    if (!work) return std::nullopt;
    WorkRange work_range = work_range_of(*work);
    if (!work_range.units && !enter_parts(work_range.range)) {
        running().schedule.returned(participant_of(device), *work, false);
        return std::nullopt;
    }
    note_task(device, work_range);
    return work_range;
}

WorkRange JobExecution::work_range_of(const Work& work) const {
    WorkRange work_range(work.range, work.tasks);
    if (work.is_transferred) work_range.units = running().batches.at(work.range.begin);
    return work_range;
}

void JobExecution::note_task(std::size_t device, const WorkRange& work_range) {
    Running& run = running();
    run.last_sign = Clock::now();
    run.in_flight.insert_or_assign(key(device, work_range),
                                   TaskInFlight{.number = device,
                                                .device = participant(device)->info->id,
                                                .work_range = work_range,
                                                .last_sign = run.last_sign});
}

void JobExecution::forget_task(std::size_t device, const WorkRange& work_range) {
    Running& run = running();
    run.in_flight.erase(key(device, work_range));
    run.last_sign = Clock::now();
}

void JobExecution::launched(std::size_t device, const WorkRange& work_range, std::uint64_t units_left,
                            std::size_t awaited) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, work_range);
    HEADRACE_ASSERT(task);
    ++task->launches;
    task->units_left = units_left;
    task->awaited = awaited;
    task->last_sign = Clock::now();
}

void JobExecution::inputs_came(std::size_t device, const WorkRange& work_range) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, work_range);
    if (!task || task->awaited == 0) return; // told late: the task has ended, or its first launch has
    task->awaited = 0;
    task->last_sign = Clock::now();
}

void JobExecution::begun(std::size_t device, const WorkRange& work_range, std::uint64_t units) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, work_range);
    if (!task) return;
    task->last_sign = Clock::now();
    running().schedule.begun(participant_of(device), work_of(work_range), units);
}

void JobExecution::ran(std::size_t device, const WorkRange& work_range, Clock::duration busy) {
    const std::scoped_lock lock(mutex_);
    running().schedule.ran(participant_of(device), work_of(work_range), busy);
}

void JobExecution::paused(std::size_t device, const WorkRange& work_range, std::uint64_t units,
                          Clock::duration busy) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, work_range);
    HEADRACE_ASSERT(task);
    task->last_sign = Clock::now();
    Running& run = running();
    ask(
        [&] {
            run.schedule.progressed(participant_of(device), work_of(work_range), units, busy, run.now());
            return true;
        },
        false);
}

void JobExecution::finished(std::size_t device, const std::vector<WorkRange>& work_ranges,
                            const TaskMetrics& metrics) {
    std::unique_lock lock(mutex_);
    Running& run = running();
    Share& share = *share_of(device);
    Counters& counters = share.counters;
    std::vector<Work> works;
    for (const WorkRange& work_range : work_ranges) {
        forget_task(device, work_range);
        works.push_back(work_of(work_range));
        counters.tasks += work_range.tasks;
    }
    run.end = Clock::now();
    const auto busy_before = share.busy.total();
    for (const EventTimes& launch : metrics.launches) share.busy.add(launch);
    const auto busy = share.busy.total() - busy_before;
    counters.finished_seconds = seconds_taken();
    counters.bytes_in += metrics.bytes_in;
    counters.bytes_out += metrics.bytes_out;
    counters.engine += metrics.engine;
    ask(
        [&] {
            run.schedule.completed(participant_of(share), works, busy, run.now());
            return true;
        },
        false);
    settle_if_ended(std::move(lock));
}

void JobExecution::abandoned(std::size_t device, const WorkRange& work_range, ErrorPtr error) {
    std::unique_lock lock(mutex_);
    forget_task(device, work_range);
    running().schedule.returned(participant_of(device), work_of(work_range), !error);
    if (error) {
        auto told = std::make_shared<Error>(*error);
        told->on_device(participant(device)->info->id).in_job(job_.name());
        fail(told);
    } else if (!work_range.units) {
        leave_parts(work_range.range);
    }
    settle_if_ended(std::move(lock));
}

void JobExecution::release() {
    std::unique_lock lock(mutex_);
    --holds_;
    settle_if_ended(std::move(lock));
}

bool JobExecution::hold_for_start() {
    const std::scoped_lock lock(mutex_);
    if (!ended_) ++holds_;
    return !ended_;
}

/// The job may not end yet: a caller is about to start it, or a device is about to retire.
bool JobExecution::is_held() const {
    return holds_ > 0 || std::ranges::any_of(running().shares, &Share::is_leaving);
}

void JobExecution::stop(ErrorPtr why) {
    std::unique_lock lock(mutex_);
    if (!stop_reason_ && !ended_) {
        stop_reason_ = std::move(why);
        ask_again(); // for launches to be asked to pause
    }
    settle_if_ended(std::move(lock));
}

bool JobExecution::stopping() const {
    const std::scoped_lock lock(mutex_);
    return stop_reason_ != nullptr;
}

bool JobExecution::wants(std::size_t device) const {
    const std::scoped_lock lock(mutex_);
    if (!started_ || stop_reason_ || !share_of(device)) return false;
    return running().schedule.wants(participant_of(device), running().now());
}

std::optional<double> JobExecution::expected_seconds(std::size_t device, const WorkRange& work_range) const {
    const std::scoped_lock lock(mutex_);
    if (!share_of(device)) return std::nullopt;
    return running().schedule.expected_seconds(participant_of(device), work_of(work_range));
}

double JobExecution::charged_seconds() const {
    const std::scoped_lock lock(mutex_);
    return running().schedule.charged();
}

void JobExecution::charge_at_least(double seconds) {
    const std::scoped_lock lock(mutex_);
    running().schedule.charge_at_least(seconds);
}

const JobExecution::Participant* JobExecution::participant(std::size_t device) const {
    const auto found = std::ranges::find(participants_, device, &Participant::device);
    return found == participants_.end() ? nullptr : &*found;
}

JobExecution::Share* JobExecution::share_of(std::size_t device) {
    const Participant* const one = participant(device);
    return one == nullptr ? nullptr : &running().shares[static_cast<std::size_t>(one - participants_.data())];
}

const JobExecution::Share* JobExecution::share_of(std::size_t device) const {
    return const_cast<JobExecution*>(this)->share_of(device); // which changes nothing
}

TaskInFlight* JobExecution::in_flight(std::size_t device, const WorkRange& work_range) {
    Running& run = running();
    const auto found = run.in_flight.find(key(device, work_range));
    return found == run.in_flight.end() ? nullptr : &found->second;
}

/// What a task of these work units writes. False: another task writes some of it as well, and the job fails.
bool JobExecution::enter_parts(IndexRange units) {
    for (auto& [use, parts] : running().written) {
        const IndexRange elements = ask([&] { return elements_of(*use, units); }, IndexRange{});
        const auto other = parts.enter(units, elements);
        if (!other) continue;
        const IndexRange theirs = ask([&] { return elements_of(*use, *other); }, IndexRange{});
        fail(std::make_shared<const Error>(
            Error(ErrorKind::invalid_argument,
                  fmt::format("the tasks of work units [{}, {}) and [{}, {}) write parts of domain '{}' that "
                              "overlap: elements [{}, {}) and [{}, {}); of a domain under writes() or "
                              "updates(), each element is for one task to write",
                              other->begin, other->end, units.begin, units.end, use->slice.data->name(),
                              theirs.begin, theirs.end, elements.begin, elements.end))
                .in_job(job_.name())));
    }
    return !stop_reason_;
}

void JobExecution::leave_parts(IndexRange units) {
    for (auto& [use, parts] : running().written) parts.remove(units);
}

JobExecution::Clock::time_point JobExecution::end_of_patience() const {
    const std::chrono::duration<double> patience(running().schedule.standby_steps_in());
    return running().begin + std::chrono::duration_cast<Clock::duration>(patience);
}

std::optional<JobExecution::Clock::time_point> JobExecution::standby_steps_in() const {
    const std::scoped_lock lock(mutex_);
    const bool waits = started_ && !ended_ && running().schedule.standby_waits(running().now());
    return waits ? std::optional(end_of_patience()) : std::nullopt;
}

std::optional<JobExecution::Clock::time_point> JobExecution::steps_in(std::size_t device) const {
    const Participant* const one = participant(device);
    return one && !one->standby.empty() ? standby_steps_in() : std::nullopt;
}

void JobExecution::settle_if_ended(std::unique_lock<std::mutex> lock) {
    if (ended_ || !(started_ || stop_reason_)) return; // it may wait for long, with little memory
    Running& run = running();
    const bool complete = started_ && run.schedule.is_done();
    if (is_held() || run.schedule.has_tasks() || !(complete || stop_reason_)) return;
    ended_ = true;
    if (!stop_reason_)
        if (auto unwritten = run.checked.why_unwritten())
            stop_reason_ = std::make_shared<const Error>(unwritten->in_job(job_.name()));
    const ErrorPtr error = stop_reason_;
    // With the lock: a device that is lost from now on takes a replica with it that nothing makes again.
    if (!error)
        for (const Job::Use& use : job_.uses()) {
            if (use.joining) use.slice.data->seal(*use.joining);
            if (use.access == Access::write) use.slice.data->set_written();
        }
    run.energy.end(seconds_taken());
    run.schedule.forget(); // handles may keep us for long
    run.batches.clear();
    const EventTimes ran{run.begin, run.end};
    const bool is_unheard = fails_unheard();
    lock.unlock(); // continuations may ask us things
    if (error) {
        fail_domains(error);
        if (is_unheard) log_failure(*error, job_.name());
        return promise_.fail(error);
    }
    if (scheduling_.observer && scheduling_.observer->done) scheduling_.observer->done(*this);
    promise_.complete(ran);
}

void JobExecution::note_written(const Job::Use& use, IndexRange part, const std::vector<bool>& written,
                                std::span<const std::byte> contents) {
    const std::scoped_lock lock(mutex_);
    auto wrong = running().checked.note(use, part, written, contents);
    if (wrong) fail(std::make_shared<const Error>(wrong->in_job(job_.name())));
}

/// Its results are not complete, even if a part of them was made: a caller that asks for them gets the error.
void JobExecution::fail_domains(const ErrorPtr& error) const {
    for (const Job::Use& use : job_.uses()) {
        if (use.joining) {
            use.slice.data->fail_replicas(*use.joining, error);
            continue;
        }
        if (!writes(use.access)) continue;
        IndexRange part{0, use.slice.data->extent().size()};
        try {
            part = elements_of(use, {0, job_.work_units()});
        } catch (...) { // the user's callback, which may be why the job failed: all of the domain
        }
        use.slice.data->fail(part, error);
    }
}

/// The caller that cancels a job knows that it failed.
bool JobExecution::fails_unheard() const {
    return ended_ && stop_reason_ && !has_handles_ && !node_->is_told() &&
           stop_reason_->kind() != ErrorKind::cancelled;
}

void JobExecution::forget_handles() {
    std::unique_lock lock(mutex_);
    has_handles_ = false;
    const bool is_unheard = fails_unheard();
    const ErrorPtr error = stop_reason_;
    lock.unlock();
    if (is_unheard) log_failure(*error, job_.name());
}

} // namespace headrace
