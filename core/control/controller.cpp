// core/control/controller.cpp - see controller.hpp.
#include <headrace/core/controller.hpp>
#include <headrace/core/trace.hpp>

#include <algorithm>
#include <ranges>
#include <utility>

namespace headrace {

Controller::Controller(Device& device, ControllerOptions options)
    : device_(device),
      zero_copy_(device.info().shares_host_memory && !options.private_copies),
      host_in_place_(options.host_in_place && !options.private_copies),
      asynchronous_(options.asynchronous) {
    lane_.name = "kernels";
    kernels_ = device.make_stream();
    if (zero_copy_) return; // nothing to move
    to_device_.stream = device.make_stream();
    from_device_.stream = device.make_stream();
}

Controller::~Controller() {
    // In a loop, because host tasks that still run may submit requests.
    for (std::vector<Event> events; !(events = take_under_way()).empty();)
        for (const Event& event : events) static_cast<void>(event.outcome());
    host_lane_.reset();
    Lifelines held;
    {
        const std::scoped_lock lock(mutex_);
        held = std::exchange(held_, {});
    }
    for (const auto& one : held)
        if (const auto lifeline = one.lock()) free_replica(*lifeline);
}

Event Controller::submit(std::string_view name, std::span<const TileUse> uses, const Starter& start,
                         const TraceLabel& label) {
    Submission submission(this, nullptr, uses);
    submission.request();
    return remember(submission.run(name, start, label));
}

Event Controller::launch(std::string_view name, std::span<const TileUse> uses, Stream::Body body) {
    auto named = [name = std::string(name), body = std::move(body)](const NativeStream& stream) {
        try {
            body(stream);
        } catch (...) {
            Error error{*current_error()};
            throw Error{error.in_task(name)};
        }
    };
    Event event;
    {
        const std::scoped_lock in_order(lane_.mutex);
        Submission submission(this, &lane_, uses);
        submission.request();
        event = submission.run(
            name, [&](std::span<const Event> after) { return kernels_->launch(std::move(named), after); });
    }
    return remember(std::move(event));
}

Event Controller::host_task(std::string_view name, std::span<const TileUse> uses,
                            std::function<void()> task) {
    check_process();
    HostLane* lane = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        if (!host_lane_) host_lane_ = std::make_unique<HostLane>();
        lane = host_lane_.get();
    }
    lane->set_asynchronous(asynchronous_);
    return remember(lane->run(name, uses, std::move(task)));
}

Memory& Controller::memory(Storage& storage) {
    const std::scoped_lock lock(storage.mutex_);
    const ReplicaNumber replica = replica_with(storage.tile(), storage.tile());
    return replica == host_replica ? storage.host_view_locked() : *storage.holder(replica).memory;
}

Controller::Window Controller::window(const Tile& part) {
    Storage& storage = part.storage();
    const std::scoped_lock lock(storage.mutex_);
    const ReplicaNumber replica =
        replica_with(part, {storage, part.begin() / window_alignment * window_alignment, part.end()});
    if (replica == host_replica) return {storage.host_view_locked(), 0};
    return {*storage.holder(replica).memory, storage.holder(replica).begin};
}

bool Controller::holds(Storage& storage) const {
    const std::scoped_lock lock(storage.mutex_);
    return works_in_place(storage) || storage.replica_of(*this) != host_replica;
}

/// The result for a datum never changes: host memory that a device reaches is not allocated later by Storage.
bool Controller::works_in_place(const Storage& storage) const {
    if (zero_copy_) return true;
    return host_in_place_ && storage.host_ && device_.reaches_host(storage.host_.get());
}

ReplicaNumber Controller::replica_with(const Tile& needed, const Tile& wanted) {
    Storage& storage = needed.storage();
    if (works_in_place(storage)) {
        static_cast<void>(storage.host_view_locked());
        return host_replica;
    }
    // relaxed: only a hint for eviction.
    const std::uint64_t use = uses_.fetch_add(1, std::memory_order_relaxed);
    if (const ReplicaNumber replica = storage.replica_of(*this); replica != host_replica) {
        Storage::Holder& here = storage.holder(replica);
        if (!here.holds(needed.begin(), needed.end()))
            throw Error{ErrorKind::out_of_memory,
                        "bytes [" + std::to_string(needed.begin()) + ", " + std::to_string(needed.end()) +
                            ") of '" + storage.name() + "' are needed where [" + std::to_string(here.begin) +
                            ", " + std::to_string(here.end()) + ") are"}
                .on_device(device_.info().id);
        here.last_use = use;
        return replica;
    }

    auto& holders = storage.holders_;
    auto place = std::ranges::find(holders, nullptr, &Storage::Holder::controller);
    if (place == holders.end()) {
        if (holders.size() + 1 >= ReplicaSet::capacity)
            throw Error{ErrorKind::unsupported, "'" + storage.name() + "' is held by too many controllers"};
        place = holders.emplace(holders.end());
    }
    place->memory = device_.allocate(wanted.size());
    place->begin = wanted.begin();
    place->controller = this;
    place->last_use = use;
    const std::scoped_lock lock(mutex_);
    std::erase_if(held_, [](const auto& held) { return held.expired(); });
    held_.push_back(storage.lifeline_);
    return static_cast<ReplicaNumber>(place - holders.begin() + 1);
}

