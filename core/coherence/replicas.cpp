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
    if (!published()) published_.wait(false, std::memory_order_acquire);
    return event_;
}

bool EventSlot::settled() const { return published() && (!event_.state() || event_.state()->settled()); }

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
    if (host_is_current) current_.insert(host_image);
    producers_.resize(1);
}

void Replicas::sweep() {
    std::erase_if(unfinished_, [](const Unfinished& entry) { return entry.slot->settled(); });
    for (Image image = 0; image < producers_.size(); ++image) {
        EventSlotPtr& producer = producers_[image];
        if (!producer || !producer->settled()) continue;
        if (const ErrorPtr error = producer->get().outcome()) {
            current_.erase(image);
            if (current_.empty()) poison_ = error;
        }
        producer.reset();
    }
}

void Replicas::collect(const Request& request, Dependencies& dependencies) const {
    for (const Unfinished& entry : unfinished_)
        if (waits_for(request, entry.request)) dependencies.add(entry.slot, false);
}

void Replicas::collect_producer(Image image, Dependencies& dependencies) const {
    if (image < producers_.size() && producers_[image]) dependencies.add(producers_[image], true);
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

void Replicas::copied_to(Image image, const EventSlotPtr& producer) {
    if (producers_.size() <= image) producers_.resize(image + 1);
    producers_[image] = producer;
    current_.insert(image);
}

void Replicas::written(Image image, const EventSlotPtr& producer) {
    producers_.assign(image + 1, nullptr);
    producers_[image] = producer;
    current_ = {image};
    poison_.reset();
}

void Replicas::drop(Image image) {
    current_.erase(image);
    if (image < producers_.size()) producers_[image].reset();
}

bool Replicas::can_do_without(Image image) const noexcept {
    ImageSet others = current_;
    others.erase(image);
    return !current_.has(image) || !others.empty();
}

std::vector<EventSlotPtr> Replicas::unfinished(const Request& request, bool own_image_only) const {
    std::vector<EventSlotPtr> slots;
    for (const Unfinished& entry : unfinished_)
        if (waits_for(request, entry.request) && (!own_image_only || entry.request.image == request.image))
            slots.push_back(entry.slot);
    return slots;
}

} // namespace headrace
