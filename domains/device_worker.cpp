// domains/device_worker.cpp - see device_worker.hpp.
#include <headrace/core/log.hpp>
#include <headrace/domains/device_worker.hpp>
#include <headrace/domains/footprint.hpp>

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
    Event event;             ///< of the launch in flight, or of what makes room
    Step waits_to = nullptr; ///< what it does when there is room; null: it does not wait for any
    TaskFigures figures;
    EngineFigures engine_before; ///< an engine counts over all its tasks

    bool in_windows = false;     ///< the job has data that the device cannot hold at once
    bool short_tasks = false;    ///< so far: the next launch is to be fed
    bool kernels_differ = false; ///< from task to task: none is to be fed

    bool open = false;       ///< the launch can be fed
    bool wanting = false;    ///< it is to get tasks beside those that are held
    std::size_t fed = 0;     ///< of `held`; the others wait for their inputs
    std::size_t begun = 0;   ///< of `held`: the launch does not want for work because of these
    std::uint64_t ahead = 1; ///< so many tasks should be held that are not begun
    std::chrono::steady_clock::time_point opened;
    ErrorPtr failure; ///< of a task that could not be fed

    [[nodiscard]] std::uint64_t tasks(std::size_t first, std::size_t last) const {
        std::uint64_t tasks = 0;
        for (; first < last; ++first) tasks += held[first].portion.tasks;
        return tasks;
    }
    [[nodiscard]] std::vector<Portion> portions() const {
        std::vector<Portion> portions;
        for (const Held& one : held) portions.push_back(one.portion);
        return portions;
    }
    void forget_launch() {
        held.clear();
        waits_to = nullptr;
        open = wanting = false;
        fed = begun = 0;
        failure = nullptr;
    }
};

namespace {

constexpr std::chrono::milliseconds short_task{5};    // longer ones do not notice what a launch costs
constexpr std::chrono::milliseconds worth_giving{1};  // of the giver's time: a share costs a launch
constexpr std::chrono::milliseconds pause_of_gpu{20}; // where others may want something: each costs a launch
constexpr std::chrono::milliseconds pause_of_cpu{5};  // slow devices keep others waiting longer
constexpr std::chrono::microseconds look_period{100}; // at what an open launch has begun with
constexpr std::uint64_t most_ahead = 16384;           // tasks: the host makes some thousands in a period
constexpr std::uint64_t growth_of_ahead = 4; // while the device has begun with all of them in a period
constexpr Bytes most_kept = 64 << 20;        // of queues that no job uses

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

/// A task of given units may have any of the job's seeds behind them.
IndexRange seeds_of(const JobExecution& job, const Portion& portion) {
    return portion.units ? IndexRange{0, job.job().work_units()} : portion.range;
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
            if (place->job && place->event.done()) {
                if (place->waits_to)
                    with_room(*place, place->waits_to);
                else
                    settle(*place);
            }
            if (place->engine_job && !place->job && place->engine_job->event().done())
                put_engine_aside(*place);
            // Who waits for room waits for others to end, and nobody gets before them.
            if (!place->job && !retired() && !is_short_of_room()) start_a_task(*place);
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

DeviceWorker::Held DeviceWorker::hold(const JobExecution& job, const Portion& portion) const {
    return {.portion = portion,
            .task = std::make_unique<Task>(task_name(job, portion), seeds_of(job, portion), *device_)};
}

/// What was given to this device comes first: it waits for nobody else.
void DeviceWorker::start_a_task(Place& place) {
    const auto jobs = colleagues_.by_turn();
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
        place.in_windows = !fits_whole(job->job(), device_->info());
        place.ahead = 1;
    }
    place.engine_job = job;
    place.job = job;
    place.figures = {};
    place.held.push_back(hold(*job, portion));
    with_room(place, &DeviceWorker::begin);
}

/// Takes the step, as often as the device is full and something can be freed at once; else the place waits
/// for what makes room, in which case it is taken again. A job that is stopped meanwhile does not get on.
void DeviceWorker::with_room(Place& place, Step step) {
    try {
        if (std::exchange(place.waits_to, nullptr)) {
            place.event.wait(); // throws why an image could not be brought to the host
            if (place.job->stopping()) throw Error{ErrorKind::cancelled, "the job was stopped"};
        }
        for (;;) try {
                (this->*step)(place);
                return watch(place);
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::out_of_memory || error.device() != device_->info().id) throw;
                try {
                    place.event = make_room(place, error);
                } catch (const Error&) {
                    if (step == &DeviceWorker::begin && makes_do_with_less(place)) continue;
                    throw;
                }
                if (place.event.done()) {
                    place.event.wait();
                    continue;
                }
                // Parked tasks keep their data: two of them could wait for each other.
                if (step == &DeviceWorker::resume && is_short_of_room()) throw;
                place.waits_to = step;
                for (const auto& other : places_) other->wanting = false;
                return watch(place);
            }
    } catch (...) {
        fail(place, current_error());
    }
}

