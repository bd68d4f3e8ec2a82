// domains/device_worker.cpp - see device_worker.hpp.
#include <headrace/core/log.hpp>
#include <headrace/domains/device_worker.hpp>

#include <algorithm>
#include <utility>

namespace headrace {

/// One place in the window: at most one task, and the stream and engines that tasks here use one after
/// another.
struct DeviceWorker::Place {
    std::unique_ptr<Stream> stream;
    std::shared_ptr<JobExecution> job; ///< null: free
    std::unique_ptr<Task> task;
    std::shared_ptr<JobExecution> engine_job; ///< whose tasks `engine` was made for
    std::unique_ptr<Engine> engine;           ///< null for host functions
    Promise done;                             ///< what other requests on the task's tiles wait for
    Event event;                              ///< of the launch in flight
    TaskFigures figures;
    EngineFigures engine_before; ///< an engine counts over all its tasks
};

namespace {

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
        for (const auto& place : places_) {
            if (place->job && place->event.done()) settle(*place);
            if (place->engine_job && !place->job && place->engine_job->event().done()) {
                place->engine.reset(); // its queues are large
                place->engine_job.reset();
            }
            if (!place->job && !retired()) start_a_task(*place);
        }
        bell_->wait();
        if (stop.stop_requested()) return;
    }
}

bool DeviceWorker::start_a_task(Place& place) {
    for (const auto& job : colleagues_.unfinished()) {
        const auto range = job->next(number_);
        if (!range) continue;
        if (place.engine_job != job) place.engine.reset();
        place.engine_job = job;
        place.job = job;
        place.figures = {};
        const std::string name =
            job->job().name() + " [" + std::to_string(range->begin) + ", " + std::to_string(range->end) + ")";
        place.task = std::make_unique<Task>(name, *range, *device_);
        try {
            begin(place);
            watch(place);
        } catch (...) {
            fail(place, current_error());
        }
        return true;
    }
    return false;
}

void DeviceWorker::begin(Place& place) {
    const Job& job = place.job->job();
    Task& task = *place.task;
    std::vector<TileUse> uses;
    std::vector<Event> zeroed;
    for (const Job::Use& use : job.uses()) {
        DomainData& data = *use.slice.data;
        if (std::ranges::none_of(domains_, [&](const auto& known) { return known.lock() == use.slice.data; }))
            domains_.push_back(use.slice.data);
        if (use.access == Access::accumulate) {
            const auto accumulator = data.accumulator(*controller_, *place.stream);
            zeroed.push_back(accumulator.zeroed);
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
            uses.push_back({*tile, use.access});
        task.bind({&data, use.access, &controller_->memory(data.storage())});
    }

    const KernelVariant& variant = *job.variant(device_->info().technology);
    if (variant.bind) {
        auto kernel = variant.bind(task);
        if (place.engine)
            place.engine->rebind(std::move(kernel));
        else
            place.engine = std::make_unique<Engine>(*device_, *place.stream, std::move(kernel), job.tuning());
    }
    if (place.engine) place.engine_before = engine_figures(*place.engine);
    place.done = Promise{};
    // If an input has failed, `start` is not called; the event then says so, and stands for the launch.
    place.event = {};
    const Traffic before = controller_->traffic();
    const Event submitted = controller_->submit(task.name(), uses, [&](std::span<const Event> after) {
        std::vector<Event> ready(after.begin(), after.end());
        ready.insert(ready.end(), zeroed.begin(), zeroed.end());
        tell_of_launch(place, ready);
        if (variant.bind)
            place.event = place.engine->start(task.range().begin, task.range().end, ready);
        else
            place.event = place.stream->launch(
                [&task, &variant](const NativeStream& stream) { variant.host_function(task, stream); },
                ready);
        return place.done.event();
    });
    if (!place.event.state()) place.event = submitted;
    const Traffic after = controller_->traffic(); // near enough: jobs that overlap may share the difference
    place.figures.bytes_in = after.in - before.in;
    place.figures.bytes_out = after.out - before.out;
}

/// The task's first, which comes after `inputs`.
void DeviceWorker::tell_of_launch(const Place& place, std::vector<Event> inputs) {
    const IndexRange range = place.task->range();
    std::erase_if(inputs, [](const Event& event) { return event.done(); });
    place.job->launched(number_, range, range.size(), inputs.size());
    if (!inputs.empty())
        Event::all(inputs).then(
            [job = place.job, number = number_, range](const ErrorPtr&) { job->inputs_came(number, range); });
}

void DeviceWorker::watch(Place& place) {
    place.event.then([bell = bell_](const ErrorPtr&) { bell->ring(); });
}

void DeviceWorker::settle(Place& place) {
    ErrorPtr error = place.event.outcome();
    if (!error && place.engine) {
        try {
            if (place.engine->collect() == Engine::State::parked) {
                if (place.job->stopping()) {
                    error = std::make_shared<const Error>(ErrorKind::cancelled, "the job was stopped");
                } else {
                    place.event = place.engine->resume();
                    place.job->launched(number_, place.task->range(), place.engine->remaining());
                    watch(place);
                    return;
                }
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
    if (const auto& launches = place.figures.launches; launches.empty())
        place.done.complete();
    else
        place.done.complete({launches.front().begin, launches.back().end}); // for traces
    const auto job = std::exchange(place.job, nullptr);
    job->finished(number_, place.task->range(), place.figures);
    wake(); // this place is free
}

void DeviceWorker::fail(Place& place, ErrorPtr error) {
    auto told = std::make_shared<Error>(*error);
    told->on_device(device_->info().id).in_job(place.job->job().name()).in_task(place.task->name());
    // An input that another device lost is no fault of this one.
    const bool ours = error->device().empty() || error->device() == device_->info().id;
    if (error->kind() == ErrorKind::device && ours) {
        retire(told);
    } else {
        place.done.fail(told);
        place.engine.reset();
        const auto job = std::exchange(place.job, nullptr);
        job->abandoned(number_, place.task->range(), job->stopping() ? nullptr : ErrorPtr(told));
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
    for (const auto& place : places_)
        if (place->job) static_cast<void>(place->event.outcome());
    // Sums that this device holds are gone with it; jobs that are still running compute theirs again.
    for (const auto& weak : domains_)
        if (const auto domain = weak.lock()) domain->drop_replica(*controller_, error);
    std::vector<std::pair<std::shared_ptr<JobExecution>, IndexRange>> lost;
    for (const auto& place : places_) {
        if (!place->job) continue;
        place->done.fail(error);
        place->engine.reset();
        lost.emplace_back(std::exchange(place->job, nullptr), place->task->range());
    }
    for (const auto& job : colleagues_.unfinished()) {
        std::vector<IndexRange> ranges;
        for (const auto& [of, range] : lost)
            if (of == job) ranges.push_back(range);
        job->retire(number_, error, ranges);
    }
    colleagues_.wake_all(); // for what they have to do again
}

} // namespace headrace
