// domains/execution/launch_slot.cpp - a launch begins or resumes: see launch_slot.hpp.
#include "execution/task_injection.hpp"
#include "execution/task_metrics.hpp"
#include <headrace/internal/domains/launch_slot.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

// To be told that a launch has ended, and to wake up, takes some hundred microseconds. The thread polls for
// launches of which that is more than a hundredth.
constexpr std::chrono::milliseconds awake_beside_launch{20};

} // namespace

LaunchSlot::LaunchSlot(DeviceSlots& slots)
    : slots_(slots),
      stream_(slots.device().make_stream(Timing::all)), // reports and budgets take times
      submission_(slots, *stream_, engine_) {}

void LaunchSlot::task_waits() {
    waiting_threads_.fetch_add(1, std::memory_order_relaxed);
    slots_.signal()->notify();
}

void LaunchSlot::task_goes_on() { waiting_threads_.fetch_sub(1, std::memory_order_relaxed); }

void LaunchSlot::start(const std::shared_ptr<JobExecution>& job, const WorkRange& work_range,
                       bool is_transferred) {
    try {
        if (engine_.job() != job) {
            small_.expect(*job, slots_.number(), work_range);
            submission_.expect(job->job());
            engine_.serve(job);
        }
        held_.add(submission_.make(work_range));
    } catch (...) { // no memory for the task, which nothing here has taken
        return job->abandoned(slots_.number(), work_range, current_error());
    }
    if (is_transferred) small_.expect_none();
    state_.enter(LaunchState::Preparing{});
    job_ = job;
    begun_with_ = Clock::now();
    metrics_.forget();
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
                // A launch that is enqueued uses the memory: it is too late to wait for more.
                if (!state_.is<LaunchState::Preparing>() && !state_.is<LaunchState::Paused>()) throw;
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
    HeldTask& first = held_.first();
    const bool in_windows = submission_.is_in_windows();
    submission_.fit(first);
    Task& task = *first.task;
    check_.reset(); // of a try for which there was no memory
    const TaskSubmission::Inputs inputs = submission_.bind(first);
    if (submission_.checks(first.work_range))
        check_ = std::make_unique<CheckedTask>(task, job, first.work_range.range, slots_.controller(),
                                               *stream_, in_windows);
    const KernelVariant& variant = *job.variant(info().technology);
    bool opens = false, is_open = false;
    if (const KernelVariant::Bind* const bind = variant.bind()) {
        Engine& engine = engine_.bind(slots_.device(), *stream_, (*bind)(task));
        engine.aim_at(slots_.launch_time(*job_));
        metrics_.begin(engine);
        if (const auto& units = first.work_range.units; units && engine.room() > 0)
            if (const std::uint64_t room = engine.room(*units); units->size() > room) {
                first.work_range = job_->transfers().keep(slots_.number(), first.work_range, room);
                slots_.jobs().wake_all(); // others may take the rest
            }
        opens = small_.may_inject(*job_, first.work_range) && !first.work_range.units && !in_windows &&
                !check_ && engine.fine_grained_host_coherence();
        engine.reserve(opens);
    }
    call_hook(job.before_tasks(), info(), {first.work_range}, {}); // all that it needs is there
    Event ended = enqueue(inputs, opens, is_open);
    if (is_open)
        state_.enter(
            LaunchState::Injecting{.ended = std::move(ended), .wanting = !slots_.is_short_of_memory()});
    else
        state_.enter(LaunchState::Running{.ended = std::move(ended)});
}

/// `opens`: the launch begins without seeds, which are injected. `is_open`: it did. An input that has failed
/// leaves it false.
Event LaunchSlot::enqueue(const TaskSubmission::Inputs& inputs, bool opens, bool& is_open) {
    HeldTask& first = held_.first();
    const auto start = [&](std::span<const Event> ready) {
        submission_.report_launch(first, {ready.begin(), ready.end()});
        Engine* const engine = engine_.get();
        if (!engine) return call_host_function(ready);
        const WorkRange& work_range = first.work_range;
        if (work_range.units) return engine->start(*work_range.units, ready);
        if (!opens) return engine->start(work_range.range.begin, work_range.range.end, ready);
        Event ended = engine->open(ready); // may throw: then it is not open
        is_open = true;
        return ended;
    };
    return submission_.submit(first, inputs, check_.get(), start, metrics_);
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
    for (const HeldTask& one : held_.all())
        job_->launched(slots_.number(), one.work_range, engine.remaining());
}

Event LaunchSlot::call_host_function(std::span<const Event> ready) {
    return stream_->launch(
        [this](const NativeStream& stream) {
            const TaskScope on_stream(*job_->node(), *this);
            job_->job().variant(info().technology)->host_function()(*held_.first().task, stream);
        },
        ready);
}

/// The end of what the slot waits for wakes the device's thread.
void LaunchSlot::watch() {
    state_.awaited()->then([signal = slots_.signal()](const ErrorPtr&) { signal->notify(); });
    slots_.stay_awake_for(awake_beside_launch);
}

void LaunchSlot::inject(LaunchState::Injecting& launch) {
    Engine& engine = *engine_.get();
    try {
        TaskInjection injection(*job_, slots_, engine, held_, small_, submission_, metrics_);
        const bool stops = job_->stopping();
        if (!stops && injection.goes_on(launch)) return;
        if (stops) engine.request_pause();
    } catch (...) {
        failure_ = current_error();
        engine.request_pause();
    }
    end_injection();
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

} // namespace headrace
