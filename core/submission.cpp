// core/submission.cpp - see submission.hpp.
#include <headrace/core/controller.hpp>
#include <headrace/core/log.hpp>
#include <headrace/core/submission.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace headrace {

namespace {

/// The failure that is known already; null if none.
ErrorPtr known_failure(std::span<const Event> after) {
    for (const Event& event : after)
        if (event.state() && event.state()->settled())
            if (ErrorPtr error = event.outcome()) return error;
    return {};
}

Event start_or_fail(std::string_view name, std::span<const Event> after, const Starter& start) {
    if (ErrorPtr error = known_failure(after)) return Event::failed(std::move(error));
    try {
        return start(after);
    } catch (...) {
        Error error{*current_error()};
        if (!name.empty()) error.in_task(name);
        return Event::failed(std::make_shared<const Error>(std::move(error)));
    }
}

/// A request that failed while it was submitted has overtaken those that it should have come after, and those
/// before it on its lane, of which tiles remember the last one only. They may still be using the tiles: it
/// waits for them.
Event in_place(Event event, std::span<const Event> after, const Event& before_on_lane) {
    if (!event.state() || !event.state()->settled() || !event.outcome()) return event;
    std::vector<Event> all{std::move(event), before_on_lane.order_only()};
    for (const Event& earlier : after) all.push_back(earlier.order_only());
    return Event::all(all);
}

} // namespace

Submission::Submission(Controller* controller, InOrderLane* lane, std::span<const TileUse> uses)
    : controller_(controller), lane_(lane) {
    std::vector<Storage*> storages;
    for (const TileUse& use : uses) storages.push_back(&use.tile.storage());
    std::ranges::sort(storages, std::less<>{});
    const auto repeated = std::ranges::unique(storages);
    storages.erase(repeated.begin(), repeated.end());
    for (Storage* storage : storages) locks_.emplace_back(storage->mutex_);

    for (const TileUse& use : uses) {
        Storage& storage = use.tile.storage();
        if (controller == nullptr && storage.is_internal())
            throw Error{ErrorKind::invalid_argument,
                        "'" + storage.name() + "' is internal to devices: the host cannot use it"};
        // Memory is allocated before any state changes, so that running out of it throws and nothing else.
        const Image image = controller == nullptr ? host_image : controller->image_in(storage);
        uses_.push_back({&storage, image, use.access, storage.cover(use.tile.begin(), use.tile.end())});
        for (Tile* tile : uses_.back().tiles) Storage::replicas(*tile).sweep();
    }
}

Submission::~Submission() {
    // An exception between analysis and enqueueing (the host out of memory) must not leave others waiting.
    const auto give_up = [](EventSlot& slot) {
        if (slot.published()) return;
        slot.publish(Event::failed(std::make_shared<const Error>(
            ErrorKind::internal, "a request was given up while it was enqueued")));
    };
    for (const Copy& copy : copies_) give_up(*copy.slot);
    give_up(*done_);
}

ImageSet Submission::reachable(const Use& use) const {
    ImageSet images;
    if (use.image == host_image) return images;
    const Device& here = controller_->device();
    for (Image image = 1; image <= use.storage->holders_.size(); ++image) {
        const Controller* other = use.storage->holder(image).controller;
        if (other != nullptr && image != use.image &&
            (&other->device() == &here || here.reaches(other->device())))
            images.insert(image);
    }
    return images;
}

void Submission::request() {
    for (const Use& use : uses_) {
        const bool in_place = use.image == host_image; // a host task, or a kernel on host memory
        const RequestKind kind = writes(use.access)
                                     ? (in_place ? RequestKind::host_out : RequestKind::kernel_out)
                                     : (in_place ? RequestKind::host_in : RequestKind::kernel_in);
        const Request request{kind, use.image};
        for (Tile* tile : use.tiles) {
            Replicas& replicas = Storage::replicas(*tile);
            const bool stale = !replicas.current().has(use.image);
            const TransferPlan plan = plan_access(use.image, use.access, replicas.current(),
                                                  stale && reads(use.access) ? reachable(use) : ImageSet{});
            fetch(use, *tile, plan);
            replicas.collect(request, after_);
            if (reads(use.access)) replicas.collect_producer(use.image, after_);
            replicas.record(request, lane_, done_);
            if (writes(use.access)) replicas.written(use.image, done_);
        }
    }
    after_.remove(done_); // a tile used twice by this request
}

void Submission::acquire() {
    for (const Use& use : uses_)
        for (Tile* tile : use.tiles) {
            Replicas& replicas = Storage::replicas(*tile);
            const bool stale = !replicas.current().has(use.image);
            fetch(use, *tile, plan_input(use.image, replicas.current(), stale ? reachable(use) : ImageSet{}));
            replicas.collect_producer(use.image, after_);
        }
}

void Submission::transfer(bool to_host) {
    for (const Use& use : uses_) {
        const Image from = to_host ? use.image : host_image;
        for (Tile* tile : use.tiles) {
            const Replicas& replicas = Storage::replicas(*tile);
            if (replicas.current().has(from)) continue;
            if (replicas.poison()) throw Error{*replicas.poison()};
            throw Error{ErrorKind::invalid_argument, "'" + use.storage->name() + "' is moved from " +
                                                         (to_host ? "the device" : "the host") +
                                                         ", whose image of it is stale"};
        }
    }
    for (const Use& use : uses_) {
        const Move move = to_host ? Move{use.image, host_image} : Move{host_image, use.image};
        for (Tile* tile : use.tiles) {
            Replicas& replicas = Storage::replicas(*tile);
            if (!replicas.current().has(move.to)) copy(*use.storage, *tile, move);
            replicas.collect_producer(move.to, after_);
        }
    }
}

