// core/coherence/submission.cpp - see submission.hpp.
#include "control/starting.hpp"
#include <headrace/core/controller.hpp>
#include <headrace/core/detail/submission.hpp>
#include <headrace/core/log.hpp>
#include <headrace/core/trace.hpp>

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>

namespace headrace {

Submission::Submission(Controller* controller, InOrderLane* lane, std::span<const TileUse> uses)
    : controller_(controller), lane_(lane) {
    if (controller != nullptr) controller->check_process();
    std::pmr::vector<Storage*> storages(&memory_);
    storages.reserve(uses.size());
    for (const TileUse& use : uses) storages.push_back(&use.tile.storage());
    std::ranges::sort(storages, std::less<>{});
    const auto repeated = std::ranges::unique(storages);
    storages.erase(repeated.begin(), repeated.end());
    locks_.reserve(storages.size());
    for (Storage* storage : storages) locks_.emplace_back(storage->mutex_);
    uses_.reserve(uses.size());

    for (const TileUse& use : uses) {
        Storage& storage = use.tile.storage();
        if (controller == nullptr && storage.is_internal())
            throw Error{ErrorKind::invalid_argument,
                        "'" + storage.name() + "' is internal to devices: the host cannot use it"};
        // Memory is allocated before any state changes. So a failed allocation throws and has no other
        // effect.
        const ReplicaNumber replica =
            controller == nullptr ? host_replica : controller->replica_with(use.tile, storage.tile());
        const auto first = storage.cut(use.tile);
        uses_.push_back({use.tile, replica, use.access, first, first->second.end < use.tile.end()});
        uses_.back().each_stretch([](Storage::Stretch& stretch) { stretch.replicas.sweep(); });
    }
}

Submission::~Submission() {
    // After an exception between analysis and enqueueing (no host memory), other requests must not hang.
    const auto give_up = [](EventSlot& slot) {
        if (slot.published()) return;
        slot.publish(Event::failed(std::make_shared<const Error>(
            ErrorKind::internal, "a request was given up while it was enqueued")));
    };
    for (const Copy& copy : copies_) give_up(*copy.slot);
    give_up(*done_);
}

ReplicaSet Submission::reachable(const Use& use) const {
    ReplicaSet replicas;
    if (use.replica == host_replica) return replicas;
    const Device& here = controller_->device();
    Storage& storage = use.storage();
    for (ReplicaNumber replica = 1; replica <= storage.holders_.size(); ++replica) {
        const Controller* other = storage.holder(replica).controller;
        if (other != nullptr && replica != use.replica &&
            (&other->device() == &here || here.reaches(other->device())))
            replicas.insert(replica);
    }
    return replicas;
}

void Submission::request() {
    // All fetches come before any tile counts as written. So a read and a write of the same tile are an
    // update, in any order. This happens if an array is passed twice.
    for (const Use& use : uses_) fetch(use);
    for (const Use& use : uses_) {
        const bool in_place = use.replica == host_replica; // a host task, or a kernel on host memory
        const RequestKind kind = writes(use.access)
                                     ? (in_place ? RequestKind::host_out : RequestKind::kernel_out)
                                     : (in_place ? RequestKind::host_in : RequestKind::kernel_in);
        const Request request{kind, use.replica};
        use.each_stretch([&](Storage::Stretch& stretch) {
            stretch.replicas.collect(request, after_);
            stretch.replicas.record(request, lane_, done_);
            if (writes(use.access)) stretch.replicas.written(use.replica, done_);
        });
        // relaxed: requests on the same tiles order the data that is read because of this counter.
        if (writes(use.access)) use.storage().changes_.fetch_add(1, std::memory_order_relaxed);
    }
    after_.remove(done_); // a tile used twice by this request
}

void Submission::acquire() {
    for (const Use& use : uses_) fetch(use);
}

void Submission::fetch(const Use& use) {
    use.each_stretch([&](Storage::Stretch& stretch) {
        Replicas& replicas = stretch.replicas;
        const bool stale = !replicas.current().has(use.replica);
        const TransferPlan plan = plan_access(use.replica, use.access, replicas.current(),
                                              stale && reads(use.access) ? reachable(use) : ReplicaSet{});
        if (plan.reads_nothing) {
            if (const ErrorPtr& poison = replicas.poison()) {
                failure_ = poison;
            } else if (!std::exchange(use.storage().warned_, true)) {
                warnings_.push_back("'" + use.storage().name() + "' is read before anything wrote it");
            }
        }
        for (const Move move : plan.moves) copy(use.storage(), stretch, move);
        if (reads(use.access)) replicas.collect_producer(use.replica, after_);
    });
}

void Submission::transfer(bool to_host) {
    for (const Use& use : uses_) {
        const ReplicaNumber from = to_host ? use.replica : host_replica;
        use.each_stretch([&](const Storage::Stretch& stretch) {
            const Replicas& replicas = stretch.replicas;
            if (replicas.current().has(from)) return;
            if (replicas.poison()) throw Error{*replicas.poison()};
            throw Error{ErrorKind::invalid_argument, "'" + use.storage().name() + "' is moved from " +
                                                         (to_host ? "the device" : "the host") +
                                                         ", whose replica of it is stale"}
                .on_device(controller_->device().info().id);
        });
    }
    for (const Use& use : uses_) {
        const Move move = to_host ? Move{use.replica, host_replica} : Move{host_replica, use.replica};
        use.each_stretch([&](Storage::Stretch& stretch) {
            if (!stretch.replicas.current().has(move.to)) copy(use.storage(), stretch, move);
            stretch.replicas.collect_producer(move.to, after_);
        });
    }
}

Event Submission::run(std::string_view name, const Starter& start, const TraceLabel& label) {
    for (const Use& use : uses_)
        if (use.is_cut) use.storage().join(use.tile);
    locks_.clear();
    Trace* const trace = name.empty() ? nullptr : Trace::recording();
    if (trace != nullptr && !copies_.empty()) span_ = trace->reserve();
    for (const std::string& warning : warnings_) log_warning(warning);
    for (Copy& copy : copies_) enqueue(copy);
    const std::pmr::vector<Event> after = after_.resolve();
    Event event = failure_ ? Event::failed(failure_) : start_or_fail(name, after, start);
    event = in_place(event, after, lane_ == nullptr ? Event{} : lane_->last);
    if (lane_ != nullptr) lane_->last = event;
    if (trace != nullptr) {
        const std::string_view device =
            controller_ == nullptr ? "host" : std::string_view(controller_->device().info().id);
        const TraceUnit unit = lane_ != nullptr ? TraceUnit{lane_, device, lane_->name}
                                                : TraceUnit{controller_, device, label.unit, false};
        trace->add(unit, name, event, after, {.id = span_, .part_of = label.part_of});
    }
    done_->publish(event);
    return event;
}

Event gather(const Tile& tile) {
    const TileUse use{tile, Access::read};
    Submission submission(nullptr, nullptr, {&use, 1});
    submission.acquire();
    return submission.run({}, [](std::span<const Event> after) { return Event::all(after); });
}

void host_wrote(const Tile& tile) {
    Storage& storage = tile.storage();
    if (storage.is_internal())
        throw Error{ErrorKind::invalid_argument,
                    "'" + storage.name() + "' is internal: it has no host replica"};
    // An unfinished transfer must not overwrite the data that the caller wrote.
    storage.drain(tile, {RequestKind::host_out, host_replica});
    const std::scoped_lock lock(storage.mutex_);
    storage.each_stretch(storage.cut(tile), tile.end(),
                         [](Storage::Stretch& stretch) { stretch.replicas.written(host_replica, nullptr); });
    storage.join(tile);
    storage.changes_.fetch_add(1, std::memory_order_relaxed);
}

void mark_failed(const Tile& tile, const ErrorPtr& error) {
    Storage& storage = tile.storage();
    const auto failed = std::make_shared<EventSlot>();
    failed->publish(Event::failed(error));
    const std::scoped_lock lock(storage.mutex_);
    storage.each_stretch(storage.cut(tile), tile.end(), [&](Storage::Stretch& stretch) {
        stretch.replicas.written(host_replica, failed);
        stretch.replicas.sweep(); // processes the failure
    });
    storage.join(tile);
    storage.changes_.fetch_add(1, std::memory_order_relaxed);
}

void mark_unwritten(const Tile& tile) {
    Storage& storage = tile.storage();
    storage.drain(tile, {RequestKind::host_out, host_replica});
    const std::scoped_lock lock(storage.mutex_);
    storage.each_stretch(storage.cut(tile), tile.end(), [](Storage::Stretch& stretch) {
        stretch.replicas.written(host_replica, nullptr);
        stretch.replicas.drop(host_replica);
    });
    storage.join(tile);
    storage.changes_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<Tile> unwritten_parts(const Tile& tile) {
    Storage& storage = tile.storage();
    std::vector<Tile> parts;
    const std::scoped_lock lock(storage.mutex_);
    storage.each_stretch(tile.begin(), tile.end(), [&](const Storage::Stretch& stretch) {
        if (!stretch.replicas.current().empty() || stretch.replicas.poison()) return;
        const bool goes_on = !parts.empty() && parts.back().end() == stretch.begin;
        const Bytes begin = goes_on ? parts.back().begin() : std::max(stretch.begin, tile.begin());
        if (goes_on) parts.pop_back();
        parts.emplace_back(storage, begin, std::min(stretch.end, tile.end()));
    });
    return parts;
}

void take_to_host(const Tile& tile) {
    for (const Tile& part : unwritten_parts(tile)) host_wrote(part); // there is no data to copy
    gather(tile).wait();
    host_wrote(tile);
}

ErrorPtr failure_of(const Tile& tile) {
    Storage& storage = tile.storage();
    ErrorPtr failure;
    const std::scoped_lock lock(storage.mutex_);
    storage.each_stretch(tile.begin(), tile.end(), [&](Storage::Stretch& stretch) {
        stretch.replicas.sweep();
        if (!failure) failure = stretch.replicas.poison();
    });
    return failure;
}

void wait(const Tile& tile) {
    tile.storage().drain(tile, {RequestKind::wait, host_replica});
    if (const ErrorPtr failure = failure_of(tile)) throw Error{*failure};
}

} // namespace headrace
