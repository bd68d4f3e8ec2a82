// domains/execution/job_execution.cpp - see job_execution.hpp.
#include "execution/footprint.hpp"
#include <headrace/core/log.hpp>
#include <headrace/internal/domains/job_execution.hpp>
#include <headrace/internal/domains/task_scope.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

double seconds(std::chrono::steady_clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

std::vector<Estimate> estimates(std::span<const JobExecution::Participant> participants) {
    std::vector<Estimate> estimates;
    for (const auto& participant : participants) estimates.push_back(participant.estimate);
    return estimates;
}

/// A launch, its inputs, whoever waits for it, and threads that wake: what it is taken for, not a
/// measurement.
constexpr double cost_of_task = 50e-6, cost_of_gpu_task = 300e-6;
/// Seconds that a task is charged before it has taken any: longer ones pause, and are charged what they took.
constexpr double longest_expected = 0.1;

/// Lanes that a multiprocessor holds: what a task needs to have one unit for each of a GPU's.
constexpr std::uint64_t lanes_per_compute_unit = 1024;

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

JobExecution::Running::Running(const Job& job, const Scheduling& scheduling,
                               std::span<const Participant> participants)
    : rates(estimates(participants), scheduling.learns) {
    if (scheduling.one_memory) memory = scheduling.one_memory->first;
    if (job.work_units() > 0) left.push_back({0, job.work_units()});
    for (const Job::Use& use : job.uses()) // rows of different tasks cannot overlap
        if (writes(use.access) && use.slice.part && !use.slice.is_rows) written.try_emplace(&use);
    shares.reserve(participants.size());
    for (const Participant& participant : participants) {
        energy.add(participant.energy);
        Share& share = shares.emplace_back(participant);
        share.is_spared = memory && participant.memory != *memory;
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
    const auto portion = next(device, 1);
    return portion ? std::optional(portion->range) : std::nullopt;
}

std::optional<Portion> JobExecution::next(std::size_t device, std::uint64_t most_tasks) {
    std::unique_lock lock(mutex_);
    Running& run = running();
    Share* share = share_of(device);
    if (!started_ || stop_reason_ || !share || !can_work(*share) || run.left.empty()) return std::nullopt;
    const std::size_t place = place_of(*share);
    std::vector<DeviceProgress> devices = device_progress();
    Progress progress = this->progress(devices);
    std::uint64_t wanted = next_of_policy(place, progress);
    const bool is_left_out = wanted == 0 && !takes_over(place, progress);
    if (stop_reason_) {
        settle_if_ended(std::move(lock));
        return std::nullopt;
    }
    if (wanted == 0) {
        share->refused = true;
        share->left_out = is_left_out;
        if (!run.in_flight.empty()) return std::nullopt; // the one that ends asks again
        // Those that are not left out come first.
        if (share->left_out)
            for (Share& one : run.shares)
                if (!one.retired && !one.left_out) one.refused = false;
        if (!std::ranges::all_of(run.shares,
                                 [&](const Share& one) { return one.refused || !can_work(one); })) {
            // Once: who is at work elsewhere asks when that ends, and whoever wakes all wakes itself.
            if (!std::exchange(share->has_woken, true)) ask_again();
            return std::nullopt;
        }
        wanted = 1; // a policy that leaves everyone idle would hang the job
    }
    IndexRange& left = run.left.back();
    Portion portion(IndexRange{left.begin, left.begin}, 0);
    // One question for all tasks of the batch: a question costs as much as a small task does.
    ask(
        [&] {
            do {
                const std::uint64_t size = job_.split(left, std::max(wanted, devices[place].least));
                left.begin += size;
                portion.range.end = left.begin;
                ++portion.tasks;
                progress.remaining -= size;
                devices[place].in_flight += size;
                if (portion.tasks == most_tasks || left.empty()) return true;
                wanted = scheduling_.policy->next(place, progress);
            } while (wanted > 0);
            return true;
        },
        false);
    if (left.empty()) run.left.pop_back();
    if (!enter_parts(portion.range) || stop_reason_) {
        settle_if_ended(std::move(lock));
        return std::nullopt;
    }
    return give_out(*share, portion);
}

void JobExecution::launched(std::size_t device, const Portion& portion, std::uint64_t units_left,
                            std::size_t awaited) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, portion);
    HEADRACE_ASSERT(task);
    ++task->launches;
    task->units_left = units_left;
    task->awaited = awaited;
    task->last_sign = Clock::now();
}

void JobExecution::inputs_came(std::size_t device, const Portion& portion) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, portion);
    if (!task || task->awaited == 0) return; // told late: the task has ended, or its first launch has
    task->awaited = 0;
    task->last_sign = Clock::now();
}