void Submission::fetch(const Use& use, Tile& tile, const TransferPlan& plan) {
    if (plan.reads_nothing) {
        if (const ErrorPtr& poison = Storage::replicas(tile).poison()) {
            failure_ = poison;
        } else if (!std::exchange(use.storage->warned_, true)) {
            warnings_.push_back("'" + use.storage->name() + "' is read before anything wrote it");
        }
    }
    for (const Move move : plan.moves) copy(*use.storage, tile, move);
}

void Submission::copy(Storage& storage, Tile& tile, Move move) {
    Replicas& replicas = Storage::replicas(tile);
    const EventSlotPtr& producer = replicas.producer(move.from);

    // Neighbours that one request made, and that go the same way, go in one copy.
    const auto extends = [&](const Copy& copy) {
        return copy.storage == &storage && copy.move == move && copy.end == tile.begin() &&
               copy.producer == producer;
    };
    Copy* same = nullptr;
    if (const auto found = std::ranges::find_if(copies_, extends); found != copies_.end()) {
        same = &*found;
        same->end = tile.end();
    } else {
        const auto memory = [&](Image image) {
            return image == host_image ? nullptr : storage.holder(image).memory.get();
        };
        const Image owner = move.to == host_image ? move.from : move.to;
        same = &copies_.emplace_back(Copy{&storage,
                                          move,
                                          tile.begin(),
                                          tile.end(),
                                          producer,
                                          {},
                                          std::make_shared<EventSlot>(),
                                          storage.holder(owner).controller,
                                          memory(move.from),
                                          memory(move.to)});
    }
    Copy& copy = *same;

    std::vector<Request> requests;
    if (move.to == host_image)
        requests = {{RequestKind::from_device, move.from}};
    else if (move.from == host_image)
        requests = {{RequestKind::to_device, move.to}};
    else
        requests = {{RequestKind::peer_out, move.from}, {RequestKind::peer_in, move.to}};
    for (const Request& request : requests) replicas.collect(request, copy.after);
    replicas.collect_producer(move.from, copy.after);
    for (const Request& request : requests) replicas.record(request, nullptr, copy.slot);
    replicas.copied_to(move.to, copy.slot);
}

void Submission::enqueue(const Copy& copy) {
    const std::vector<Event> after = copy.after.resolve();
    const Bytes size = copy.end - copy.begin;
    Event event = start_or_fail({}, after, [&](std::span<const Event> events) {
        Controller::TransferStream& way =
            copy.to == nullptr ? copy.controller->from_device_ : copy.controller->to_device_;
        way.bytes.fetch_add(size, std::memory_order_relaxed); // a statistic: nothing is ordered by it
        if (copy.to == nullptr) {
            auto* to = static_cast<std::byte*>(copy.storage->host()) + copy.begin;
            const std::scoped_lock lock(way.mutex);
            return way.stream->copy_out(to, *copy.from, copy.begin, size, events);
        }
        const auto* from =
            copy.from == nullptr ? static_cast<std::byte*>(copy.storage->host()) + copy.begin : nullptr;
        const std::scoped_lock lock(way.mutex);
        return from != nullptr
                   ? way.stream->copy_in(*copy.to, copy.begin, from, size, events)
                   : way.stream->copy_peer(*copy.to, copy.begin, *copy.from, copy.begin, size, events);
    });
    copy.slot->publish(in_place(std::move(event), after, {}));
}

Event Submission::run(std::string_view name, const Starter& start) {
    locks_.clear();
    for (const std::string& warning : warnings_) log_warning(warning);
    for (const Copy& copy : copies_) enqueue(copy);
    const std::vector<Event> after = after_.resolve();
    Event event = failure_ ? Event::failed(failure_) : start_or_fail(name, after, start);
    event = in_place(event, after, lane_ == nullptr ? Event{} : lane_->last);
    if (lane_ != nullptr) lane_->last = event;
    done_->publish(event);
    return event;
}

Event gather(Tile& tile) {
    const TileUse use{tile, Access::read};
    Submission submission(nullptr, nullptr, {&use, 1});
    submission.acquire();
    return submission.run({}, [](std::span<const Event> after) { return Event::all(after); });
}

void host_wrote(Tile& tile) {
    Storage& storage = tile.storage();
    if (storage.is_internal())
        throw Error{ErrorKind::invalid_argument,
                    "'" + storage.name() + "' is internal: it has no host image"};
    // What the caller wrote must not be overwritten by a transfer that is still on its way.
    storage.drain(tile.begin(), tile.end(), {RequestKind::host_out, host_image});
    const std::scoped_lock lock(storage.mutex_);
    for (Tile* leaf : storage.cover(tile.begin(), tile.end()))
        Storage::replicas(*leaf).written(host_image, nullptr);
}

bool is_unwritten(Tile& tile) {
    Storage& storage = tile.storage();
    const std::scoped_lock lock(storage.mutex_);
    return std::ranges::all_of(storage.cover(tile.begin(), tile.end()), [](Tile* leaf) {
        const Replicas& replicas = Storage::replicas(*leaf);
        return replicas.current().empty() && !replicas.poison();
    });
}

void wait(Tile& tile) {
    Storage& storage = tile.storage();
    storage.drain(tile.begin(), tile.end(), {RequestKind::wait, host_image});
    const std::scoped_lock lock(storage.mutex_);
    for (Tile* leaf : storage.cover(tile.begin(), tile.end())) {
        Replicas& replicas = Storage::replicas(*leaf);
        replicas.sweep();
        if (replicas.poison()) throw Error{*replicas.poison()};
    }
}

} // namespace headrace
