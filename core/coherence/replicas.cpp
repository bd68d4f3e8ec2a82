// core/coherence/replicas.cpp - see replicas.hpp.
#include <headrace/core/detail/replicas.hpp>

#include <algorithm>
#include <utility>

namespace headrace {

namespace {
/// Readers that nothing else orders or replaces (host tasks of several lanes, kernels of several streams) can
/// accumulate. If there are more entries than this, they are joined.
constexpr std::size_t compact_at = 48;
} // namespace

void EventSlot::publish(Event event) {
    event_ = std::move(event);
    // release: pairs with the acquire in get() and published(), after which event_ is read.
    published_.store(true, std::memory_order_release);
    published_.notify_all();
}

const Event& EventSlot::get() const {
    if (published()) return event_;
    if (!process_.is_of_this_process()) {
        static const Event lost =
            Event::failed(std::make_shared<const Error>(ProcessMark::error("a request")));
        return lost;
    }
    published_.wait(false, std::memory_order_acquire);
    return event_;
}

bool EventSlot::settled() const {
    if (!published()) return !process_.is_of_this_process();
    return !event_.state() || event_.state()->settled();
}

void Dependencies::add(const EventSlotPtr& slot, bool inherits) {
    const auto known = std::ranges::find(all_, slot, &Dependency::slot);
    if (known == all_.end())
        all_.push_back({slot, inherits});
    else
        known->inherits |= inherits;
}

void Dependencies::remove(const EventSlotPtr& slot) {
    std::erase_if(all_, [&](const Dependency& dependency) { return dependency.slot == slot; });
}

bool Dependencies::has(const EventSlotPtr& slot) const {
    return std::ranges::find(all_, slot, &Dependency::slot) != all_.end();
}

std::pmr::vector<Event> Dependencies::resolve() const {
    std::pmr::vector<Event> events(all_.get_allocator());
    events.reserve(all_.size());
    for (const Dependency& dependency : all_) {
        const Event& event = dependency.slot->get();
        const Event wanted = dependency.inherits ? event : event.order_only();
        if (!dependency.slot->settled() || wanted.outcome()) events.push_back(wanted);
    }
    return events;
}

Replicas::Replicas(bool host_is_current) {
    if (host_is_current) current_.insert(host_replica);
    producers_.resize(1);
}

void Replicas::sweep() {
    std::erase_if(unfinished_, [](const Unfinished& entry) { return entry.slot->settled(); });
    for (ReplicaNumber replica = 0; replica < producers_.size(); ++replica) {
        EventSlotPtr& producer = producers_[replica];
        if (!producer || !producer->settled()) continue;
        if (const ErrorPtr error = producer->get().outcome()) {
            current_.erase(replica);
            if (current_.empty()) poison_ = error;
        }
        producer.reset();
    }
}

void Replicas::collect(const Request& request, Dependencies& dependencies) const {
    for (const Unfinished& entry : unfinished_)
        if (waits_for(request, entry.request)) dependencies.add(entry.slot, false);
}

void Replicas::collect_producer(ReplicaNumber replica, Dependencies& dependencies) const {
    if (replica < producers_.size() && producers_[replica]) dependencies.add(producers_[replica], true);
}

void Replicas::record(const Request& request, const void* lane, const EventSlotPtr& slot) {
    std::erase_if(unfinished_, [&](const Unfinished& older) {
        return replaces(request, older.request, lane != nullptr && lane == older.lane);
    });
    unfinished_.push_back({request, lane, slot});
    if (unfinished_.size() > compact_at) compact();
}

void Replicas::compact() {
    std::vector<Unfinished> compacted;
    while (!unfinished_.empty()) {
        const Request request = unfinished_.front().request;
        std::vector<Event> events;
        std::erase_if(unfinished_, [&](const Unfinished& entry) {
            if (entry.request != request) return false;
            if (entry.slot->published())
                events.push_back(entry.slot->get().order_only());
            else
                compacted.push_back(entry); // another thread is about to enqueue it
            return true;
        });
        if (events.empty()) continue;
        auto joined = std::make_shared<EventSlot>();
        joined->publish(Event::all(events));
        compacted.push_back({request, nullptr, std::move(joined)});
    }
    unfinished_ = std::move(compacted);
}

void Replicas::copied_to(ReplicaNumber replica, const EventSlotPtr& producer) {
    if (producers_.size() <= replica) producers_.resize(replica + 1);
    producers_[replica] = producer;
    current_.insert(replica);
}

void Replicas::written(ReplicaNumber replica, const EventSlotPtr& producer) {
    producers_.assign(replica + 1, nullptr);
    producers_[replica] = producer;
    current_ = {replica};
    poison_.reset();
}

void Replicas::drop(ReplicaNumber replica) {
    current_.erase(replica);
    if (replica < producers_.size()) producers_[replica].reset();
}

bool Replicas::can_do_without(ReplicaNumber replica) const noexcept {
    ReplicaSet others = current_;
    others.erase(replica);
    return !current_.has(replica) || !others.empty();
}

std::vector<EventSlotPtr> Replicas::unfinished(const Request& request, bool own_replica_only) const {
    std::vector<EventSlotPtr> slots;
    for (const Unfinished& entry : unfinished_)
        if (waits_for(request, entry.request) &&
            (!own_replica_only || entry.request.replica == request.replica))
            slots.push_back(entry.slot);
    return slots;
}

} // namespace headrace