void JobExecution::begun(std::size_t device, const Portion& portion, std::uint64_t units) {
    const std::scoped_lock lock(mutex_);
    if (TaskInFlight* task = in_flight(device, portion)) note_begun(*share_of(device), *task, units);
}

void JobExecution::ran(std::size_t device, const Portion& portion, Clock::duration busy) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, portion);
    HEADRACE_ASSERT(task);
    const double charge = std::max(task->charge, seconds(busy));
    charged_ += charge - std::exchange(task->charge, charge);
}

void JobExecution::paused(std::size_t device, const Portion& portion, std::uint64_t units,
                          Clock::duration busy) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, portion);
    HEADRACE_ASSERT(task);
    Share& share = *share_of(device);
    const std::uint64_t more = note_begun(share, *task, units);
    task->learned += more;
    learn(share, more, busy);
}

/// Returns how many were not known to be.
std::uint64_t JobExecution::note_begun(Share& share, TaskInFlight& task, std::uint64_t units) {
    task.last_sign = Clock::now();
    if (units <= task.begun) return 0;
    const std::uint64_t more = units - task.begun;
    task.begun = units;
    share.outstanding -= more;
    share.begun += more;
    return more;
}

/// The time is that from one pause or end to the next, with what it costs to move data; or what the device
/// says, if before it there were preparations.
void JobExecution::learn(Share& share, std::uint64_t units, Clock::duration busy) {
    const auto now = Clock::now();
    const std::size_t place = place_of(share);
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(
        share.is_steady ? now - share.reckoned_from : busy);
    share.reckoned_from = now;
    share.is_steady = true;
    if (units > 0) {
        running().rates.completed(place, units, time);
        ask(
            [&] {
                scheduling_.policy->completed(place, units, time);
                return true;
            },
            false);
    }
    let_in();
}

/// Devices that the policy left out may be worth asking by now.
void JobExecution::let_in() {
    Running& run = running();
    if (run.left.empty() || std::ranges::none_of(run.shares, [](const Share& one) { return one.left_out; }))
        return;
    const std::vector<DeviceProgress> devices = device_progress();
    const Progress progress = this->progress(devices);
    bool any = false;
    for (Share& one : run.shares)
        if (one.left_out && can_work(one) && takes_over(place_of(one), progress)) {
            one.left_out = false;
            any = true;
        }
    if (any) ask_again();
}

void JobExecution::finished(std::size_t device, const std::vector<Portion>& portions,
                            const TaskFigures& figures) {
    std::unique_lock lock(mutex_);
    Running& run = running();
    Share& share = *share_of(device);
    Counters& counters = share.counters;
    std::uint64_t units = 0, known = 0;
    for (const Portion& portion : portions) {
        known += in_flight(device, portion)->learned;
        take_back(device, portion);
        units += portion.work_units();
        counters.tasks += portion.tasks;
        if (portion.units) counters.units_received += portion.range.size();
    }
    run.finished += units;
    run.end = Clock::now();
    share.done.insert(share.done.end(), portions.begin(), portions.end());
    counters.work_units += units;
    const auto busy_before = share.busy.total();
    for (const EventTimes& launch : figures.launches) share.busy.add(launch);
    const auto busy = share.busy.total() - busy_before;
    charged_ += seconds(busy);
    counters.finished_seconds = seconds_taken();
    counters.bytes_in += figures.bytes_in;
    counters.bytes_out += figures.bytes_out;
    counters.engine += figures.engine;
    // What was given says nothing of how long the job's units take.
    learn(share, units - known, busy);
    share.is_steady = share.outstanding + share.begun > 0;
    settle_if_ended(std::move(lock));
}

