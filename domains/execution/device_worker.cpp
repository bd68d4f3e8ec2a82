// domains/execution/device_worker.cpp - see device_worker.hpp.
#include "execution/device_place.hpp"
#include "execution/footprint.hpp"
#include <headrace/core/log.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace headrace {

namespace {

constexpr std::chrono::milliseconds short_task{5}; // longer ones do not notice what a launch costs
constexpr std::chrono::milliseconds before_stepping_aside{50}; // a place more costs time and queues
constexpr Bytes most_kept = 64 << 20;                          // of queues that no job uses
// Being told that a launch has ended, and waking up, take some hundred microseconds: those of which that is
// more than a hundredth are waited for awake, and so is the next job.
constexpr std::chrono::milliseconds awake_beside_launch{20};
constexpr std::chrono::microseconds awake_between_jobs{200}, glance{10}, between_rounds{1000};

EngineFigures engine_figures(const Engine& engine) {
    const EngineCounters counters = engine.counters();
    return {.launches = engine.launches(),
            .units = counters.units,
            .spawned = counters.spawned,
            .lane_turns = counters.rounds * engine.shape().lanes,
            .choice = {.lanes = engine.shape().lanes,
                       .groups = engine.shape().groups,
                       .refill_lanes = engine.shape().enough,
                       .inbox_units = engine.shape().liq_units,
                       .bundles = engine.bundles()}};
}

std::string task_name(const JobExecution& job, const Portion& portion) {
    return job.job().name() + " " + portion.text();
}

/// A task of given units may have any of the job's seeds behind them.
IndexRange seeds_of(const JobExecution& job, const Portion& portion) {
    return portion.units ? IndexRange{0, job.job().work_units()} : portion.range;
}

EngineFigures operator-(const EngineFigures& now, const EngineFigures& before) {
    return {.launches = now.launches - before.launches,
            .units = now.units - before.units,
            .spawned = now.spawned - before.spawned,
            .lane_turns = now.lane_turns - before.lane_turns,
            .choice = now.choice};
}

} // namespace

DeviceWorker::DeviceWorker(std::size_t number, std::unique_ptr<Device> device, ControllerOptions options,
                           unsigned window, Colleagues& colleagues)
    : number_(number),
      device_(std::move(device)),
      controller_(std::make_unique<Controller>(*device_, options)),
      window_(std::max(window, 1U)),
      colleagues_(colleagues) {
    while (places_.size() < window_) add_place();
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void DeviceWorker::add_place() {
    auto place = std::make_unique<Place>(bell_);
    place->stream = device_->make_stream(Timing::all); // reports and budgets take them
    places_.push_back(std::move(place));
}

void DeviceWorker::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    wake();
    thread_.join();
}

DeviceWorker::~DeviceWorker() {
    stop();
    for (const auto& weak : domains_) {
        const auto domain = weak.lock();
        if (domain) try {
                domain->forget(*controller_);
            } catch (...) {
                const ErrorPtr error = current_error();
                domain->drop_replica(*controller_, error); // or it would look for the controller later
                log_error(std::string("sums are lost with their device: ") + error->what());
            }
    }
}

ErrorPtr DeviceWorker::retired() const {
    const std::scoped_lock lock(mutex_);
    return retired_;
}

void DeviceWorker::run(const std::stop_token& stop) {
    while (true) {
        bool open = false, hurried = false;
        make_up_for_tasks_that_let_others_in();
        for (const auto& place : places_) {
            if (place->job && place->event.done()) {
                if (place->waits_to)
                    with_room(*place, place->waits_to);
                else
                    settle(*place);
            }
            if (place->engine_job && !place->job && place->engine_job->event().done())
                put_engine_aside(*place);
            // A task that waits for room waits for other tasks to end. No task starts before it.
            if (!place->job && !retired() && !is_short_of_room() && tasks_at_work() < window_)
                start_a_task(*place);
            if (place->open)
                keep_fed(*place);
            else
                ask_to_pause(*place);
            open = open || place->open;
            hurried = hurried || (place->open && Clock::now() < place->look_closely_until);
        }
        tell_of_idleness();
        if (hurried)
            std::this_thread::yield(); // a sleep takes longer than what starves has to do
        else if (open)
            bell_->wait_for(look_period); // a launch that consumes seeds sends no signal
        else if (Clock::now() < awake_until_)
            stay_awake();
        else if (const auto next = looks_again()) // no signal says that time has passed
            bell_->wait_for(std::chrono::ceil<std::chrono::microseconds>(*next - Clock::now()));
        else
            bell_->wait();
        if (stop.stop_requested()) return;
    }
}

