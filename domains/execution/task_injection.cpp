// domains/execution/task_injection.cpp - see task_injection.hpp.
#include "execution/task_injection.hpp"
#include "execution/task_metrics.hpp"
#include <headrace/internal/domains/task_scope.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace headrace {

bool TaskInjection::goes_on(LaunchState::Injecting& launch) {
    // Seeds that a consumer has begun with are as good as done; what springs from a producer's may last.
    const std::uint64_t begun = engine_.shape().kinds == 0 ? engine_.consumed() : engine_.completed();
    while (const HeldTask* const one = held_.next_begun(begun))
        job_.begun(slots_.number(), one->work_range, one->work_range.work_units());
    const auto now = std::chrono::steady_clock::now();
    const std::uint64_t left = engine_.injected() - begun;
    if (left == 0) small_.note_starving(now);
    if (launch.wanting && 2 * left < launch.filled && small_.can_grow()) {
        const bool is_cpu = slots_.device().info().kind == DeviceKind::cpu;
        small_.grow(!job_.participants().are_several(), is_cpu, now);
    }
    if (now - launch.opened > job_.job().tuning().launch_time || slots_.another_is_more_urgent(job_))
        launch.wanting = false;
    inject_what_is_ready();
    while (launch.wanting) {
        const std::uint64_t ahead = held_.ahead(), wanted = small_.wanted();
        if (ahead >= wanted) break;
        launch.wanting = hold_more(std::min(wanted - ahead, most_at_once()));
        inject_what_is_ready();
    }
    launch.filled = engine_.injected() - begun;
    // What the others wait for may be behind this launch, which must not wait for it then.
    const bool starves = held_.are_begun();
    if (held_.have_waiting() ? !starves : launch.wanting) return true;
    engine_.close();
    return false;
}

/// Other tasks of the job, at most so many, for the launch. False if there are none for it.
bool TaskInjection::hold_more(std::uint64_t tasks) {
    const auto work_range = job_.next(slots_.number(), tasks);
    if (!work_range) return false;
    const TaskScope inside(*job_.node(), TaskScope::Code::hook_or_bind);
    if (!small_.may_inject(job_, *work_range)) {
        job_.abandoned(slots_.number(), *work_range, nullptr); // it gets a launch of its own
        slots_.jobs().wake_all();                              // or is another device's
        return false;
    }
    HeldTask* held = nullptr;
    try {
        held = &held_.add(submission_.make(*work_range));
    } catch (...) { // no memory for it: its job would wait for it without end
        job_.abandoned(slots_.number(), *work_range, current_error());
        return false;
    }
    HeldTask& next = *held;
    const TaskSubmission::Inputs inputs = submission_.bind(next);
    const KernelVariant& variant = *job_.job().variant(slots_.device().info().technology);
    const auto kernel = (*variant.bind())(*next.task);
    if (!engine_.runs(*kernel)) {
        small_.note_that_kernels_differ();
        held_.drop_last();
        job_.abandoned(slots_.number(), *work_range, nullptr); // it gets a launch of its own
        return false;
    }
    call_hook(job_.job().before_tasks(), slots_.device().info(), {next.work_range}, {});
    const auto when_ready = [&](std::span<const Event> after) {
        // A task that this launch has is injected before: the tiles of both are in place for it, and tasks of
        // a job do not wait for each other's elements.
        std::vector<Event> others;
        for (const Event& event : after)
            if (event.done() ? event.outcome() != nullptr : !held_.promise(event)) others.push_back(event);
        return Event::all(others);
    };
    next.ready = submission_.submit(next, inputs, nullptr, when_ready, metrics_);
    return true;
}

/// The tasks whose inputs are in place, in their order.
void TaskInjection::inject_what_is_ready() {
    while (const HeldTask* const next = held_.next()) {
        if (!next->ready.done()) return;
        next->ready.wait(); // throws what an input failed with
        const IndexRange range = next->work_range.range;
        if (!engine_.inject(range.begin, range.end)) return;
        held_.note_injected(engine_.injected());
        job_.launched(slots_.number(), range, range.size());
    }
}

/// How many of the job's tasks may be made one: any number if each would be bound as the others are, no hook
/// is told of each, and none has data to wait for.
std::uint64_t TaskInjection::most_at_once() const {
    const Job& job = job_.job();
    const bool differ = !held_.are_none() && !held_.all().back().task->hides_range();
    const bool move = job.moves_data() && !slots_.controller().is_zero_copy();
    if (differ || move || job.before_tasks() || job.after_tasks()) return 1;
    return small_.made_at_once();
}

} // namespace headrace
