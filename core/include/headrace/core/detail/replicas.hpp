// core/detail/replicas.hpp - the coherence state of a range of bytes: which images are current, and what is
// still under way on it. For the core itself; programs use Tile and Storage. Guarded by the mutex of the
// tile's storage.
#pragma once
#include <headrace/core/detail/dependencies.hpp>
#include <headrace/core/detail/transfers.hpp>
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

namespace headrace {

/// The event of a request that has been analysed and may not have been enqueued yet.
///
/// Analysis is atomic; enqueueing happens outside its locks, since a launch may take long. A request that
/// must wait for one in between blocks the submitting thread until that one's event is there. Nobody waits
/// for what was analysed later, so this ends.
class HEADRACE_EXPORT EventSlot {
public:
    EventSlot() = default;
    EventSlot(const EventSlot&) = delete; // waited on by address
    EventSlot& operator=(const EventSlot&) = delete;

    void publish(Event event);
    /// Blocks until published.
    [[nodiscard]] const Event& get() const;
    [[nodiscard]] bool published() const noexcept { return published_.load(std::memory_order_acquire); }
    /// True if the host knows that the request has ended. Asks no driver.
    [[nodiscard]] bool settled() const;

private:
    Event event_;
    std::atomic<bool> published_ = false;
};
using EventSlotPtr = std::shared_ptr<EventSlot>;

/// What a request waits for. It inherits failures of those that made the data it reads; the rest only go
/// before.
struct Dependency {
    EventSlotPtr slot;
    bool inherits;
};

/// Each slot once; inherits if any does.
class HEADRACE_EXPORT Dependencies {
public:
    explicit Dependencies(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : all_(memory) {}

    void add(const EventSlotPtr& slot, bool inherits);
    void remove(const EventSlotPtr& slot);
    [[nodiscard]] bool has(const EventSlotPtr& slot) const;
    /// Blocks until all are published; leaves out what has ended well.
    [[nodiscard]] std::pmr::vector<Event> resolve() const;

private:
    std::pmr::vector<Dependency> all_;
};

/// See the top of the file. Copies are independent: that is how a range is cut.
class HEADRACE_EXPORT Replicas {
public:
    /// Storage that the user has filled: the host image is current. Else no image is.
    explicit Replicas(bool host_is_current);

    [[nodiscard]] ImageSet current() const noexcept { return current_; }
    /// Why no image is current, if it is because a request failed that would have written the tile.
    [[nodiscard]] const ErrorPtr& poison() const noexcept { return poison_; }
    /// The request that made `image` what it is; null: it ended well.
    [[nodiscard]] const EventSlotPtr& producer(Image image) const noexcept { return producers_[image]; }

    /// Takes notice of outcomes: an image whose producer failed is current no more.
    void sweep();
    /// Adds what `request` must wait for.
    void collect(const Request& request, Dependencies& dependencies) const;
    /// Adds the producer of `image`, whose failure the reader of that image inherits.
    void collect_producer(Image image, Dependencies& dependencies) const;
    /// Remembers a request. `lane`: the in-order stream that it runs on; null if it is ordered by its event
    /// alone.
    void record(const Request& request, const void* lane, const EventSlotPtr& slot);

    /// `image` becomes current by copying it from another one.
    void copied_to(Image image, const EventSlotPtr& producer);
    /// `image` alone is current. Heals what was poisoned.
    void written(Image image, const EventSlotPtr& producer);
    /// `image` is gone.
    void drop(Image image);

    /// Requests under way that a `request` would wait for; if `own_image_only`, among those on its own image.
    [[nodiscard]] std::vector<EventSlotPtr> unfinished(const Request& request, bool own_image_only) const;
    /// True if no contents are lost with `image`, of which no request is under way. (A copy that is still on
    /// its way to another image, and may fail, comes from a third one that is current.)
    [[nodiscard]] bool can_do_without(Image image) const noexcept;
    /// How many requests are remembered; bounded, however many there are.
    [[nodiscard]] std::size_t remembered() const noexcept { return unfinished_.size(); }
    /// All requests that are remembered here are remembered there, with the same images current.
    friend bool operator==(const Replicas&, const Replicas&) = default;

private:
    struct Unfinished {
        Request request;
        const void* lane;
        EventSlotPtr slot;
        friend bool operator==(const Unfinished&, const Unfinished&) = default;
    };

    void compact();

    ImageSet current_;
    std::vector<EventSlotPtr> producers_; // by image
    ErrorPtr poison_;
    std::vector<Unfinished> unfinished_;
};

} // namespace headrace
