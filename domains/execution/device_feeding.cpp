// domains/execution/device_feeding.cpp - small tasks go to a launch that runs: see device_worker.hpp.
#include "execution/device_place.hpp"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr auto still_growing = 5 * look_period; // since it last did: what is held may not last a sleep
constexpr std::chrono::microseconds very_short_task{500}; // to launch it costs a tenth of that
constexpr std::uint64_t several_tasks = 8, many_tasks = 64;

} // namespace

/// A launch that the first task's inputs gate, so that one may be fed at once.
Event DeviceWorker::open(Place& place, std::span<const Event> ready) {
    Event opened = place.engine->open(ready); // may throw: then it is not
    place.open = true;
    place.wanting = !is_short_of_room();
    place.fed = place.begun = 0;
    place.filled = 0;
    place.opened = Clock::now();
    return opened;
}

/// Where earlier jobs have told how fast the device is, the first launch need not find out whether tasks are
/// short, nor how many of them should be held. Of a few tasks each is as well off with a launch of its own.
void DeviceWorker::expect(Place& place, const JobExecution& job, const Portion& first) const {
    const auto seconds = job.expected_seconds(number_, first);
    const std::chrono::duration<double> expected(seconds.value_or(0));
    const bool many = first.work_units() <= job.job().work_units() / several_tasks;
    const bool are_small = many && seconds && expected < very_short_task;
    place.short_units = are_small ? static_cast<double>(first.work_units()) : 0;
    place.ahead = are_small ? TasksAhead(expected, !job.has_several_devices()) : TasksAhead();
    place.most_ahead = TasksAhead::most;
}

/// What is fed does not come back, for other jobs neither: only small tasks are fed. Where other devices may
/// want some of it in the end, only little is.
bool DeviceWorker::is_for_feeding(const Place& place, const Portion& portion) {
    const JobExecution& job = *place.job;
    if (!place.is_small(portion)) return false;
    const std::uint64_t of_a_task = portion.work_units() / std::max<std::uint64_t>(portion.tasks, 1);
    return !job.has_several_devices() || of_a_task <= job.job().work_units() / many_tasks;
}

/// How many of the job's tasks may be made one for the launch that is open: as many as one likes where each
/// would be bound as the others are, no hook is told of each, and none has data to wait for.
std::uint64_t DeviceWorker::most_at_once(const Place& place) const {
    const Job& job = place.job->job();
    const bool differ = !place.held.empty() && !place.held.back().task->hides_range();
    const bool move = job.moves_data() && !controller_->is_zero_copy();
    if (differ || move || job.before_tasks() || job.after_tasks()) return 1;
    return place.ahead.made_at_once();
}

/// Other tasks of the job, at most so many, for the launch that is open. False if there are none for it.
bool DeviceWorker::hold_more(Place& place, std::uint64_t tasks) {
    const auto range = place.job->next(number_, tasks);
    if (!range) return false;
    if (!is_for_feeding(place, *range)) {
        place.job->abandoned(number_, *range, nullptr); // it gets a launch of its own
        colleagues_.wake_all();                         // or is another device's
        return false;
    }
    Held& next = place.held.emplace_back(hold(*place.job, *range));
    const Inputs inputs = bind(place, next);
    const auto kernel = place.job->job().variant(device_->info().technology)->bind(*next.task);
    if (!place.engine->runs(*kernel)) {
        place.kernels_differ = true;
        place.held.pop_back();
        place.job->abandoned(number_, *range, nullptr); // it gets a launch of its own
        return false;
    }
    tell_hook(place.job->job().before_tasks(), {next.portion}, {});
    next.ready = submit(place, next, inputs, [&](std::span<const Event> after) {
        // A task that this launch has is fed before: the tiles of both are in place for it, and tasks of a
        // job do not wait for each other's elements.
        const auto is_held = [&](const Event& event) {
            return std::any_of(place.held.rbegin(), place.held.rend(),
                               [&](const Held& one) { return one.done.event().state() == event.state(); });
        };
        std::vector<Event> others;
        for (const Event& event : after)
            if (event.done() ? event.outcome() != nullptr : !is_held(event)) others.push_back(event);
        return Event::all(others);
    });
    return true;
}

/// The tasks whose inputs are in place, in their order.
void DeviceWorker::feed(Place& place) {
    for (; place.fed < place.held.size(); ++place.fed) {
        Held& next = place.held[place.fed];
        if (!next.ready.done()) return;
        next.ready.wait(); // throws what an input failed with
        const IndexRange range = next.portion.range;
        if (!place.engine->feed(range.begin, range.end)) return;
        next.upto = place.engine->fed();
        place.job->launched(number_, range, range.size());
    }
}

/// Sees to it that an open launch does not run out of tasks while there are any, and closes it in time: what
/// it has done is told when it has ended.
void DeviceWorker::keep_fed(Place& place) {
    Engine& engine = *place.engine;
    if (place.job->stopping()) {
        place.open = place.wanting = false;
        return engine.request_park();
    }
    try {
        // Seeds that a consumer has begun with are as good as done; what springs from a producer's may last.
        const std::uint64_t begun = engine.shape().kinds == 0 ? engine.consumed() : engine.completed();
        for (; place.begun < place.fed && place.held[place.begun].upto <= begun; ++place.begun)
            place.job->begun(number_, place.held[place.begun].portion,
                             place.held[place.begun].portion.work_units());
        const auto now = Clock::now();
        const std::uint64_t left = engine.fed() - begun;
        if (left == 0) place.look_closely_until = std::max(place.look_closely_until, now + look_period);
        if (place.wanting && 2 * left < place.filled && place.ahead.can_grow()) {
            place.ahead.grow(!place.job->has_several_devices());
            if (device_->info().kind != DeviceKind::cpu) place.look_closely_until = now + still_growing;
        }
        if (now - place.opened > place.job->job().tuning().launch_time || another_is_more_urgent(place))
            place.wanting = false;
        feed(place);
        while (place.wanting) {
            const std::uint64_t ahead = place.tasks(place.begun, place.held.size());
            const std::uint64_t wanted = std::min(place.ahead.tasks(), place.most_ahead);
            if (ahead >= wanted) break;
            place.wanting = hold_more(place, std::min(wanted - ahead, most_at_once(place)));
            feed(place);
        }
        place.filled = engine.fed() - begun;
    } catch (...) {
        place.failure = current_error();
        place.open = place.wanting = false;
        return engine.request_park();
    }
    // What the others wait for may be behind this launch, which must not wait for it then.
    const bool waits = place.fed < place.held.size(), starves = place.begun == place.fed;
    if (waits ? !starves : place.wanting) return;
    place.open = place.wanting = false;
    engine.close();
}

/// Another launch is to have the device.
void DeviceWorker::make_way(Place& place) {
    place.wanting = false;
    place.engine->request_park(); // it goes on behind that one
}

} // namespace headrace
