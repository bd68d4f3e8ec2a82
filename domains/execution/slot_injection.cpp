// domains/execution/slot_injection.cpp - small tasks go to a launch that runs: see launch_slot.hpp.
#include "execution/task_metrics.hpp"
#include <headrace/internal/domains/launch_slot.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr auto still_growing = 5 * look_period; // since it last did: what is held may not last a sleep

} // namespace

/// Keeps the launch supplied with tasks while there are any, and closes it in time: what it has done is
/// reported when it has ended.
void LaunchSlot::inject(LaunchState::Injecting& launch) {
    Engine& engine = *engine_.get();
    if (job_->stopping()) {
        engine.request_pause();
        return end_injection();
    }
    try {
        // Seeds that a consumer has begun with are as good as done; what springs from a producer's may last.
        const std::uint64_t begun = engine.shape().kinds == 0 ? engine.consumed() : engine.completed();
        for (; begun_ < injected_ && held_[begun_].upto <= begun; ++begun_)
            job_->begun(slots_.number(), held_[begun_].work_range, held_[begun_].work_range.work_units());
        const auto now = Clock::now();
        const std::uint64_t left = engine.injected() - begun;
        if (left == 0) look_closely_until_ = std::max(look_closely_until_, now + look_period);
        if (launch.wanting && 2 * left < launch.filled && small_.can_grow()) {
            small_.grow(!job_->participants().are_several());
            if (info().kind != DeviceKind::cpu) look_closely_until_ = now + still_growing;
        }
        if (now - launch.opened > job_->job().tuning().launch_time || slots_.another_is_more_urgent(*job_))
            launch.wanting = false;
        inject_what_is_ready();
        while (launch.wanting) {
            const std::uint64_t ahead = tasks(begun_, held_.size()), wanted = small_.wanted();
            if (ahead >= wanted) break;
            launch.wanting = hold_more(std::min(wanted - ahead, most_at_once()));
            inject_what_is_ready();
        }
        launch.filled = engine.injected() - begun;
    } catch (...) {
        failure_ = current_error();
        engine.request_pause();
        return end_injection();
    }
    // What the others wait for may be behind this launch, which must not wait for it then.
    const bool waits = injected_ < held_.size(), starves = begun_ == injected_;
    if (waits ? !starves : launch.wanting) return;
    engine.close();
    end_injection();
}

/// Other tasks of the job, at most so many, for the launch. False if there are none for it.
bool LaunchSlot::hold_more(std::uint64_t tasks) {
    const auto work_range = job_->next(slots_.number(), tasks);
    if (!work_range) return false;
    if (!small_.may_inject(*job_, *work_range)) {
        job_->abandoned(slots_.number(), *work_range, nullptr); // it gets a launch of its own
        slots_.jobs().wake_all();                               // or is another device's
        return false;
    }
    HeldTask& next = held_.emplace_back(hold(*work_range));
    const Inputs inputs = bind(next);
    const auto kernel = job_->job().variant(info().technology)->bind(*next.task);
    if (!engine_.get()->runs(*kernel)) {
        small_.note_that_kernels_differ();
        held_.pop_back();
        job_->abandoned(slots_.number(), *work_range, nullptr); // it gets a launch of its own
        return false;
    }
    call_hook(job_->job().before_tasks(), info(), {next.work_range}, {});
    next.ready = submit(next, inputs, [&](std::span<const Event> after) {
        // A task that this launch has is injected before: the tiles of both are in place for it, and tasks of
        // a job do not wait for each other's elements.
        const auto is_held = [&](const Event& event) {
            return std::any_of(held_.rbegin(), held_.rend(), [&](const HeldTask& one) {
                return one.done.event().state() == event.state();
            });
        };
        std::vector<Event> others;
        for (const Event& event : after)
            if (event.done() ? event.outcome() != nullptr : !is_held(event)) others.push_back(event);
        return Event::all(others);
    });
    return true;
}

/// The tasks whose inputs are in place, in their order.
void LaunchSlot::inject_what_is_ready() {
    Engine& engine = *engine_.get();
    for (; injected_ < held_.size(); ++injected_) {
        HeldTask& next = held_[injected_];
        if (!next.ready.done()) return;
        next.ready.wait(); // throws what an input failed with
        const IndexRange range = next.work_range.range;
        if (!engine.inject(range.begin, range.end)) return;
        next.upto = engine.injected();
        job_->launched(slots_.number(), range, range.size());
    }
}

/// How many of the job's tasks may be made one: any number if each would be bound as the others are, no hook
/// is told of each, and none has data to wait for.
std::uint64_t LaunchSlot::most_at_once() const {
    const Job& job = job_->job();
    const bool differ = !held_.empty() && !held_.back().task->hides_range();
    const bool move = job.moves_data() && !slots_.controller().is_zero_copy();
    if (differ || move || job.before_tasks() || job.after_tasks()) return 1;
    return small_.made_at_once();
}

/// The launch ends by itself, without further tasks.
void LaunchSlot::end_injection() {
    Event ended = std::move(state_.as<LaunchState::Injecting>()->ended);
    state_.enter(LaunchState::Running{.ended = std::move(ended)});
}

void LaunchSlot::make_way() {
    state_.as<LaunchState::Injecting>()->wanting = false;
    engine_.get()->request_pause();
}

bool LaunchSlot::wants_tasks_of(const JobExecution& job) const noexcept {
    const auto* const injecting = state_.as<LaunchState::Injecting>();
    return injecting && injecting->wanting && job_.get() == &job;
}

std::uint64_t LaunchSlot::tasks(std::size_t first, std::size_t last) const {
    std::uint64_t tasks = 0;
    for (; first < last; ++first) tasks += held_[first].work_range.tasks;
    return tasks;
}

} // namespace headrace