/// Looks at launches and at the signal alone: a round of the loop takes the locks of jobs. It ends after a
/// while, because a policy that refused the device may want it later.
void DeviceWorker::stay_awake() {
    Clock::time_point end = std::min(awake_until_, Clock::now() + between_rounds);
    if (const auto reserve = steps_in()) end = std::min(end, *reserve);
    const auto has_ended = [](const auto& place) { return place->job && place->event.done(); };
    while (Clock::now() < end && std::ranges::none_of(places_, has_ended))
        if (bell_->rings_within(glance)) return;
}

/// When this device is to step in as a reserve, at the latest, or may ask a launch to pause once more.
std::optional<DeviceWorker::Clock::time_point> DeviceWorker::looks_again() const {
    std::optional<Clock::time_point> first = steps_in();
    for (const auto& place : places_)
        if (place->job && place->asked_again > Clock::now())
            first = first ? std::min(*first, place->asked_again) : place->asked_again;
    return first;
}

/// When this device is to step in as a reserve, at the latest.
std::optional<DeviceWorker::Clock::time_point> DeviceWorker::steps_in() const {
    std::optional<Clock::time_point> first;
    for (const auto& job : colleagues_.running())
        if (const auto when = job->steps_in(number_)) first = std::min(first.value_or(*when), *when);
    return first;
}

/// To make queues takes as long as some jobs do. Large ones are not kept.
void DeviceWorker::put_engine_aside(Place& place) {
    if (place.engine && place.engine->queue_memory() <= most_kept) {
        place.kept = std::move(place.engine);
        place.kept_tuning = place.engine_job->job().tuning();
        place.kept_kernel = place.engine_job->kernel();
    }
    place.engine.reset();
    place.engine_job.reset();
}

DeviceWorker::Held DeviceWorker::hold(const JobExecution& job, const Portion& portion) const {
    return {.portion = portion,
            .task = std::make_unique<Task>(task_name(job, portion), seeds_of(job, portion), *device_)};
}

/// Those that hold the device.
std::size_t DeviceWorker::tasks_at_work() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        places_, [](const auto& place) { return place->job && !place->lets_others_in(); }));
}

/// A host function that waits for a job may wait for what this device has to do, and so may a job that is
/// behind long tasks: there is a place for it beside them.
void DeviceWorker::make_up_for_tasks_that_let_others_in() {
    const auto is_beside = [](const auto& place) { return place->job && place->lets_others_in(); };
    const auto beside = static_cast<std::size_t>(std::ranges::count_if(places_, is_beside));
    while (places_.size() < window_ + beside) add_place();
}

/// What was given to this device comes first: it waits for nothing else.
void DeviceWorker::start_a_task(Place& place) {
    auto jobs = colleagues_.by_turn();
    // Another task of a job whose tasks wait would wait as well, and so on without end; and where tasks let
    // others in, the place is for those.
    std::erase_if(jobs, [&](const auto& job) {
        return std::ranges::any_of(
            places_, [&](const auto& other) { return other->job == job && other->lets_others_in(); });
    });
    for (const auto& job : jobs)
        if (const auto portion = job->next_given(number_)) {
            prepare_for(place, job, *portion);
            place.short_units = 0; // from a fed launch nothing could come back
            return start(place, job, *portion);
        }
    for (const auto& job : jobs) {
        // What a launch that wants more can take goes there.
        if (std::ranges::any_of(places_,
                                [&](const auto& other) { return other->wanting && other->job == job; }))
            return;
        if (const auto range = job->next(number_)) {
            prepare_for(place, job, *range);
            return start(place, job, *range);
        }
    }
}

