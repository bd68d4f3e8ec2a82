// core/coherence/eviction.cpp - what a controller evicts when its device is full: see Controller::evict.
// At most one storage is locked at a time, and none while events are asked, because asking a driver may run
// continuations.
#include <headrace/core/controller.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace headrace {

/// A datum that has a replica here.
struct Controller::Resident {
    std::shared_ptr<Storage::Lifeline> lifeline;
    std::string name;
    Bytes bytes;            ///< of the replica here
    std::uint64_t last_use; ///< value of the controller's use counter
    bool is_needed;
    bool is_elsewhere = false;                 ///< it is needed, but the replica here holds another part
    bool is_larger = false;                    ///< it is needed, and the replica here holds more
    std::vector<EventSlotPtr> in_the_way = {}; ///< requests that must end before the replica can be freed

    /// Calls `visit(storage, replica)` with the storage locked, unless the storage or its replica is gone.
    template <class Visit>
    void with_replica(const Controller& controller, const Visit& visit) const {
        const std::scoped_lock alive(lifeline->mutex); // the storage cannot end in this block
        if (lifeline->storage == nullptr) return;
        Storage& storage = *lifeline->storage;
        const std::scoped_lock lock(storage.mutex_);
        if (const ReplicaNumber replica = storage.replica_of(controller); replica != host_replica)
            visit(storage, replica);
    }
    /// Updates `in_the_way`. The storage must be locked.
    void look_again(Storage& storage, ReplicaNumber replica) {
        in_the_way.clear();
        storage.each_stretch(0, storage.bytes(), [&](Storage::Stretch& stretch) {
            stretch.replicas.sweep();
            for (EventSlotPtr& slot : stretch.replicas.unfinished({RequestKind::release, replica}, true))
                in_the_way.push_back(std::move(slot));
        });
    }
};

namespace {

/// An event that completes, with success, when the first of `events` ends with any outcome.
Event first_of(std::span<const Event> events) {
    const auto first = std::make_shared<Promise>();
    Event event = first->event();
    for (const Event& one : events) one.then([first](const ErrorPtr&) { first->complete(); });
    return event;
}

std::string with_size(const std::string& name, Bytes bytes) {
    return "'" + name + "' (" + std::to_string(bytes) + " bytes)";
}

} // namespace

std::vector<Controller::Resident> Controller::residents(std::span<const Tile> needed) {
    Lifelines held;
    {
        const std::scoped_lock lock(mutex_);
        held = held_;
    }
    std::vector<Resident> residents;
    for (const auto& one : held) {
        Resident resident{one.lock(), {}, 0, 0, false};
        if (!resident.lifeline) continue;
        resident.with_replica(*this, [&](Storage& storage, ReplicaNumber replica) {
            const Storage::Holder& holder = storage.holder(replica);
            resident.name = storage.name();
            resident.bytes = holder.memory->size();
            resident.last_use = holder.last_use;
            Bytes begin = holder.end(), end = 0; // of the needed parts
            for (const Tile& part : needed) {
                if (&part.storage() != &storage) continue;
                resident.is_needed = true;
                resident.is_elsewhere |= !holder.holds(part.begin(), part.end());
                begin = std::min(begin, part.begin());
                end = std::max(end, part.end());
            }
            resident.is_larger = resident.is_needed && resident.bytes >= end - begin + window_alignment;
            resident.look_again(storage, replica);
        });
        if (resident.bytes > 0) residents.push_back(std::move(resident));
    }
    std::ranges::sort(residents, {}, &Resident::last_use);
    return residents;
}

/// Frees the replica if no request is in the way and no data is lost.
bool Controller::try_to_evict(Resident& resident) {
    std::unique_ptr<Memory> freed; // destroyed after the locks are released: drivers may need long
    resident.with_replica(*this, [&](Storage& storage, ReplicaNumber replica) {
        resident.look_again(storage, replica);
        bool is_copy = true;
        storage.each_stretch(0, storage.bytes(), [&](const Storage::Stretch& stretch) {
            is_copy = is_copy && stretch.replicas.can_do_without(replica);
        });
        if (is_copy && resident.in_the_way.empty()) freed = drop(storage, replica);
    });
    return freed != nullptr;
}

