// core/detail/replicas.hpp - the coherence state of a range of bytes: which replicas are current, and which
// requests have not ended. Only for the core; programs use Tile and Storage. Guarded by the mutex of the
// storage.
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

/// The event of a request that is analysed, but perhaps not yet enqueued.
///
/// Analysis is atomic. Enqueueing happens outside the locks, because a launch may take long. If a request
/// depends on one that is not yet enqueued, the submitting thread blocks until the event of that one exists.
/// No request waits for a request that was analysed later, so there is no deadlock.
class HEADRACE_EXPORT EventSlot {
public:
    EventSlot() = default;
    EventSlot(const EventSlot&) = delete; // threads wait on its address
    EventSlot& operator=(const EventSlot&) = delete;

    void publish(Event event);
    /// Blocks until published. In a forked child, what was not published has failed.
    [[nodiscard]] const Event& get() const;
    [[nodiscard]] bool published() const noexcept { return published_.load(std::memory_order_acquire); }
    /// True if the host knows that the request has ended. Does not ask a driver.
    [[nodiscard]] bool settled() const;

private:
    const ProcessMark process_;
    Event event_;
    std::atomic<bool> published_ = false;
};
using EventSlotPtr = std::shared_ptr<EventSlot>;

/// One request that another one waits for. `inherits`: it made data that the other one reads, which inherits
/// its failure. Else it only gives order.
struct Dependency {
    EventSlotPtr slot;
    bool inherits;
};

/// A set: each slot is in it once. It inherits if one of the added entries does.
class HEADRACE_EXPORT Dependencies {
public:
    explicit Dependencies(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : all_(memory) {}

    void add(const EventSlotPtr& slot, bool inherits);
    void remove(const EventSlotPtr& slot);
    [[nodiscard]] bool has(const EventSlotPtr& slot) const;
    /// Blocks until all are published. Omits ended requests, except failures that are inherited.
    [[nodiscard]] std::pmr::vector<Event> resolve() const;

private:
    std::pmr::vector<Dependency> all_;
};

/// See the top of the file. Copies are independent: to cut a range, its state is copied.
class HEADRACE_EXPORT Replicas {
public:
    /// True: the user has filled the storage, so the host replica is current. False: no replica is current.
    explicit Replicas(bool host_is_current);

    [[nodiscard]] ReplicaSet current() const noexcept { return current_; }
    /// The Error of a failed writer, if no replica is current because of it; else null.
    [[nodiscard]] const ErrorPtr& poison() const noexcept { return poison_; }
    /// The request that made `replica`; null: it ended with success, or there is none.
    [[nodiscard]] const EventSlotPtr& producer(ReplicaNumber replica) const noexcept {
        return producers_[replica];
    }

    /// Processes the outcomes of ended requests: if the producer of a replica failed, it is not current.
    void sweep();
    /// Adds the requests that `request` must wait for.
    void collect(const Request& request, Dependencies& dependencies) const;
    /// Adds the producer of `replica`. A reader of the replica inherits the producer's failure.
    void collect_producer(ReplicaNumber replica, Dependencies& dependencies) const;
    /// Records a request. `lane`: the in-order stream that the request runs on; null if only its event orders
    /// the request.
    void record(const Request& request, const void* lane, const EventSlotPtr& slot);

    /// The replica `replica` becomes current, by a copy from another one.
    void copied_to(ReplicaNumber replica, const EventSlotPtr& producer);
    /// Only `replica` is current. Clears `poison`.
    void written(ReplicaNumber replica, const EventSlotPtr& producer);
    /// Removes `replica`.
    void drop(ReplicaNumber replica);

    /// Unfinished requests that `request` would wait for; with `own_replica_only`, only those on its replica.
    [[nodiscard]] std::vector<EventSlotPtr> unfinished(const Request& request, bool own_replica_only) const;
    /// True if no contents are lost with `replica`. No request may use it. (An unfinished copy to
    /// another replica may fail, but it comes from a third replica, which is current.)
    [[nodiscard]] bool can_do_without(ReplicaNumber replica) const noexcept;
    /// The number of recorded requests; bounded for any number of submitted requests.
    [[nodiscard]] std::size_t remembered() const noexcept { return unfinished_.size(); }
    /// True if both have recorded the same requests, and the same replicas are current.
    friend bool operator==(const Replicas&, const Replicas&) = default;

private:
    struct Unfinished {
        Request request;
        const void* lane;
        EventSlotPtr slot;
        friend bool operator==(const Unfinished&, const Unfinished&) = default;
    };

    void compact();

    ReplicaSet current_;
    std::vector<EventSlotPtr> producers_; // by replica
    ErrorPtr poison_;
    std::vector<Unfinished> unfinished_;
};

} // namespace headrace
