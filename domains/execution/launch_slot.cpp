// domains/execution/launch_slot.cpp - a launch begins or resumes: see launch_slot.hpp.
#include "execution/footprint.hpp"
#include "execution/task_metrics.hpp"
#include <headrace/internal/domains/launch_slot.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

// To be told that a launch has ended, and to wake up, takes some hundred microseconds. The thread polls for
// launches of which that is more than a hundredth.
constexpr std::chrono::milliseconds awake_beside_launch{20};

/// A task of transferred units may have any of the job's seeds behind them.
IndexRange seeds_of(const JobExecution& job, const WorkRange& work_range) {
    return work_range.units ? IndexRange{0, job.job().work_units()} : work_range.range;
}

} // namespace

LaunchSlot::LaunchSlot(DeviceSlots& slots)
    : slots_(slots), stream_(slots.device().make_stream(Timing::all)) {} // reports and budgets take times

void LaunchSlot::task_waits() {
    waiting_threads_.fetch_add(1, std::memory_order_relaxed);
    slots_.signal()->notify();
}

void LaunchSlot::task_goes_on() { waiting_threads_.fetch_sub(1, std::memory_order_relaxed); }

void LaunchSlot::start(const std::shared_ptr<JobExecution>& job, const WorkRange& work_range,
                       bool is_transferred) {
    if (engine_.job() != job) {
        engine_.serve(job);
        in_windows_ = !fits_whole(job->job(), info());
        small_.expect(*job, slots_.number(), work_range);
    }
    if (is_transferred) small_.expect_none();
    state_.enter(LaunchState::Preparing{});
    job_ = job;
    begun_with_ = Clock::now();
    metrics_ = {};
    held_.push_back(hold(work_range));
    go();
}

void LaunchSlot::advance() {
    if (!can_advance()) return;
    if (waits_for_memory())
        continue_with_memory();
    else
        settle();
}

bool LaunchSlot::can_advance() const {
    const Event* const awaited = state_.awaited();
    return awaited != nullptr && awaited->done();
}

/// Begins or resumes the launch. If the device is full, frees what can be freed at once and tries again; else
/// the slot waits for memory.
void LaunchSlot::go() {
    try {
        for (;;) try {
                if (state_.is<LaunchState::Paused>())
                    resume();
                else
                    begin();
                return watch();
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::out_of_memory || error.device() != info().id) throw;
                make_memory(error);
                if (waits_for_memory()) return watch();
                if (is_free()) return; // the job goes on in another memory
            }
    } catch (...) {
        fail(current_error());
    }
}

/// The first task of a launch.
void LaunchSlot::begin() {
    const TaskScope inside(*job_->node(), TaskScope::Code::hook_or_bind);
    const Job& job = job_->job();
    HeldTask& first = held_.front();
    while (in_windows_ && footprint(job, info(), first.work_range.range, true) > most_in_windows(info()) &&
           halve()) {
    }
    Task& task = *first.task;
    check_.reset(); // of a try for which there was no memory
    const Inputs inputs = bind(first);
    if (is_checked_mode() && !in_windows_ && !first.work_range.units) // windows have no room for more
        check_ =
            std::make_unique<CheckedTask>(task, job, first.work_range.range, slots_.controller(), *stream_);
    const KernelVariant& variant = *job.variant(info().technology);
    bool opens = false, is_open = false;
    if (variant.bind) {
        Engine& engine = engine_.bind(slots_.device(), *stream_, variant.bind(task));
        engine.aim_at(slots_.launch_time(*job_));
        engine_before_ = engine_metrics(engine);
        if (const auto& units = first.work_range.units; units && engine.room() > 0)
            if (const std::uint64_t room = engine.room(*units); units->size() > room) {
                first.work_range = job_->transfers().keep(slots_.number(), first.work_range, room);
                slots_.jobs().wake_all(); // others may take the rest
            }
        opens = small_.may_inject(*job_, first.work_range) && !first.work_range.units && !in_windows_ &&
                !check_ && engine.fine_grained_host_coherence();
        engine.reserve(opens);
    }
    call_hook(job.before_tasks(), info(), {first.work_range}, {}); // all that it needs is there
    Event ended = enqueue(first, inputs, opens, is_open);
    if (is_open)
        state_.enter(
            LaunchState::Injecting{.ended = std::move(ended), .wanting = !slots_.is_short_of_memory()});
    else
        state_.enter(LaunchState::Running{.ended = std::move(ended)});
}