/// As Controller::make_room, for a task that has begun or is to begin. Queues that no task uses go first.
Event DeviceWorker::make_room(const Place& place, const Error& lack) {
    for (const auto& other : places_) {
        if (!other->kept && (other->job || !other->engine)) continue;
        other->kept.reset();
        if (!other->job) {
            other->engine.reset();
            other->engine_job.reset();
        }
        return {};
    }
    const Task& task = *place.held.front().task;
    return controller_->make_room(lack, data_of(place.job->job(), task.range(), place.in_windows));
}

/// A task that is to begin needs less than it did.
bool DeviceWorker::makes_do_with_less(Place& place) {
    if (place.in_windows) return halve(place);
    return place.in_windows = can_use_windows(place.job->job(), device_->info());
}

/// A task that is not begun with goes back in part, as its job may be cut. False if that is not possible.
bool DeviceWorker::halve(Place& place) {
    Held& first = place.held.front();
    const IndexRange range = first.portion.range;
    if (first.portion.units) return false;
    const std::uint64_t cut = place.job->make_way(number_, range, range.begin + range.size() / 2);
    if (cut == range.end) return false;
    first = hold(*place.job, IndexRange{range.begin, cut});
    colleagues_.wake_all(); // others may have the rest
    return true;
}

bool DeviceWorker::is_short_of_room() const {
    return std::ranges::any_of(places_, [](const auto& place) { return place->waits_to != nullptr; });
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
    for (const auto& job : colleagues_.running()) wakes = job->idle(number_, idle) || wakes;
    if (wakes) colleagues_.wake_all();
}

