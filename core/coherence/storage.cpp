// core/coherence/storage.cpp - see storage.hpp.
#include <headrace/core/storage.hpp>

#include <new>
#include <utility>

namespace headrace {

namespace {

constexpr std::align_val_t host_alignment{64};

/// Stretches are not joined at once. Otherwise a program that uses parts and the whole in turn would pay for
/// each cut again and again.
constexpr unsigned passed_over_before_joined = 8;

std::shared_ptr<void> allocate_host(const std::string& name, Bytes bytes) {
    try {
        return {::operator new(bytes, host_alignment),
                [](void* memory) { ::operator delete(memory, host_alignment); }};
    } catch (const std::bad_alloc&) {
        throw Error{ErrorKind::out_of_memory, "the host has no " + std::to_string(bytes) + " bytes for '" +
                                                  name + "': make it smaller or split it"};
    }
}

/// A datum's host memory as kernels on the host see it.
class HostMemory final : public Memory {
public:
    HostMemory(void* address, Bytes size) : address_(address), size_(size) {}
    [[nodiscard]] Bytes size() const noexcept override { return size_; }
    [[nodiscard]] void* address() const noexcept override { return address_; }

private:
    void* address_;
    Bytes size_;
};

} // namespace

Tile::Tile(Storage& storage, Bytes begin, Bytes end) : storage_(&storage), begin_(begin), end_(end) {
    if (begin >= end || end > storage.bytes())
        throw Error{ErrorKind::invalid_argument, "bytes [" + std::to_string(begin) + ", " +
                                                     std::to_string(end) + ") of '" + storage.name() +
                                                     "', which has " + std::to_string(storage.bytes())};
}

Storage::Storage(std::string name, Bytes bytes, void* borrowed)
    : name_(std::move(name)), bytes_(bytes), lifeline_(std::make_shared<Lifeline>()) {
    if (bytes == 0) throw Error{ErrorKind::invalid_argument, "'" + name_ + "' has a size of zero"};
    if (borrowed != nullptr) host_ = std::shared_ptr<void>(borrowed, [](void*) {});
    stretches_.emplace(0, Stretch{0, bytes, Replicas(borrowed != nullptr)});
    lifeline_->storage = this;
}

Storage::Storage(std::string name, Bytes bytes, std::shared_ptr<void> host)
    : Storage(std::move(name), bytes) {
    host_ = std::move(host);
}

Storage::Storage(std::string name, Bytes bytes, Internal) : Storage(std::move(name), bytes) {
    internal_ = true;
}

Storage::~Storage() {
    const Request all{RequestKind::release, host_replica};
    for (;;) {
        drain(tile(), all);
        const std::scoped_lock alive(lifeline_->mutex);
        if (!under_way(tile(), all).empty()) continue; // a controller that evicts has used it in between
        lifeline_->storage = nullptr;
        holders_.clear(); // with the lifeline locked, so no controller, and so no device, ends before this
        return;
    }
}

void* Storage::host() {
    const std::scoped_lock lock(mutex_);
    return host_locked();
}

void* Storage::host_locked() {
    if (!host_) host_ = allocate_host(name_, bytes_);
    return host_.get();
}

Memory& Storage::host_view_locked() {
    if (!host_view_) host_view_ = std::make_unique<HostMemory>(host_locked(), bytes_);
    return *host_view_;
}

std::size_t Storage::stretches() {
    const std::scoped_lock lock(mutex_);
    return stretches_.size();
}

// Not in the header, because clang 15 as a HIP compiler crashes on lookups in this map.
Storage::Stretches::iterator Storage::stretch_with(Bytes at) { return std::prev(stretches_.upper_bound(at)); }

Storage::Stretches::iterator Storage::cut(const Tile& tile) {
    const auto first = cut(stretch_with(tile.begin()), tile.begin());
    auto last = first;
    while (last->second.end < tile.end()) ++last;
    const auto next = std::next(last);
    if (last->second.end > tile.end())
        cut(last, tile.end());
    else if (next != stretches_.end())
        next->second.passed_over = 0;
    return first;
}

Storage::Stretches::iterator Storage::cut(Stretches::iterator stretch, Bytes at) {
    Stretch& whole = stretch->second;
    if (whole.begin == at) {
        whole.passed_over = 0;
        return stretch;
    }
    const Bytes end = std::exchange(whole.end, at);
    return stretches_.emplace_hint(std::next(stretch), at, Stretch{at, end, whole.replicas});
}

void Storage::join(const Tile& tile) {
    auto one = stretch_with(tile.begin());
    for (auto next = std::next(one); next != stretches_.end() && next->first < tile.end();) {
        if (++next->second.passed_over >= passed_over_before_joined &&
            one->second.replicas == next->second.replicas) {
            one->second.end = next->second.end;
            next = stretches_.erase(next);
        } else {
            one = next++;
        }
    }
}

ReplicaNumber Storage::replica_of(const Controller& controller) const noexcept {
    for (std::size_t i = 0; i < holders_.size(); ++i)
        if (holders_[i].controller == &controller) return static_cast<ReplicaNumber>(i + 1);
    return host_replica;
}

std::unique_ptr<Memory> Storage::drop(ReplicaNumber replica) {
    each_stretch(0, bytes_, [replica](Stretch& stretch) {
        stretch.replicas.sweep();
        stretch.replicas.drop(replica);
    });
    Holder& holder = this->holder(replica);
    holder.controller = nullptr;
    return std::move(holder.memory);
}

std::vector<EventSlotPtr> Storage::under_way_locked(const Tile& tile, const Request& request,
                                                    bool own_replica_only) {
    std::vector<EventSlotPtr> slots;
    each_stretch(tile.begin(), tile.end(), [&](const Stretch& stretch) {
        for (EventSlotPtr& slot : stretch.replicas.unfinished(request, own_replica_only))
            if (!slot->settled()) slots.push_back(std::move(slot));
    });
    return slots;
}

std::vector<EventSlotPtr> Storage::under_way(const Tile& tile, const Request& request) {
    const std::scoped_lock lock(mutex_);
    return under_way_locked(tile, request, false);
}

void Storage::drain(const Tile& tile, const Request& request) {
    for (std::vector<EventSlotPtr> slots; !(slots = under_way(tile, request)).empty();)
        for (const EventSlotPtr& slot : slots) static_cast<void>(slot->get().outcome());
}

} // namespace headrace