/// `opens`: the launch begins without seeds, which are injected. `is_open`: it did. An input that has failed
/// leaves it false.
Event LaunchSlot::enqueue(HeldTask& first, const Inputs& inputs, bool opens, bool& is_open) {
    return submit(first, inputs, [&](std::span<const Event> ready) {
        report_launch(first, {ready.begin(), ready.end()});
        Engine* const engine = engine_.get();
        if (!engine) return call_host_function(ready);
        const WorkRange& work_range = first.work_range;
        if (work_range.units) return engine->start(*work_range.units, ready);
        if (!opens) return engine->start(work_range.range.begin, work_range.range.end, ready);
        Event ended = engine->open(ready); // may throw: then it is not open
        is_open = true;
        return ended;
    });
}

void LaunchSlot::resume() {
    Engine& engine = *engine_.get();
    Event ended = engine.resume();
    if (auto injecting = std::move(state_.as<LaunchState::Paused>()->injecting)) {
        injecting->ended = std::move(ended);
        state_.enter(*std::move(injecting));
    } else {
        state_.enter(LaunchState::Running{.ended = std::move(ended)});
    }
    for (const HeldTask& one : held_) job_->launched(slots_.number(), one.work_range, engine.remaining());
}

LaunchSlot::HeldTask LaunchSlot::hold(const WorkRange& work_range) const {
    return {.work_range = work_range,
            .task = std::make_unique<Task>(task_name(*job_, work_range), seeds_of(*job_, work_range),
                                           slots_.device())};
}

/// Binds the task's views to this device's memory.
LaunchSlot::Inputs LaunchSlot::bind(HeldTask& held) {
    Inputs inputs;
    Task& task = *held.task;
    Controller& controller = slots_.controller();
    task.unbind(); // when there was not enough memory before
    const IndexRange range = seeds_of(*job_, held.work_range);
    for (const Job::Use& use : job_->job().uses()) {
        DomainData& data = *use.slice.data;
        slots_.note(use.slice.data);
        if (use.joining) {
            const auto replica = data.replica(*use.joining, controller, *stream_);
            inputs.replicas.push_back(replica.ready);
            task.bind({&data, use.access, use.joining, replica.memory, 0});
            continue;
        }
        const IndexRange part = elements_of(use, range);
        if (part.empty()) { // the kernel touches nothing of it
            task.bind({&data, use.access, nullptr, &controller.memory(data.storage()), 0, part});
            continue;
        }
        const Bytes begin = part.begin * data.element_size(), end = part.end * data.element_size();
        const Tile tile = data.storage().tile(begin, end);
        inputs.uses.push_back({tile, job_->access_of(use)});
        if (!in_windows_) {
            task.bind({&data, use.access, nullptr, &controller.memory(data.storage()), 0, part});
            continue;
        }
        const Controller::Window window = controller.window(tile);
        task.bind({&data, use.access, nullptr, &window.memory, window.begin, part});
    }
    return inputs;
}

/// Calls `start` with what the task must wait for, and returns what it returned. If an input has failed,
/// `start` is not called, and the event has the failure.
Event LaunchSlot::submit(HeldTask& held, const Inputs& inputs, const StartTask& start) {
    std::optional<Event> started;
    Controller& controller = slots_.controller();
    const Traffic before = controller.traffic();
    const Event submitted =
        controller.submit(held.task->name(), inputs.uses,
                          [&](std::span<const Event> after) {
                              std::vector<Event> ready(after.begin(), after.end());
                              ready.insert(ready.end(), inputs.replicas.begin(), inputs.replicas.end());
                              if (check_) ready = {check_->fill(ready)};
                              started = start(ready);
                              return held.done.event();
                          },
                          {.unit = "tasks", .part_of = job_->span()});
    const Traffic after = controller.traffic(); // near enough: jobs that overlap may share the difference
    metrics_.bytes_in += after.in - before.in;
    metrics_.bytes_out += after.out - before.out;
    return started.value_or(submitted);
}

Event LaunchSlot::call_host_function(std::span<const Event> ready) {
    return stream_->launch(
        [this](const NativeStream& stream) {
            const TaskScope on_stream(*job_->node(), *this);
            job_->job().variant(info().technology)->host_function(*held_.front().task, stream);
        },
        ready);
}

/// A launch is enqueued with this task, behind `inputs`.
void LaunchSlot::report_launch(const HeldTask& held, std::vector<Event> inputs) const {
    const WorkRange& work_range = held.work_range;
    const std::size_t number = slots_.number();
    std::erase_if(inputs, [](const Event& event) { return event.done(); });
    job_->launched(number, work_range, work_range.range.size(), inputs.size());
    if (!inputs.empty())
        Event::all(inputs).then(
            [job = job_, number, work_range](const ErrorPtr&) { job->inputs_came(number, work_range); });
}

/// The end of what the slot waits for wakes the device's thread.
void LaunchSlot::watch() {
    state_.awaited()->then([signal = slots_.signal()](const ErrorPtr&) { signal->notify(); });
    slots_.stay_awake_for(awake_beside_launch);
}

} // namespace headrace
