// domains/device_worker.cpp - see device_worker.hpp.
#include <headrace/core/log.hpp>
#include <headrace/domains/device_worker.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace headrace {

/// One place in the window, with the stream and engines that launches here use one after another: at most one
/// launch, of one task, or fed with many of one job.
struct DeviceWorker::Place {
    std::unique_ptr<Stream> stream;
    std::shared_ptr<JobExecution> job;        ///< null: free
    std::vector<Held> held;                   ///< the first began the launch
    std::shared_ptr<JobExecution> engine_job; ///< whose tasks `engine` was made for
    std::unique_ptr<Engine> engine;           ///< null for host functions
    std::unique_ptr<Engine> kept; ///< of a job that has ended, for the next one that is tuned alike
    EngineOptions kept_tuning;
    Event event; ///< of the launch in flight
    TaskFigures figures;
    EngineFigures engine_before; ///< an engine counts over all its tasks

    bool short_tasks = false;    ///< so far: the next launch is to be fed
    bool kernels_differ = false; ///< from task to task: none is to be fed

    bool open = false;     ///< the launch can be fed
    bool wanting = false;  ///< it is to get tasks beside those that are held
    std::size_t fed = 0;   ///< of `held`; the others wait for their inputs
    std::size_t begun = 0; ///< of `held`: the launch does not want for work because of these
    std::size_t ahead = 1; ///< so many should be held that are not begun
    std::chrono::steady_clock::time_point opened;
    ErrorPtr failure; ///< of a task that could not be fed

    [[nodiscard]] std::vector<Portion> portions() const {
        std::vector<Portion> portions;
        for (const Held& one : held) portions.push_back(one.portion);
        return portions;
    }
    void forget_launch() {
        held.clear();
        open = wanting = false;
        fed = begun = 0;
        failure = nullptr;
    }
};