/// Binds the task's views to this device's memory.
DeviceWorker::Inputs DeviceWorker::bind(Place& place, Held& held) {
    Inputs inputs;
    Task& task = *held.task;
    task.unbind(); // when there was not enough room before
    const IndexRange range = seeds_of(*place.job, held.portion);
    for (const Job::Use& use : place.job->job().uses()) {
        DomainData& data = *use.slice.data;
        if (std::ranges::none_of(domains_, [&](const auto& known) { return known.lock() == use.slice.data; }))
            domains_.push_back(use.slice.data);
        if (use.access == Access::accumulate) {
            const auto accumulator = data.accumulator(*controller_, *place.stream);
            inputs.zeroed.push_back(accumulator.zeroed);
            task.bind({&data, use.access, accumulator.memory, 0});
            continue;
        }
        const IndexRange part = elements_of(use, range);
        const Bytes begin = part.begin * data.element_size(), end = part.end * data.element_size();
        for (Tile* tile : data.storage().tiles(begin, end)) inputs.uses.push_back({*tile, use.access});
        if (!place.in_windows) {
            task.bind({&data, use.access, &controller_->memory(data.storage()), 0});
            continue;
        }
        const Controller::Window window = controller_->window({data.storage(), begin, end});
        task.bind({&data, use.access, &window.memory, window.begin});
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
                                ready.insert(ready.end(), inputs.zeroed.begin(), inputs.zeroed.end());
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
    const Job& job = place.job->job();
    Held& first = place.held.front();
    while (place.in_windows && footprint(job, first.portion.range, true) > most_in_windows(device_->info()) &&
           halve(place)) {
    }
    Task& task = *first.task;
    const Inputs inputs = bind(place, first);
    const KernelVariant& variant = *job.variant(device_->info().technology);
    if (!variant.bind) {
        tell_hook(job.before_tasks(), {first.portion}, {});
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
    place.engine->aim_at(launch_time(*place.job));
    place.engine_before = engine_figures(*place.engine);
    const auto& units = first.portion.units;
    if (const std::uint64_t room = place.engine->room(); units && units->size() > room && room > 0) {
        first.portion = place.job->keep(number_, first.portion, room);
        colleagues_.wake_all(); // others may take the rest
    }
    const bool opens =
        !units && place.short_tasks && !place.kernels_differ && !place.in_windows && place.engine->can_feed();
    place.engine->reserve(opens);
    tell_hook(job.before_tasks(), {first.portion}, {}); // all that it needs is there
    place.event = submit(place, first, inputs, [&](std::span<const Event> ready) {
        tell_of_launch(place, first, {ready.begin(), ready.end()});
        if (opens) return open(place, ready);
        if (units) return place.engine->start(*units, ready);
        return place.engine->start(first.portion.range.begin, first.portion.range.end, ready);
    });
}

/// A launch that the first task's inputs gate, so that one may be fed at once.
Event DeviceWorker::open(Place& place, std::span<const Event> ready) {
    Event opened = place.engine->open(ready); // may throw: then it is not
    place.open = true;
    place.wanting = !is_short_of_room();
    place.fed = place.begun = 0;
    place.opened = std::chrono::steady_clock::now();
    return opened;
}

/// How many of the job's tasks may be made one for the launch that is open: as many as one likes where each
/// would be bound as the others are, nobody asks to be told of each, and none has data to wait for. Half of
/// those that should be held, or there would be none while the next ones are made.
std::uint64_t DeviceWorker::most_at_once(const Place& place) const {
    const Job& job = place.job->job();
    const bool differ = !place.held.empty() && !place.held.back().task->hides_range();
    const bool move = job.moves_data() && !controller_->is_zero_copy();
    if (differ || move || job.before_tasks() || job.after_tasks()) return 1;
    return std::max<std::uint64_t>(1, place.ahead / 2);
}

/// Other tasks of the job, at most so many, for the launch that is open. False if there are none for it.
bool DeviceWorker::hold_more(Place& place, std::uint64_t tasks) {
    const auto range = place.job->next(number_, tasks);
    if (!range) return false;
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
        if (place.begun == place.held.size())
            place.ahead = std::min(growth_of_ahead * place.ahead, most_ahead);
        if (std::chrono::steady_clock::now() - place.opened > place.job->job().tuning().launch_time ||
            another_is_more_urgent(place))
            place.wanting = false;
        feed(place);
        while (place.wanting) {
            const std::uint64_t ahead = place.tasks(place.begun, place.held.size());
            if (ahead >= place.ahead) break;
            place.wanting = hold_more(place, std::min(place.ahead - ahead, most_at_once(place)));
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

/// A job of higher priority has work for this device.
bool DeviceWorker::another_is_more_urgent(const Place& place) const {
    const int mine = place.job->job().priority();
    const auto jobs = colleagues_.running();
    return std::ranges::any_of(
        jobs, [&](const auto& job) { return job->job().priority() > mine && job->wants(number_); });
}

/// What no lane group of a parked launch has begun with waits until it is this job's turn again.
void DeviceWorker::give_up_seeds(Place& place) {
    const SeedRange unclaimed = place.engine->unclaimed();
    if (unclaimed.empty()) return;
    IndexRange& range = place.held.front().portion.range;
    const std::uint64_t cut = place.job->make_way(number_, range, unclaimed.next);
    if (cut == range.end) return;
    place.engine->give_back(cut);
    range.end = cut;
}

/// Where others may soon have nothing to do, launches pause more often, for what they have not begun to be
/// given away.
std::chrono::nanoseconds DeviceWorker::launch_time(const JobExecution& job) const {
    const auto usual = job.job().tuning().launch_time;
    if (usual != EngineOptions{}.launch_time || !job.others_may_take_over(number_)) return usual;
    if (device_->info().kind == DeviceKind::cpu) return pause_of_cpu;
    return job.wants(number_) ? usual : pause_of_gpu;
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
                tell_of_pause(place);
                if (another_is_more_urgent(place)) give_up_seeds(place);
                share_work(place);
                place.engine->aim_at(launch_time(*place.job));
                return with_room(place, &DeviceWorker::resume);
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
    place.short_tasks = sum(launches) < short_task * place.tasks(0, ended);
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
    // A policy that had given all out may have something again for who asked in vain.
    if (place.job->has_returns()) colleagues_.wake_all();
    if (!place.held.empty()) return go_on(place);
    place.forget_launch();
    place.job.reset();
    wake(); // this place is free
}

/// A launch that has parked.
void DeviceWorker::resume(Place& place) {
    place.event = place.engine->resume();
    for (const Held& one : place.held) place.job->launched(number_, one.portion, place.engine->remaining());
}

/// How far it is, by the seeds that lane groups have claimed. What was fed is told as it is begun with.
void DeviceWorker::tell_of_pause(Place& place) {
    const Portion& portion = place.held.front().portion;
    if (place.held.size() > 1 || portion.units || place.fed > 0) return;
    const SeedRange unclaimed = place.engine->unclaimed();
    const std::uint64_t upto = unclaimed.empty() ? portion.range.end : unclaimed.next;
    place.job->paused(number_, portion, upto - portion.range.begin, sum(place.engine->launch_times()));
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
    if (busy < worth_giving || busy * left < worth_giving * claimed) return false; // it may soon be done
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
    if (busy < launch_time(*place.job)) return false;
    Engine& engine = *place.engine;
    const std::uint64_t left = engine.remaining();
    if (left == 0) return false; // it parked when all it has left is what it was fed a moment ago
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
        if (place->job && !place->waits_to) static_cast<void>(place->event.outcome());
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
