// domains/execution/slot_end.cpp - a launch pauses, ends or fails: see launch_slot.hpp.
#include "execution/paused_work.hpp"
#include "execution/task_metrics.hpp"
#include <headrace/internal/domains/launch_slot.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace headrace {
namespace {

constexpr std::chrono::milliseconds before_stepping_aside{50}; // another slot costs time and queues
constexpr std::chrono::milliseconds pause_in_vain{2};          // after one that was asked for
constexpr std::chrono::microseconds awake_between_jobs{200};   // the next one may come soon

} // namespace

void LaunchSlot::tend() {
    if (auto* const injecting = state_.as<LaunchState::Injecting>())
        inject(*injecting);
    else if (auto* const running = state_.as<LaunchState::Running>())
        ask_to_pause(*running);
}

/// If devices have no work and the launch has what they would take, or if the job is to end.
void LaunchSlot::ask_to_pause(LaunchState::Running& launch) {
    Engine* const engine = engine_.get();
    if (!engine || launch.asked_to_pause || launch.ended.done() || !engine->fine_grained_host_coherence())
        return;
    const auto now = Clock::now();
    const auto has_some = [&] {
        WorkRange& work_range = held_.first().work_range;
        if (work_range.units || held_.have_injected() || now < asks_again_)
            return false; // injected seeds do not come back
        const auto [begin, end] = work_range.range;
        return PausedWork(*job_, slots_.number(), *engine, work_range)
            .would_be_taken(std::clamp(engine->consumed(), begin, end), now - begun_with_);
    };
    if (!job_->stopping() && !has_some()) return;
    engine->request_pause();
    launch.asked_to_pause = true;
    slots_.stay_awake_for(awake_for_exchange);
}

std::optional<LaunchSlot::Clock::time_point> LaunchSlot::asks_again() const {
    if (is_free() || asks_again_ <= Clock::now()) return std::nullopt;
    return asks_again_;
}

/// The launch has ended.
void LaunchSlot::settle() {
    const auto job = job_; // hooks may not wait for it
    const TaskScope inside(*job->node(), TaskScope::Code::hook_or_bind);
    const Event ended = *state_.awaited();
    ErrorPtr error = ended.outcome();
    try {
        Engine* const engine = engine_.get();
        const bool has_paused = !error && engine && engine->collect() == Engine::State::paused;
        if (!error) error = failure_;
        if (!error && has_paused && job->stopping())
            error = std::make_shared<const Error>(ErrorKind::cancelled, "the job was stopped");
        if (!error && has_paused && goes_on_after_pause()) return go();
        if (!error && check_) check();
    } catch (...) {
        error = current_error();
    }
    if (error) return fail(error);
    state_.enter(LaunchState::Collecting{.ended = ended});
    collect();
}

/// The launch has paused. False: it has nothing left to do.
bool LaunchSlot::goes_on_after_pause() {
    LaunchState::Paused paused;
    if (auto* const injecting = state_.as<LaunchState::Injecting>())
        paused.injecting = std::move(*injecting);
    else
        paused.was_asked = state_.as<LaunchState::Running>()->asked_to_pause;
    const bool was_asked = paused.was_asked;
    state_.enter(std::move(paused));

    Engine& engine = *engine_.get();
    PausedWork work(*job_, slots_.number(), engine, held_.first().work_range);
    work.report_progress(held_.size() > 1 || held_.have_injected());
    const bool makes_way = slots_.another_is_more_urgent(*job_) || slots_.have_none_for_next();
    const bool has_transferred = makes_way && work.transfer_seeds();
    steps_aside_ = makes_way && !has_transferred && Clock::now() - begun_with_ > before_stepping_aside;
    if (has_transferred) slots_.jobs().wake_all(); // devices without work may take these
    if (has_transferred && engine.remaining() == 0) return false;
    if (steps_aside_) slots_.wake();                 // another slot is to be filled
    const bool has_units = engine.shape().kinds > 0; // a consumer has seeds alone
    if (work.share_seeds() || (has_units && work.share_units(slots_.launch_time(*job_))))
        slots_.jobs().wake_all();
    else if (was_asked)
        asks_again_ = Clock::now() + pause_in_vain;
    engine.aim_at(slots_.launch_time(*job_));
    return true;
}