void DeviceWorker::prepare_for(Place& place, const std::shared_ptr<JobExecution>& job,
                               const Portion& first) const {
    if (place.engine_job == job) return;
    place.engine.reset();
    place.engine_job = job;
    place.kernels_differ = false;
    place.in_windows = !fits_whole(job->job(), device_->info());
    expect(place, *job, first);
}

void DeviceWorker::start(Place& place, const std::shared_ptr<JobExecution>& job, const Portion& portion) {
    if (std::exchange(told_idle_, false)) tell_of_idleness(false); // at once: to begin may take long
    for (const auto& other : places_)
        if (other->open && other->job != job) make_way(*other);
    place.job = job;
    place.begun_with = Clock::now();
    place.figures = {};
    place.held.push_back(hold(*job, portion));
    with_room(place, &DeviceWorker::begin);
}

/// Others give to those that have nothing to do at all.
void DeviceWorker::tell_of_idleness() {
    const auto is_free = [](const auto& place) { return place->job == nullptr; };
    const bool idle = !retired() && std::ranges::all_of(places_, is_free);
    if (idle || told_idle_) tell_of_idleness(idle);
    if (idle && !told_idle_ && !colleagues_.running().empty()) stay_awake_for(awake_for_exchange);
    told_idle_ = idle;
}

void DeviceWorker::tell_of_idleness(bool idle) {
    bool wakes = false;
    for (const auto& job : colleagues_.running()) wakes = job->idle(number_, idle) || wakes;
    if (wakes) colleagues_.wake_all();
}

/// It may have a replica here from now on.
void DeviceWorker::note(const std::shared_ptr<DomainData>& domain) {
    const auto is_it = [&](const auto& known) {
        return !known.owner_before(domain) && !domain.owner_before(known);
    };
    if (std::ranges::any_of(domains_, is_it)) return;
    std::erase_if(domains_, [](const auto& known) { return known.expired(); });
    domains_.push_back(domain);
}

/// Binds the task's views to this device's memory.
DeviceWorker::Inputs DeviceWorker::bind(Place& place, Held& held) {
    Inputs inputs;
    Task& task = *held.task;
    task.unbind(); // when there was not enough room before
    const IndexRange range = seeds_of(*place.job, held.portion);
    for (const Job::Use& use : place.job->job().uses()) {
        DomainData& data = *use.slice.data;
        note(use.slice.data);
        if (use.joining) {
            const auto replica = data.replica(*use.joining, *controller_, *place.stream);
            inputs.replicas.push_back(replica.ready);
            task.bind({&data, use.access, use.joining, replica.memory, 0});
            continue;
        }
        const IndexRange part = elements_of(use, range);
        if (part.empty()) { // the kernel touches nothing of it
            task.bind({&data, use.access, nullptr, &controller_->memory(data.storage()), 0, part});
            continue;
        }
        const Bytes begin = part.begin * data.element_size(), end = part.end * data.element_size();
        const Tile tile = data.storage().tile(begin, end);
        inputs.uses.push_back({tile, place.job->access_of(use)});
        if (!place.in_windows) {
            task.bind({&data, use.access, nullptr, &controller_->memory(data.storage()), 0, part});
            continue;
        }
        const Controller::Window window = controller_->window(tile);
        task.bind({&data, use.access, nullptr, &window.memory, window.begin, part});
    }
    return inputs;
}

/// Has `start` called with what the task must wait for; returns what it returned. If an input has failed it
/// is not called; the event then says so.
Event DeviceWorker::submit(Place& place, Held& held, const Inputs& inputs,
                           const std::function<Event(std::span<const Event>)>& start) {
    std::optional<Event> started;
    const Traffic before = controller_->traffic();
    const Event submitted =
        controller_->submit(held.task->name(), inputs.uses,
                            [&](std::span<const Event> after) {
                                std::vector<Event> ready(after.begin(), after.end());
                                ready.insert(ready.end(), inputs.replicas.begin(), inputs.replicas.end());
                                if (place.check) ready = {place.check->fill(ready)};
                                started = start(ready);
                                return held.done.event();
                            },
                            {.unit = "tasks", .part_of = place.job->span()});
    const Traffic after = controller_->traffic(); // near enough: jobs that overlap may share the difference
    place.figures.bytes_in += after.in - before.in;
    place.figures.bytes_out += after.out - before.out;
    return started.value_or(submitted);
}