void JobExecution::abandoned(std::size_t device, const Portion& portion, ErrorPtr error) {
    std::unique_lock lock(mutex_);
    take_back(device, portion);
    if (error) {
        const Share& share = *share_of(device);
        auto told = std::make_shared<Error>(*error);
        told->on_device(share.participant.info->id).in_job(job_.name());
        if (!stop_reason_) stop_reason_ = told;
        ask_again(); // as in stop
    } else {
        put_back(portion);
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

/// Somebody is about to say something that matters for its end.
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
    if (!started_ || stop_reason_ || running().left.empty()) return false;
    const Share* const share = share_of(device);
    return share && can_work(*share) && !(share->is_in_reserve() && reserve_waits());
}

std::optional<double> JobExecution::expected_seconds(std::size_t device, const Portion& portion) const {
    const std::scoped_lock lock(mutex_);
    Running& run = running();
    const Share* const share = share_of(device);
    if (!share || portion.units || !run.rates.measured(place_of(*share))) return std::nullopt;
    if (several_devices_ && !run.rates.certain(place_of(*share))) return std::nullopt;
    return static_cast<double>(portion.work_units()) / run.rates.capability(place_of(*share));
}

double JobExecution::charged_seconds() const {
    const std::scoped_lock lock(mutex_);
    return charged_;
}

void JobExecution::charge_at_least(double seconds) {
    const std::scoped_lock lock(mutex_);
    charged_ = std::max(charged_, seconds);
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

TaskInFlight* JobExecution::in_flight(std::size_t device, const Portion& portion) {
    Running& run = running();
    const auto found = run.in_flight.find(key(device, portion));
    return found == run.in_flight.end() ? nullptr : &found->second;
}

Portion JobExecution::give_out(Share& share, Portion portion) {
    Running& run = running();
    run.last_sign = Clock::now();
    share.idle = false;
    for (Share& one : run.shares) one.refused = one.has_woken = false;
    const std::size_t place = place_of(share);
    const auto rate = run.rates.units_per_second(place);
    const double expected = rate ? static_cast<double>(portion.work_units()) / *rate : 0;
    const double charge = std::min(expected, longest_expected);
    charged_ += charge;
    if (share.outstanding + share.begun == 0) share.reckoned_from = run.last_sign;
    share.outstanding += portion.work_units();
    run.in_flight.insert_or_assign(key(share.participant.device, portion),
                                   TaskInFlight{.number = share.participant.device,
                                                .device = share.participant.info->id,
                                                .portion = portion,
                                                .last_sign = run.last_sign,
                                                .charge = charge});
    return portion;
}

void JobExecution::take_back(std::size_t device, const Portion& portion) {
    Running& run = running();
    const auto task = run.in_flight.find(key(device, portion));
    HEADRACE_ASSERT(task != run.in_flight.end());
    Share& share = *share_of(device);
    share.begun -= task->second.begun;
    share.outstanding -= task->second.portion.work_units() - task->second.begun;
    charged_ -= task->second.charge;
    run.in_flight.erase(task);
    for (Share& one : run.shares) one.has_woken = false;
    run.last_sign = Clock::now();
}

void JobExecution::put_back(const Portion& portion) {
    Running& run = running();
    if (portion.units) {
        run.loose_units.push_back(portion);
        return;
    }
    for (auto& [use, parts] : run.written) parts.remove(portion.range);
    run.left.push_back(portion.range);
}

/// What a task of these work units writes. False: another task writes some of it as well, and the job fails.
bool JobExecution::enter_parts(IndexRange units) {
    for (auto& [use, parts] : running().written) {
        const IndexRange elements = ask([&] { return elements_of(*use, units); }, IndexRange{});
        const auto other = parts.enter(units, elements);
        if (!other) continue;
        const IndexRange theirs = ask([&] { return elements_of(*use, *other); }, IndexRange{});
        if (!stop_reason_)
            stop_reason_ = std::make_shared<const Error>(
                Error(ErrorKind::invalid_argument,
                      fmt::format(
                          "the tasks of work units [{}, {}) and [{}, {}) write parts of domain '{}' that "
                          "overlap: elements [{}, {}) and [{}, {}); of a domain under writes() or "
                          "updates(), each element is for one task to write",
                          other->begin, other->end, units.begin, units.end, use->slice.data->name(),
                          theirs.begin, theirs.end, elements.begin, elements.end))
                    .in_job(job_.name()));
        ask_again(); // as in stop
    }
    return !stop_reason_;
}

/// Whether tasks can be done once more, or elsewhere beside one that has begun.
bool JobExecution::is_repeatable() const {
    return std::ranges::none_of(job_.uses(),
                                [](const Job::Use& use) { return use.access == Access::update; });
}

/// By launches that pause when they are asked to: host functions know nothing of that.
bool JobExecution::gives_back(const DeviceInfo& device) const {
    const KernelVariant* const variant = job_.variant(device.technology);
    return device.hears_host && is_repeatable() && variant != nullptr && variant->bind != nullptr;
}

std::uint64_t JobExecution::left_units() const {
    std::uint64_t units = 0;
    for (const IndexRange range : running().left) units += range.size();
    return units;
}

double JobExecution::relative_capability(std::size_t place) const {
    Running& run = running();
    double best = 0;
    for (std::size_t i = 0; i < run.shares.size(); ++i) best = std::max(best, run.rates.capability(i));
    return best > 0 ? run.rates.capability(place) / best : 0;
}

/// What is not known to have been begun with, less what the device should have done since.
std::uint64_t JobExecution::expected_in_flight(std::size_t place) const {
    Running& run = running();
    const Share& share = run.shares[place];
    if (share.outstanding == 0 || !run.rates.measured(place)) return share.outstanding;
    const double done = run.rates.capability(place) * seconds(Clock::now() - share.reckoned_from);
    const auto outstanding = static_cast<double>(share.outstanding);
    return static_cast<std::uint64_t>(outstanding - std::min(done, outstanding));
}

Progress JobExecution::progress(std::span<const DeviceProgress> devices) const {
    return {.total = job_.work_units(),
            .remaining = left_units(),
            .devices = devices,
            .moves_data = job_.moves_data(),
            .task_seconds = !running().rates.are_per_second() ? 0
                            : only_cpus_                      ? cost_of_task
                                                              : cost_of_gpu_task};
}

JobExecution::Clock::time_point JobExecution::end_of_patience() const {
    return running().begin + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(2 * scheduling_.expected_seconds));
}

/// There is one, nobody of the team is lost, and the team is about as fast as it used to be.
bool JobExecution::reserve_waits() const {
    Running& run = running();
    return std::ranges::any_of(run.shares, &Share::is_in_reserve) && Clock::now() < end_of_patience() &&
           std::ranges::none_of(run.shares,
                                [](const Share& one) { return one.retired && !one.is_in_reserve(); });
}

std::optional<JobExecution::Clock::time_point> JobExecution::reserve_steps_in() const {
    const std::scoped_lock lock(mutex_);
    return started_ && !ended_ && reserve_waits() ? std::optional(end_of_patience()) : std::nullopt;
}

std::optional<JobExecution::Clock::time_point> JobExecution::steps_in(std::size_t device) const {
    const Participant* const one = participant(device);
    return one && !one->reserve.empty() ? reserve_steps_in() : std::nullopt;
}

std::vector<DeviceProgress> JobExecution::device_progress() const {
    Running& run = running();
    std::vector<DeviceProgress> progress;
    const bool reserve_waits = this->reserve_waits();
    for (std::size_t i = 0; i < run.shares.size(); ++i) {
        const Share& share = run.shares[i];
        const DeviceInfo& info = *share.participant.info;
        const bool is_gpu = info.kind == DeviceKind::gpu;
        const std::uint64_t lanes = is_gpu ? info.compute_units * lanes_per_compute_unit : info.compute_units;
        progress.push_back({.capability = capability(i),
                            .measured = run.rates.measured(i),
                            .certain = run.rates.certain(i),
                            .in_reserve = reserve_waits && share.is_in_reserve(),
                            .gives_back = gives_back(info),
                            .in_flight = expected_in_flight(i),
                            .finished = share.counters.work_units + share.begun,
                            .least = std::max<std::uint64_t>(info.lane_group, job_.grain()),
                            .full = lanes});
    }
    return progress;
}

void JobExecution::settle_if_ended(std::unique_lock<std::mutex> lock) {
    if (ended_ || !(started_ || stop_reason_)) return; // it may wait for long, with little memory
    Running& run = running();
    const bool complete = started_ && run.left.empty() && run.loose_units.empty() &&
                          std::ranges::all_of(run.shares, [](const Share& one) { return one.gifts.empty(); });
    if (is_held() || !run.in_flight.empty() || !(complete || stop_reason_)) return;
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
    for (Share& share : run.shares) { // handles may keep us for long
        share.done.clear();
        share.gifts.clear();
    }
    run.loose_units.clear();
    const EventTimes ran{run.begin, run.end};
    const bool is_unheard = fails_unheard();
    lock.unlock(); // continuations may ask us things
    if (error) {
        fail_domains(error);
        if (is_unheard) log_failure(*error, job_.name());
        return promise_.fail(error);
    }
    if (scheduling_.listener && scheduling_.listener->done) scheduling_.listener->done(*this);
    promise_.complete(ran);
}

void JobExecution::note_written(const Job::Use& use, IndexRange part, const std::vector<bool>& written,
                                std::span<const std::byte> contents) {
    const std::scoped_lock lock(mutex_);
    auto wrong = running().checked.note(use, part, written, contents);
    if (!wrong) return;
    if (!stop_reason_) stop_reason_ = std::make_shared<const Error>(wrong->in_job(job_.name()));
    ask_again(); // as in stop
}

/// Its results are not what they should be, whatever part of them was made: who asks for them is told.
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

/// Somebody who cancels a job knows that it failed.
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