/// Reports the tasks that have ended, and frees the slot, or goes on with those that the launch did not wait
/// for.
void LaunchSlot::collect() {
    const Engine* const engine = engine_.get();
    const TaskMetrics metrics = metrics_.take(engine, state_.as<LaunchState::Collecting>()->ended);
    const auto& launches = metrics.launches;
    std::optional<EventTimes> times;
    if (!launches.empty()) times = {launches.front().begin, launches.back().end};
    const std::vector<WorkRange> work_ranges = held_.complete(times);
    std::uint64_t tasks = 0, units = 0;
    for (const WorkRange& work_range : work_ranges) {
        tasks += work_range.tasks;
        units += work_range.work_units();
    }
    const bool is_consumer = engine && engine->shape().kinds == 0;
    const std::uint64_t lanes =
        is_consumer ? std::uint64_t{engine->shape().groups} * engine->shape().lanes : 0;
    small_.learn(tasks, units, sum(launches), lanes);
    try {
        call_hook(job_->job().after_tasks(), info(), work_ranges, metrics);
    } catch (...) {
        job_->stop(current_error());
    }
    job_->finished(slots_.number(), work_ranges, metrics);
    if (job_->transfers().has_returns())
        slots_.jobs().wake_all(); // there is work again for devices that got none before
    if (!held_.are_none()) return begin_held_tasks();
    clear();
    if (slots_.are_all_free()) slots_.stay_awake_for(awake_between_jobs);
    slots_.wake(); // this slot is free
}

void LaunchSlot::begin_held_tasks() {
    try {
        const Event ready = std::exchange(held_.first().ready, {});
        submission_.report_launch(held_.first(), {ready});
        metrics_.begin(*engine_.get());
        Event ended = engine_.get()->open(std::array{ready});
        state_.enter(
            LaunchState::Injecting{.ended = std::move(ended), .wanting = !slots_.is_short_of_memory()});
        watch();
    } catch (...) {
        fail(current_error());
    }
}

/// A task that has run, in checked mode. Blocks.
void LaunchSlot::check() {
    const IndexRange range = held_.first().work_range.range;
    const auto run_again = [&] {
        Task& task = *held_.first().task;
        const KernelVariant::Bind* const bind = job_->job().variant(info().technology)->bind();
        if (!bind) return call_host_function({}).wait();
        Engine& engine = *engine_.get();
        engine.rebind((*bind)(task));
        engine.start(range.begin, range.end).wait();
        while (engine.collect() == Engine::State::paused) engine.resume().wait();
    };
    check_->check(
        range, run_again,
        [&](const Job::Use& use, IndexRange part, const std::vector<bool>& written,
            std::span<const std::byte> contents) { job_->note_written(use, part, written, contents); });
    check_.reset();
}

void LaunchSlot::fail(const ErrorPtr& error) {
    std::string task = task_name(*job_, held_.first().work_range);
    if (held_.size() > 1) task += " and " + std::to_string(held_.size() - 1) + " more";
    const auto told = std::make_shared<Error>(*error);
    told->on_device(info().id).in_job(job_->job().name()).in_task(task);
    // An input that another device lost is no fault of this one.
    const bool ours = error->device().empty() || error->device() == info().id;
    if (error->kind() == ErrorKind::device && ours) return slots_.retire(told);
    submission_.wait_for_replicas();
    fail_tasks(told);
    const auto job = job_;
    for (const WorkRange& work_range : lose_tasks())
        job->abandoned(slots_.number(), work_range, job->stopping() ? nullptr : ErrorPtr(told));
    slots_.wake();
}

void LaunchSlot::ask_to_end() {
    if (is_injecting()) engine_.get()->request_pause();
}

bool LaunchSlot::has_launch_under_way() const {
    return !waits_for_memory() && state_.awaited() != nullptr && !state_.awaited()->done();
}

void LaunchSlot::wait_for_launch(std::chrono::nanoseconds limit) const {
    static_cast<void>(state_.awaited()->wait_for(limit));
}

void LaunchSlot::fail_tasks(const ErrorPtr& error) { held_.fail(error); }

std::vector<WorkRange> LaunchSlot::lose_tasks() {
    engine_.drop();
    std::vector<WorkRange> work_ranges = held_.work_ranges();
    clear();
    return work_ranges;
}

void LaunchSlot::set_engine_aside() {
    if (is_free() && engine_.job() && engine_.job()->event().done()) engine_.set_aside();
}

void LaunchSlot::clear() {
    check_.reset(); // it refers to the task
    held_.clear();
    steps_aside_ = false;
    failure_ = nullptr;
    asks_again_ = {};
    job_.reset();
    state_.enter(LaunchState::Free{});
}

} // namespace headrace