Event Controller::prefetch(const Tile& tile) {
    const TileUse use{tile, Access::read};
    Submission submission(this, nullptr, {&use, 1});
    submission.acquire();
    return remember(submission.run({}, [](std::span<const Event> after) { return Event::all(after); }));
}

Event Controller::move_to(const Tile& tile) { return explicit_move(tile, false); }

Event Controller::move_from(const Tile& tile) { return explicit_move(tile, true); }

Event Controller::explicit_move(const Tile& tile, bool to_host) {
    if (tile.storage().is_internal())
        throw Error{ErrorKind::invalid_argument,
                    "'" + tile.storage().name() + "' is internal: it has no host replica"};
    if (to_host && !holds(tile.storage())) // before the Submission allocates memory for it
        throw Error{ErrorKind::invalid_argument, "'" + tile.storage().name() + "' was never on this device"}
            .on_device(device_.info().id);
    const TileUse use{tile, Access::read};
    Submission submission(this, nullptr, {&use, 1});
    submission.transfer(to_host);
    return remember(submission.run({}, [](std::span<const Event> after) { return Event::all(after); }));
}

Event Controller::remember(Event event) {
    if (!asynchronous_) static_cast<void>(event.outcome());
    if (Trace* const trace = Trace::recording()) trace->tidy();
    bool many = false;
    {
        const std::scoped_lock lock(mutex_);
        under_way_.push_back(event);
        many = under_way_.size() >= sweep_at_ && !sweeping_;
        sweeping_ |= many;
    }
    if (many) forget_ended();
    return event;
}

void Controller::forget_ended() {
    std::vector<Event> seen;
    std::uint64_t taken = 0;
    {
        const std::scoped_lock lock(mutex_);
        seen = under_way_; // a copy: wait_all must still find them
        taken = taken_;
    }
    // Without the mutex: asking a driver may settle events and run their continuations.
    std::vector<Event> open;
    ErrorPtr failure;
    // The newest first: if it has ended, the driver is not asked about earlier events of the same GPU stream.
    for (const Event& event : seen | std::views::reverse) {
        if (!event.done())
            open.push_back(event);
        else if (ErrorPtr error = event.outcome())
            failure = std::move(error); // after the loop: the failure of the first event
    }
    std::ranges::reverse(open);

    const std::scoped_lock lock(mutex_);
    sweeping_ = false;
    if (taken != taken_) return; // take_under_way has taken the events, and its caller has seen the failure
    if (!first_failure_) first_failure_ = std::move(failure);
    sweep_at_ = std::max<std::size_t>(256, 2 * open.size()); // so each event is asked only a few times
    const auto newer = under_way_.begin() + static_cast<std::ptrdiff_t>(seen.size());
    under_way_.erase(std::ranges::move(open, under_way_.begin()).out, newer);
}

std::vector<Event> Controller::take_under_way() {
    const std::scoped_lock lock(mutex_);
    ++taken_;
    return std::exchange(under_way_, {});
}

void Controller::wait_all() {
    ErrorPtr failure;
    for (const Event& event : take_under_way())
        if (const ErrorPtr error = event.outcome(); error && !failure) failure = error;
    {
        const std::scoped_lock lock(mutex_);
        if (ErrorPtr earlier = std::exchange(first_failure_, {})) failure = std::move(earlier);
    }
    if (failure) throw Error{*failure};
}

Traffic Controller::traffic() const noexcept {
    // relaxed: a statistic
    return {to_device_.bytes.load(std::memory_order_relaxed),
            from_device_.bytes.load(std::memory_order_relaxed)};
}

void Controller::release(Storage& storage) {
    const auto lifeline = storage.lifeline_; // the storage may end in there
    free_replica(*lifeline);
}

void Controller::free_replica(Storage::Lifeline& lifeline) {
    for (;;) {
        std::unique_ptr<Memory> freed; // destroyed after the locks are released: drivers may need long
        std::vector<EventSlotPtr> under_way;
        {
            const std::scoped_lock alive(lifeline.mutex); // the storage cannot end in this block
            if (lifeline.storage == nullptr) return;
            Storage& storage = *lifeline.storage;
            const std::scoped_lock lock(storage.mutex_);
            const ReplicaNumber replica = storage.replica_of(*this);
            if (replica == host_replica) return;
            const bool is_only_one =
                std::ranges::all_of(storage.holders_, [this](const Storage::Holder& other) {
                    return other.controller == nullptr || other.controller == this;
                });
            under_way =
                storage.under_way_locked(storage.tile(), {RequestKind::release, replica}, !is_only_one);
            if (under_way.empty()) freed = drop(storage, replica);
        }
        if (freed) return;
        // This wait may run continuations. One of them may destroy the storage.
        for (const EventSlotPtr& slot : under_way) static_cast<void>(slot->get().outcome());
    }
}

std::unique_ptr<Memory> Controller::drop(Storage& storage, ReplicaNumber replica) {
    {
        const std::scoped_lock lock(mutex_);
        std::erase_if(held_, [&](const auto& held) {
            const auto lifeline = held.lock();
            return !lifeline || lifeline == storage.lifeline_;
        });
    }
    return storage.drop(replica);
}

} // namespace headrace