/// The first task of a launch.
void DeviceWorker::begin(Place& place) {
    const TaskScope inside(*place.job->node(), TaskScope::Code::hook_or_bind);
    const Job& job = place.job->job();
    Held& first = place.held.front();
    while (place.in_windows &&
           footprint(job, device_->info(), first.portion.range, true) > most_in_windows(device_->info()) &&
           halve(place)) {
    }
    Task& task = *first.task;
    place.check.reset(); // of a try for which there was no room
    const Inputs inputs = bind(place, first);
    if (is_checked_mode() && !place.in_windows && !first.portion.units) // windows have no room for more
        place.check =
            std::make_unique<CheckedTask>(task, job, first.portion.range, *controller_, *place.stream);
    const KernelVariant& variant = *job.variant(device_->info().technology);
    if (!variant.bind) {
        tell_hook(job.before_tasks(), {first.portion}, {});
        place.event = submit(place, first, inputs, [&](std::span<const Event> ready) {
            tell_of_launch(place, first, {ready.begin(), ready.end()});
            return call_host_function(place, ready);
        });
        return;
    }
    auto kernel = variant.bind(task);
    if (place.engine) {
        place.engine->rebind(std::move(kernel));
    } else if (place.kept && place.kept_tuning == job.tuning()) {
        place.engine = std::move(place.kept);
        if (place.kept_kernel.is_within(2, place.job->kernel()))
            place.engine->rebind(std::move(kernel)); // its launches need not feel their way once more
        else
            place.engine->renew(std::move(kernel));
    } else {
        place.kept.reset(); // before the new one: there may not be room for both
        place.engine = std::make_unique<Engine>(*device_, *place.stream, std::move(kernel), job.tuning());
    }
    place.engine->aim_at(launch_time(*place.job));
    place.engine_before = engine_figures(*place.engine);
    const auto& units = first.portion.units;
    if (units && place.engine->room() > 0)
        if (const std::uint64_t room = place.engine->room(*units); units->size() > room) {
            first.portion = place.job->keep(number_, first.portion, room);
            colleagues_.wake_all(); // others may take the rest
        }
    const bool opens = is_for_feeding(place, first.portion) && !units && !place.kernels_differ &&
                       !place.in_windows && !place.check && place.engine->hears_host();
    place.engine->reserve(opens);
    tell_hook(job.before_tasks(), {first.portion}, {}); // all that it needs is there
    place.event = submit(place, first, inputs, [&](std::span<const Event> ready) {
        tell_of_launch(place, first, {ready.begin(), ready.end()});
        if (opens) return open(place, ready);
        if (units) return place.engine->start(*units, ready);
        return place.engine->start(first.portion.range.begin, first.portion.range.end, ready);
    });
}

Event DeviceWorker::call_host_function(Place& place, std::span<const Event> ready) {
    return place.stream->launch(
        [this, &place](const NativeStream& stream) {
            const TaskScope on_stream(*place.job->node(), place);
            place.job->job()
                .variant(device_->info().technology)
                ->host_function(*place.held.front().task, stream);
        },
        ready);
}

/// A task that has run, in checked mode. Blocks.
void DeviceWorker::check(Place& place) {
    const IndexRange range = place.held.front().portion.range;
    const auto run_again = [&] {
        Task& task = *place.held.front().task;
        const KernelVariant& variant = *place.job->job().variant(device_->info().technology);
        if (!variant.bind) return call_host_function(place, {}).wait();
        place.engine->rebind(variant.bind(task));
        place.engine->start(range.begin, range.end).wait();
        while (place.engine->collect() == Engine::State::parked) place.engine->resume().wait();
    };
    place.check->check(
        range, run_again,
        [&](const Job::Use& use, IndexRange part, const std::vector<bool>& written,
            std::span<const std::byte> contents) { place.job->note_written(use, part, written, contents); });
    place.check.reset();
}

