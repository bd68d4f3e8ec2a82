// core/storage.cpp - see storage.hpp.
#include <headrace/core/storage.hpp>

#include <new>
#include <utility>

namespace headrace {

namespace {

constexpr std::align_val_t host_alignment{64};

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

Storage::Storage(std::string name, Bytes bytes, void* borrowed)
    : name_(std::move(name)), bytes_(bytes), lifeline_(std::make_shared<Lifeline>()) {
    if (bytes == 0) throw Error{ErrorKind::invalid_argument, "'" + name_ + "' has a size of zero"};
    if (borrowed != nullptr) host_ = std::shared_ptr<void>(borrowed, [](void*) {});
    all_tiles_.push_back(std::unique_ptr<Tile>(new Tile(*this, 0, bytes, Replicas(borrowed != nullptr))));
    leaves_[0] = all_tiles_.back().get();
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
    const std::scoped_lock alive(lifeline_->mutex);
    drain(0, bytes_, {RequestKind::release, host_image});
    lifeline_->storage = nullptr;
    holders_.clear(); // under the lifeline: no controller, and so no device, goes away meanwhile
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

std::vector<Tile*> Storage::tiles(Bytes begin, Bytes end) {
    if (begin >= end || end > bytes_)
        throw Error{ErrorKind::invalid_argument, "bytes [" + std::to_string(begin) + ", " +
                                                     std::to_string(end) + ") of '" + name_ +
                                                     "', which has " + std::to_string(bytes_)};
    const std::scoped_lock lock(mutex_);
    split(begin);
    split(end);
    std::vector<Tile*> covering;
    each_leaf(begin, end, [&](Tile& leaf) { covering.push_back(&leaf); });
    return covering;
}

void Storage::split(Bytes at) {
    if (at == bytes_) return;
    const auto leaf = std::prev(leaves_.upper_bound(at));
    const Tile& whole = *leaf->second;
    if (whole.begin_ == at) return;
    // Two new ones, so that whoever holds the old one still means all of it.
    for (const auto& [begin, end] : {std::pair{whole.begin_, at}, std::pair{at, whole.end_}}) {
        all_tiles_.push_back(std::unique_ptr<Tile>(new Tile(*this, begin, end, whole.replicas_)));
        leaves_[begin] = all_tiles_.back().get();
    }
}

Image Storage::image_of(const Controller& controller) const noexcept {
    for (std::size_t i = 0; i < holders_.size(); ++i)
        if (holders_[i].controller == &controller) return static_cast<Image>(i + 1);
    return host_image;
}

std::unique_ptr<Memory> Storage::drop(Image image) {
    each_leaf(0, bytes_, [image](Tile& leaf) {
        leaf.replicas_.sweep();
        leaf.replicas_.drop(image);
    });
    Holder& holder = this->holder(image);
    holder.controller = nullptr;
    return std::move(holder.memory);
}

void Storage::drain(Bytes begin, Bytes end, const Request& request, bool own_image_only) {
    for (;;) {
        std::vector<EventSlotPtr> under_way;
        {
            const std::scoped_lock lock(mutex_);
            each_leaf(begin, end, [&](const Tile& leaf) {
                for (EventSlotPtr& slot : leaf.replicas_.unfinished(request, own_image_only))
                    if (!slot->settled()) under_way.push_back(std::move(slot));
            });
        }
        if (under_way.empty()) return;
        for (const EventSlotPtr& slot : under_way) static_cast<void>(slot->get().outcome());
    }
}

} // namespace headrace