/// Copies the data that only this replica holds to the host. Nothing for an internal datum.
std::optional<Event> Controller::write_back(const Resident& resident) {
    std::vector<TileUse> uses;
    std::optional<Submission> copies;
    {
        const std::scoped_lock alive(resident.lifeline->mutex);
        Storage* const storage = resident.lifeline->storage;
        if (storage == nullptr) return Event{}; // it has ended
        {
            const std::scoped_lock lock(storage->mutex_);
            const ReplicaNumber replica = storage->replica_of(*this);
            if (replica == host_replica) return Event{};
            storage->each_stretch(0, storage->bytes(), [&](const Storage::Stretch& stretch) {
                if (!stretch.replicas.can_do_without(replica))
                    uses.push_back({storage->tile(stretch.begin, stretch.end), Access::read});
            });
        }
        if (uses.empty()) return Event{}; // another replica has the data now
        if (storage->is_internal()) return std::nullopt;
        copies.emplace(nullptr, nullptr, uses);
        copies->acquire();
    }
    // The storage may end from here on: its destructor waits for these copies.
    return copies->run({}, [](std::span<const Event> after) { return Event::all(after); });
}

/// A text that says what uses the memory: the data needed together, and the largest data that cannot be
/// freed.
std::string Controller::why_it_is_full(std::span<const Tile> needed, std::vector<Resident> here) const {
    std::string text;
    for (const Tile& part : needed)
        text += (text.empty() ? "needed at once are " : ", ") + with_size(part.storage().name(), part.size());
    std::erase_if(here, [](const Resident& resident) { return resident.is_needed; });
    std::ranges::sort(here, std::ranges::greater{}, &Resident::bytes);
    constexpr std::size_t most = 3;
    for (std::size_t i = 0; i < std::min(most, here.size()); ++i)
        text += (i > 0          ? ", "
                 : text.empty() ? "only the device has "
                                : "; only the device has ") +
                with_size(here[i].name, here[i].bytes);
    if (here.size() > most) text += " and " + std::to_string(here.size() - most) + " more";
    return text + (text.empty() ? "" : "; ") + "it has " + std::to_string(device_.info().memory) +
           " bytes, of which " + std::to_string(device_.free_memory()) + " are free";
}

/// Frees one of the replicas for which `may_go` is true. Nothing if there is none to free or to wait for.
std::optional<Event> Controller::free_one(std::span<Resident> here, bool (*may_go)(const Resident&)) {
    std::vector<Resident*> these;
    for (Resident& resident : here)
        if (may_go(resident)) these.push_back(&resident);
    for (const Resident* resident : these) // some requests may have ended without the host knowing it
        for (const EventSlotPtr& slot : resident->in_the_way) static_cast<void>(slot->get().done());
    for (Resident* resident : these)
        if (try_to_evict(*resident)) return Event{};
    for (const Resident* resident : these)
        if (resident->in_the_way.empty())
            if (std::optional<Event> written = write_back(*resident)) return written;

    std::vector<Event> in_the_way;
    for (const Resident* resident : these)
        for (const EventSlotPtr& slot : resident->in_the_way) in_the_way.push_back(slot->get());
    if (in_the_way.empty()) return std::nullopt;
    return first_of(in_the_way);
}

Event Controller::evict(const Error& lack, std::span<const Tile> needed) {
    std::vector<Resident> here = residents(needed);
    using Which = bool (*)(const Resident&);
    constexpr Which is_elsewhere = [](const Resident& one) { return one.is_elsewhere; };
    constexpr Which is_not_needed = [](const Resident& one) { return !one.is_needed; };
    constexpr Which is_larger = [](const Resident& one) { return one.is_larger; };
    const bool one_must_go = std::ranges::any_of(here, is_elsewhere);
    if (const std::optional<Event> room = free_one(here, one_must_go ? is_elsewhere : is_not_needed))
        return *room;
    if (const std::optional<Event> room = free_one(here, is_larger)) return *room; // a window suffices
    throw Error{ErrorKind::out_of_memory, lack.message() + "; " + why_it_is_full(needed, here)}
        .on_device(device_.info().id)
        .with_code(lack.native_code());
}

} // namespace headrace