void DeviceWorker::tell_hook(const TaskHook& hook, const std::vector<Portion>& portions,
                             const TaskFigures& figures) const {
    if (!hook) return;
    std::vector<IndexRange> ranges;
    std::uint64_t units = 0;
    for (const Portion& portion : portions) {
        units += portion.work_units();
        if (!portion.units) ranges.push_back(portion.range);
    }
    BusyTime busy;
    for (const EventTimes& launch : figures.launches) busy.add(launch);
    const double seconds = std::chrono::duration<double>(busy.total()).count();
    hook({.device = device_->info().id,
          .ranges = ranges,
          .seconds = seconds,
          .units_per_second = seconds > 0 ? static_cast<double>(units) / seconds : 0,
          .bytes_in = figures.bytes_in,
          .bytes_out = figures.bytes_out});
}

/// A launch is enqueued with this task, behind `inputs`.
void DeviceWorker::tell_of_launch(const Place& place, const Held& held, std::vector<Event> inputs) {
    const Portion& portion = held.portion;
    std::erase_if(inputs, [](const Event& event) { return event.done(); });
    place.job->launched(number_, portion, portion.range.size(), inputs.size());
    if (!inputs.empty())
        Event::all(inputs).then([job = place.job, number = number_, portion](const ErrorPtr&) {
            job->inputs_came(number, portion);
        });
}

void DeviceWorker::watch(Place& place) {
    place.asked_to_pause = false;
    place.event.then([bell = bell_](const ErrorPtr&) { bell->ring(); });
    stay_awake_for(awake_beside_launch);
}

/// A processor has better things to do.
void DeviceWorker::stay_awake_for(Clock::duration time) {
    if (device_->info().kind != DeviceKind::cpu) awake_until_ = Clock::now() + time;
}

void DeviceWorker::settle(Place& place) {
    const auto job = place.job; // which hooks may not wait for
    const TaskScope inside(*job->node(), TaskScope::Code::hook_or_bind);
    ErrorPtr error = place.event.outcome();
    if (!error && place.engine) {
        try {
            const bool parked = place.engine->collect() == Engine::State::parked;
            if (place.failure) {
                error = place.failure;
            } else if (parked && place.job->stopping()) {
                error = std::make_shared<const Error>(ErrorKind::cancelled, "the job was stopped");
            } else if (parked) {
                tell_of_pause(place);
                const bool makes_way = another_is_more_urgent(place) || has_no_place_for_next();
                const bool gave_up = makes_way && give_up_seeds(place);
                place.steps_aside =
                    makes_way && !gave_up && Clock::now() - place.begun_with > before_stepping_aside;
                if (!gave_up || place.engine->remaining() > 0) {
                    if (place.steps_aside) wake(); // there is a place to be filled
                    share_work(place);
                    place.engine->aim_at(launch_time(*place.job));
                    return with_room(place, &DeviceWorker::resume);
                }
            }
        } catch (...) {
            error = current_error();
        }
    }
    if (!error && place.check) try {
            check(place);
        } catch (...) {
            error = current_error();
        }
    if (error) return fail(place, error);

    if (place.engine) {
        place.figures.engine = engine_figures(*place.engine) - place.engine_before;
        const auto launches = place.engine->launch_times();
        place.figures.launches.assign(launches.begin(), launches.end());
    } else if (const auto times = place.event.times()) {
        place.figures.launches = {*times};
    }
    const auto& launches = place.figures.launches;
    // Others than those that were fed are still waiting.
    const std::size_t ended = place.fed > 0 ? place.fed : place.held.size();
    learn_length(place, ended);
    std::vector<Portion> portions;
    for (std::size_t i = 0; i < ended; ++i) {
        Held& one = place.held[i];
        if (launches.empty())
            one.done.complete();
        else
            one.done.complete({launches.front().begin, launches.back().end}); // for traces
        portions.push_back(one.portion);
    }
    place.held.erase(place.held.begin(), place.held.begin() + static_cast<std::ptrdiff_t>(ended));
    const TaskFigures figures = std::exchange(place.figures, {});
    try {
        tell_hook(place.job->job().after_tasks(), portions, figures);
    } catch (...) {
        place.job->stop(current_error());
    }
    place.job->finished(number_, portions, figures);
    // The job has work again for devices that got none before.
    if (place.job->has_returns()) colleagues_.wake_all();
    if (!place.held.empty()) return go_on(place);
    place.forget_launch();
    place.job.reset();
    if (std::ranges::all_of(places_, [](const auto& one) { return one->job == nullptr; }))
        stay_awake_for(awake_between_jobs);
    wake(); // this place is free
}