namespace {

constexpr std::chrono::milliseconds short_task{5};    // longer ones do not notice what a launch costs
constexpr std::chrono::microseconds look_period{100}; // at what an open launch has begun with
constexpr std::size_t most_ahead = 4096;              // tasks: the host makes some hundreds in a period
constexpr Bytes most_kept = 64 << 20;                 // of queues that no job uses

EngineFigures engine_figures(const Engine& engine) {
    const EngineCounters counters = engine.counters();
    return {.launches = engine.launches(),
            .units = counters.units,
            .spawned = counters.spawned,
            .lane_turns = counters.rounds * engine.shape().lanes,
            .choice = {.lanes = engine.shape().lanes,
                       .groups = engine.shape().groups,
                       .groups_apart = engine.shape().groups_apart,
                       .refill_lanes = engine.shape().enough,
                       .inbox_units = engine.shape().liq_units,
                       .bundles = engine.bundles()}};
}

std::string task_name(const JobExecution& job, const Portion& portion) {
    return job.job().name() + " " + portion.text();
}

/// How long they took.
std::chrono::steady_clock::duration sum(std::span<const EventTimes> launches) {
    std::chrono::steady_clock::duration sum{0};
    for (const EventTimes& launch : launches) sum += launch.end - launch.begin;
    return sum;
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
      colleagues_(colleagues) {
    for (unsigned i = 0; i < std::max(window, 1U); ++i) {
        places_.push_back(std::make_unique<Place>());
        places_.back()->stream = device_->make_stream(Timing::all); // reports and budgets take them
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

DeviceWorker::~DeviceWorker() {
    thread_.request_stop();
    wake();
    thread_.join();
    for (const auto& weak : domains_) try {
            if (const auto domain = weak.lock()) domain->forget(*controller_);
        } catch (const Error& error) {
            log_error(std::string("sums are lost with their device: ") +
                      error.what()); // a destructor has nobody to tell
        }
}

ErrorPtr DeviceWorker::retired() const {
    const std::scoped_lock lock(mutex_);
    return retired_;
}

void DeviceWorker::run(const std::stop_token& stop) {
    while (true) {
        bool open = false;
        for (const auto& place : places_) {
            if (place->job && place->event.done()) settle(*place);
            if (place->engine_job && !place->job && place->engine_job->event().done())
                put_engine_aside(*place);
            if (!place->job && !retired()) start_a_task(*place);
            if (place->open) keep_fed(*place);
            open = open || place->open;
        }
        tell_of_idleness();
        if (open)
            bell_->wait_for(look_period); // who consumes seeds rings no bell
        else
            bell_->wait();
        if (stop.stop_requested()) return;
    }
}

/// To make queues takes as long as some jobs do. Large ones are not kept.
void DeviceWorker::put_engine_aside(Place& place) {
    if (place.engine && place.engine->queue_memory() <= most_kept) {
        place.kept = std::move(place.engine);
        place.kept_tuning = place.engine_job->job().tuning();
    }
    place.engine.reset();
    place.engine_job.reset();
}

/// A task of given units may have any of the job's seeds behind them.
DeviceWorker::Held DeviceWorker::hold(const JobExecution& job, const Portion& portion) const {
    const IndexRange range = portion.units ? IndexRange{0, job.job().work_units()} : portion.range;
    return {.portion = portion, .task = std::make_unique<Task>(task_name(job, portion), range, *device_)};
}

/// What was given to this device comes first: it waits for nobody else.
void DeviceWorker::start_a_task(Place& place) {
    const auto jobs = colleagues_.unfinished();
    for (const auto& job : jobs)
        if (const auto portion = job->next_given(number_)) {
            place.short_tasks = false; // from a fed launch nothing could come back
            return start(place, job, *portion);
        }
    for (const auto& job : jobs) {
        // What a launch that wants more can take goes there.
        if (std::ranges::any_of(places_,
                                [&](const auto& other) { return other->wanting && other->job == job; }))
            return;
        if (const auto range = job->next(number_)) return start(place, job, *range);
    }
}

void DeviceWorker::start(Place& place, const std::shared_ptr<JobExecution>& job, const Portion& portion) {
    if (std::exchange(told_idle_, false)) tell_of_idleness(false); // at once: to begin may take long
    for (const auto& other : places_)
        if (other->open && other->job != job) make_way(*other);
    if (place.engine_job != job) {
        place.engine.reset();
        place.short_tasks = place.kernels_differ = false;
        place.ahead = 1;
    }
    place.engine_job = job;
    place.job = job;
    place.figures = {};
    place.held.push_back(hold(*job, portion));
    try {
        begin(place);
        watch(place);
    } catch (...) {
        fail(place, current_error());
    }
}

/// Others give to those that have nothing to do at all.
void DeviceWorker::tell_of_idleness() {
    const auto is_free = [](const auto& place) { return place->job == nullptr; };
    const bool idle = !retired() && std::ranges::all_of(places_, is_free);
    if (idle || told_idle_) tell_of_idleness(idle);
    told_idle_ = idle;
}

void DeviceWorker::tell_of_idleness(bool idle) {
    bool wakes = false;
    for (const auto& job : colleagues_.unfinished()) wakes = job->idle(number_, idle) || wakes;
    if (wakes) colleagues_.wake_all();
}

/// Binds the task's views to this device's memory.
DeviceWorker::Inputs DeviceWorker::bind(Place& place, Task& task) {
    Inputs inputs;
    for (const Job::Use& use : place.job->job().uses()) {
        DomainData& data = *use.slice.data;
        if (std::ranges::none_of(domains_, [&](const auto& known) { return known.lock() == use.slice.data; }))
            domains_.push_back(use.slice.data);
        if (use.access == Access::accumulate) {
            const auto accumulator = data.accumulator(*controller_, *place.stream);
            inputs.zeroed.push_back(accumulator.zeroed);
            task.bind({&data, use.access, accumulator.memory});
            continue;
        }
        const std::uint64_t elements = data.extent().size();
        const IndexRange part = use.slice.part ? use.slice.part(task.range()) : IndexRange{0, elements};
        if (part.end > elements || part.begin > part.end)
            throw Error{ErrorKind::invalid_argument, "the partition callback of domain '" + data.name() +
                                                         "' names elements beyond its end"};
        const Bytes size = data.element_size();
        for (Tile* tile : data.storage().tiles(part.begin * size, part.end * size))
            inputs.uses.push_back({*tile, use.access});
        task.bind({&data, use.access, &controller_->memory(data.storage())});
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
        controller_->submit(held.task->name(), inputs.uses, [&](std::span<const Event> after) {
            std::vector<Event> ready(after.begin(), after.end());
            ready.insert(ready.end(), inputs.zeroed.begin(), inputs.zeroed.end());
            started = start(ready);
            return held.done.event();
        });
    const Traffic after = controller_->traffic(); // near enough: jobs that overlap may share the difference
    place.figures.bytes_in += after.in - before.in;
    place.figures.bytes_out += after.out - before.out;
    return started.value_or(submitted);
}

/// The first task of a launch.
void DeviceWorker::begin(Place& place) {
    const Job& job = place.job->job();
    Held& first = place.held.front();
    Task& task = *first.task;
    const Inputs inputs = bind(place, task);
    const KernelVariant& variant = *job.variant(device_->info().technology);
    if (!variant.bind) {
        place.event = submit(place, first, inputs, [&](std::span<const Event> ready) {
            tell_of_launch(place, first, {ready.begin(), ready.end()});
            return place.stream->launch(
                [&task, &variant](const NativeStream& stream) { variant.host_function(task, stream); },
                ready);
        });
        return;
    }
    auto kernel = variant.bind(task);
    if (place.engine) {
        place.engine->rebind(std::move(kernel));
    } else if (place.kept && place.kept_tuning == job.tuning()) {
        place.engine = std::move(place.kept);
        place.engine->renew(std::move(kernel));
    } else {
        place.kept.reset(); // before the new one: there may not be room for both
        place.engine = std::make_unique<Engine>(*device_, *place.stream, std::move(kernel), job.tuning());
    }
    place.engine_before = engine_figures(*place.engine);
    const auto& units = first.portion.units;
    if (const std::uint64_t room = place.engine->room(); units && units->size() > room && room > 0) {
        first.portion = place.job->keep(number_, first.portion, room);
        colleagues_.wake_all(); // others may take the rest
    }
    const bool opens = !units && place.short_tasks && !place.kernels_differ && place.engine->can_feed();
    place.event = submit(place, first, inputs, [&](std::span<const Event> ready) {
        tell_of_launch(place, first, {ready.begin(), ready.end()});
        if (opens) return open(place, ready);
        if (units) return place.engine->start(*units, ready);
        return place.engine->start(first.portion.range.begin, first.portion.range.end, ready);
    });
}

/// A launch that the first task's inputs gate, so that one may be fed at once.
Event DeviceWorker::open(Place& place, std::span<const Event> ready) {
    place.open = place.wanting = true;
    place.fed = place.begun = 0;
    place.opened = std::chrono::steady_clock::now();
    return place.engine->open(ready);
}

/// Another task of the job for the launch that is open. False if there is none for it.
bool DeviceWorker::hold_another(Place& place) {
    const auto range = place.job->next(number_);
    if (!range) return false;
    Held& next = place.held.emplace_back(hold(*place.job, *range));
    const Inputs inputs = bind(place, *next.task);
    const auto kernel = place.job->job().variant(device_->info().technology)->bind(*next.task);
    if (!place.engine->runs(*kernel)) {
        place.kernels_differ = true;
        place.held.pop_back();
        place.job->abandoned(number_, *range, nullptr); // it gets a launch of its own
        return false;
    }
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
        while (place.begun < place.fed && place.held[place.begun].upto <= begun) ++place.begun;
        if (place.begun == place.held.size()) place.ahead = std::min(2 * place.ahead, most_ahead);
        if (std::chrono::steady_clock::now() - place.opened > place.job->job().tuning().launch_time)
            place.wanting = false;
        feed(place);
        while (place.wanting && place.held.size() - place.begun < place.ahead) {
            place.wanting = hold_another(place);
            feed(place);
        }
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
    place.event.then([bell = bell_](const ErrorPtr&) { bell->ring(); });
}

void DeviceWorker::settle(Place& place) {
    ErrorPtr error = place.event.outcome();
    if (!error && place.engine) {
        try {
            const bool parked = place.engine->collect() == Engine::State::parked;
            if (place.failure) {
                error = place.failure;
            } else if (parked && place.job->stopping()) {
                error = std::make_shared<const Error>(ErrorKind::cancelled, "the job was stopped");
            } else if (parked) {
                share_work(place);
                place.event = place.engine->resume();
                for (const Held& one : place.held)
                    place.job->launched(number_, one.portion, place.engine->remaining());
                watch(place);
                return;
            }
        } catch (...) {
            error = current_error();
        }
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
    place.short_tasks = sum(launches) < short_task * ended;
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
    place.job->finished(number_, portions, std::exchange(place.figures, {}));
    if (!place.held.empty()) return go_on(place);
    place.forget_launch();
    place.job.reset();
    wake(); // this place is free
}

/// A parked launch has the time to give others some of what it has not begun: seeds, or else units.
void DeviceWorker::share_work(Place& place) {
    const auto busy = sum(place.engine->launch_times());
    if (give_seeds(place, busy) || give_units(place, busy)) colleagues_.wake_all();
}

/// Seeds that no lane group has claimed are as good as a range that nobody was given.
bool DeviceWorker::give_seeds(Place& place, Clock::duration busy) {
    Engine& engine = *place.engine;
    const SeedRange unclaimed = engine.unclaimed();
    if (unclaimed.empty()) return false;
    const auto left = static_cast<double>(unclaimed.end - unclaimed.next);
    const auto claimed = static_cast<double>(unclaimed.next - place.held.front().portion.range.begin);
    if (busy < short_task || busy * left < short_task * claimed) return false; // it may soon be done
    IndexRange& range = place.held.front().portion.range;
    const std::uint64_t cut = place.job->give_back(number_, range, unclaimed.next, engine.shape().lanes);
    if (cut == range.end) return false;
    engine.give_back(cut);
    range.end = cut;
    return true;
}

/// What springs from a unit nobody knows. A task that has taken a launch's time may be expected to take
/// another, which whoever is given too much needs to give it back.
bool DeviceWorker::give_units(Place& place, Clock::duration busy) {
    if (busy < place.job->job().tuning().launch_time) return false;
    Engine& engine = *place.engine;
    const std::uint64_t left = engine.remaining();
    const JobExecution::Appetite appetite = place.job->appetite(number_, engine.shape().lanes, left);
    if (appetite.share == 0) return false;
    const auto most = static_cast<double>(appetite.most / (4 * engine.shape().unit_words));
    const double share = std::min(appetite.share, most / static_cast<double>(left));
    UnitBatch units = engine.give(share, appetite.least);
    if (units.size() == 0) return false;
    place.job->give(number_, std::move(units));
    return true;
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

void DeviceWorker::retire(const ErrorPtr& error) {
    {
        const std::scoped_lock lock(mutex_);
        retired_ = error;
    }
    log_error("device " + device_->info().id + " is used no more: " + error->what());
    // Nothing may be freed under a launch that has not noticed yet.
    for (const auto& place : places_) {
        if (place->open) place->engine->request_park();
        if (place->job) static_cast<void>(place->event.outcome());
    }
    // Sums that this device holds are gone with it; jobs that are still running compute theirs again.
    for (const auto& weak : domains_)
        if (const auto domain = weak.lock()) domain->drop_replica(*controller_, error);
    std::vector<std::pair<std::shared_ptr<JobExecution>, Portion>> lost;
    for (const auto& place : places_) {
        if (!place->job) continue;
        for (Held& one : place->held) one.done.fail(error);
        place->engine.reset();
        for (const Portion& portion : place->portions()) lost.emplace_back(place->job, portion);
        place->forget_launch();
        place->job.reset();
    }
    for (const auto& job : colleagues_.unfinished()) {
        std::vector<Portion> portions;
        for (const auto& [of, portion] : lost)
            if (of == job) portions.push_back(portion);
        job->retire(number_, error, portions);
    }
    colleagues_.wake_all(); // for what they have to do again
}

} // namespace headrace