/// Of the tasks of the place's job, by those that have ended. Some of them may have lost their ends to
/// others, so what counts is what a unit takes.
void DeviceWorker::learn_length(Place& place, std::size_t ended) {
    const auto took = std::max<Clock::duration>(sum(place.figures.launches), std::chrono::nanoseconds(1));
    const std::uint64_t tasks = place.tasks(0, ended);
    const auto units = static_cast<double>(place.units(0, ended));
    if (took < short_task * tasks) {
        place.most_ahead = TasksAhead::most;
        place.short_units = units * (std::chrono::duration<double>(short_task) / took);
    } else {
        place.most_ahead = place.fill_lanes(0, ended);
        place.short_units = place.most_ahead >= 2 ? units / static_cast<double>(tasks) : 0;
    }
}

/// With those that were held for a launch that did not wait for them.
void DeviceWorker::go_on(Place& place) {
    try {
        const Event ready = std::exchange(place.held.front().ready, {});
        tell_of_launch(place, place.held.front(), {ready});
        place.engine_before = engine_figures(*place.engine);
        place.event = open(place, std::array{ready});
        watch(place);
    } catch (...) {
        fail(place, current_error());
    }
}

void DeviceWorker::fail(Place& place, ErrorPtr error) {
    std::string task = task_name(*place.job, place.held.front().portion);
    if (place.held.size() > 1) task += " and " + std::to_string(place.held.size() - 1) + " more";
    auto told = std::make_shared<Error>(*error);
    told->on_device(device_->info().id).in_job(place.job->job().name()).in_task(task);
    // An input that another device lost is no fault of this one.
    const bool ours = error->device().empty() || error->device() == device_->info().id;
    if (error->kind() == ErrorKind::device && ours) {
        retire(told);
    } else {
        for (Held& one : place.held) one.done.fail(told);
        place.engine.reset();
        const auto portions = place.portions();
        place.forget_launch();
        const auto job = std::exchange(place.job, nullptr);
        for (const Portion& portion : portions)
            job->abandoned(number_, portion, job->stopping() ? nullptr : ErrorPtr(told));
        wake();
    }
}

/// Nothing may be freed under a launch that has not noticed yet. It may be waiting for what another one of
/// ours has promised, by way of another device's even, and that one may have ended.
void DeviceWorker::end_launches(const ErrorPtr& error) {
    std::vector<Place*> left;
    for (const auto& place : places_) {
        if (place->open) place->engine->request_park();
        if (place->job) left.push_back(place.get());
    }
    while (!left.empty()) {
        std::erase_if(left, [&](Place* place) {
            if (!place->waits_to && !place->event.done()) return false;
            for (Held& one : place->held) one.done.fail(error);
            return true;
        });
        if (!left.empty()) static_cast<void>(left.front()->event.wait_for(std::chrono::milliseconds(1)));
    }
}

void DeviceWorker::retire(const ErrorPtr& error) {
    {
        const std::scoped_lock lock(mutex_);
        retired_ = error;
    }
    log_error("device " + device_->info().id + " is used no more: " + error->what());
    end_launches(error);
    // Sums that this device holds are gone with it; jobs that are still running compute theirs again, so that
    // none of them may end in between.
    const auto jobs = colleagues_.unfinished();
    for (const auto& job : jobs) job->hold_for(number_);
    for (const auto& weak : domains_)
        if (const auto domain = weak.lock()) domain->drop_replica(*controller_, error);
    std::vector<std::pair<std::shared_ptr<JobExecution>, Portion>> lost;
    for (const auto& place : places_) {
        if (!place->job) continue;
        place->engine.reset();
        for (const Portion& portion : place->portions()) lost.emplace_back(place->job, portion);
        place->forget_launch();
        place->job.reset();
    }
    for (const auto& job : jobs) {
        std::vector<Portion> portions;
        for (const auto& [of, portion] : lost)
            if (of == job) portions.push_back(portion);
        job->retire(number_, error, portions);
    }
    colleagues_.wake_all(); // for what they have to do again
}

} // namespace headrace
