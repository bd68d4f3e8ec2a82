// core/controller.hpp - the request streams of a device. Dependencies and transfers are derived from the
// data. The lower of the two public levels: tiles, kernels, host tasks. Jobs are built on it.
#pragma once
#include <headrace/core/detail/process_mark.hpp>
#include <headrace/core/detail/submission.hpp>
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/host_lane.hpp>
#include <headrace/core/storage.hpp>
#include <headrace/core/trace.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

struct ControllerOptions {
    /// A device that can work in place on host memory uses its own copies anyway.
    bool private_copies = false;
    /// A device with its own memory works in place on a datum if it reaches the host memory of the datum (see
    /// Device::reaches_host). It copies nothing of such data.
    bool host_in_place = false;
    /// True: submitting returns at once (exception: see Stream). False: it returns when the request has
    /// ended, which helps to find mistakes.
    bool asynchronous = true;
};

/// Bytes that a controller's transfers move, counted when a transfer is enqueued.
struct Traffic {
    std::uint64_t in = 0;  ///< to the device, from the host or a peer
    std::uint64_t out = 0; ///< to the host
};

/// Kernels, transfers and host tasks on one device. A request runs as soon as all requests that it depends on
/// have ended. Each kernel finds the data that the order of submission implies: stale replicas are updated
/// before it runs.
///
/// Threads   any, also on tiles that other controllers use: each request is analysed atomically. Submitting
///           may settle earlier events: the caller must hold no lock that their continuations take
/// Errors    misuse and lack of memory throw and change nothing. A failed request fails its event. The tiles
///           that it would have written become invalid: requests that read them fail with the same error,
///           until a request with `write` access succeeds. Requests ordered only after it are not affected
///           A child of fork() cannot use a controller of its parent: requests throw invalid_argument there
/// Lifetime  the device outlives the controller; storages need not. The destructor waits for all requests
/// Source    Y. Torres et al., "Supporting efficient overlapping of host-device operations for heterogeneous
///           programming with CtrlEvents", JPDC 2023, sec. 4; S. Alonso Pascual, "Modelo de ejecución y
///           sincronización en múltiples dispositivos heterogéneos", master's thesis, A Coruña 2023, ch. 4
class HEADRACE_EXPORT Controller {
public:
    explicit Controller(Device& device, ControllerOptions options = {});
    ~Controller();
    Controller(const Controller&) = delete; // storages hold its address
    Controller& operator=(const Controller&) = delete;

    [[nodiscard]] Device& device() const noexcept { return device_; }
    /// True if kernels work in place on the host replica of all data.
    [[nodiscard]] bool is_zero_copy() const noexcept { return zero_copy_; }
    /// True if kernels work in place on the host replica of this datum.
    [[nodiscard]] bool is_in_place(Storage& storage) const {
        const std::scoped_lock lock(storage.mutex_);
        return works_in_place(storage);
    }
    /// Throws invalid_argument in a forked child: the threads of the device's streams are not there.
    void check_process() const {
        if (!process_.is_of_this_process()) throw ProcessMark::error("device '" + device_.info().id + "'");
    }
    /// See ControllerOptions::asynchronous; applies from the next request on.
    void set_asynchronous(bool asynchronous) noexcept { asynchronous_ = asynchronous; }

    /// Submits a kernel on a stream of the caller: `start` enqueues it. Starter says what `start` may do.
    Event submit(std::string_view name, std::span<const TileUse> uses, const Starter& start,
                 const TraceLabel& label = {});
    /// Submits a kernel on this controller's own stream, which runs one kernel after another.
    Event launch(std::string_view name, std::span<const TileUse> uses, Stream::Body body);
    /// Submits a host task on this controller's host lane. Its data order it, like a kernel. It may use tiles
    /// of other controllers.
    Event host_task(std::string_view name, std::span<const TileUse> uses, std::function<void()> task);
    Event host_task(std::span<const TileUse> uses, std::function<void()> task) {
        return host_task("host task", uses, std::move(task));
    }

    /// The memory that this controller's kernels use for all of `storage`. The first call allocates it.
    [[nodiscard]] Memory& memory(Storage& storage);
    /// Memory that holds a part of a datum. It starts at byte `begin` of the datum, which can be some bytes
    /// before the part.
    struct Window {
        Memory& memory;
        Bytes begin;
    };
    /// The memory that kernels use for `part`, if the whole datum may be too large. If this controller holds
    /// nothing of the datum, only the part is allocated. The controller then holds only this part until it is
    /// released or evicted. Throws out_of_memory also if the controller holds another part.
    [[nodiscard]] Window window(const Tile& part);
    /// Makes this controller's replica current. It moves the same data as a kernel that reads the tile.
    Event prefetch(const Tile& tile);
    /// Copies from host to device, or back. Copies nothing to a current replica. A stale source throws.
    Event move_to(const Tile& tile);
    Event move_from(const Tile& tile);
    /// Updates the host replica.
    Event gather(const Tile& tile) { return headrace::gather(tile); }
    /// See headrace::host_wrote.
    void host_wrote(const Tile& tile) { headrace::host_wrote(tile); }

    /// The traffic since the controller was made.
    [[nodiscard]] Traffic traffic() const noexcept;

    /// See headrace::wait.
    void wait(const Tile& tile) { headrace::wait(tile); }
    /// Blocks until every kernel and host task submitted here has ended; throws the first failure since the
    /// last call.
    void wait_all();
    /// Waits until this controller's replica of `storage` is unused, then frees it. Data only there is lost.
    void release(Storage& storage);

    /// Evicts one replica here. Call it when an allocation has failed with `lack`, then retry. It takes a
    /// datum that is not `needed` and that no request uses. First choice: the contents are also elsewhere.
    /// Second: they can be copied to the host. Of each kind, the least recently used one goes first.
    ///
    /// Returns an event for the retry. It is complete if memory was freed. Else it completes when the first
    /// request or copy in the way has ended, and fails if a replica cannot be copied to the host.
    /// Waits for no request. Throws out_of_memory, with the needed data and the other data here, if there is
    /// nothing to free or to wait for. Results of `memory` for data that is not needed may become invalid.
    /// If a replica of needed data holds another part, it goes before all others. A replica that holds more
    /// than the needed part goes last.
    [[nodiscard]] Event evict(const Error& lack, std::span<const Tile> needed);
    [[deprecated("it is evict now"), nodiscard]] Event make_room(const Error& lack,
                                                                 std::span<const Tile> needed) {
        return evict(lack, needed);
    }

private:
    friend class Submission;

    struct TransferStream {
        std::mutex mutex;
        std::unique_ptr<Stream> stream;
        std::atomic<std::uint64_t> bytes = 0; ///< moved
    };
    using Lifelines = std::vector<std::weak_ptr<Storage::Lifeline>>;
    /// Data aligned in the whole datum is aligned in a window, too. Same as Device::allocate.
    static constexpr Bytes window_alignment = 64;
    struct Resident; // a datum that is held here, for evict

    [[nodiscard]] bool holds(Storage& storage) const;
    // With the storage's mutex held:
    [[nodiscard]] bool works_in_place(const Storage& storage) const;
    /// `host_replica` for kernels that work in place. If there is no replica, one of `wanted` is allocated.
    [[nodiscard]] ReplicaNumber replica_with(const Tile& needed, const Tile& wanted);
    /// Removes the replica and returns its memory, which the caller frees.
    [[nodiscard]] std::unique_ptr<Memory> drop(Storage& storage, ReplicaNumber replica);
    void free_replica(Storage::Lifeline& lifeline);
    [[nodiscard]] std::vector<Resident> residents(std::span<const Tile> needed);
    [[nodiscard]] std::optional<Event> free_one(std::span<Resident> here, bool (*may_go)(const Resident&));
    [[nodiscard]] bool try_to_evict(Resident& resident);
    [[nodiscard]] std::optional<Event> write_back(const Resident& resident);
    [[nodiscard]] std::string why_it_is_full(std::span<const Tile> needed, std::vector<Resident> here) const;
    Event explicit_move(const Tile& tile, bool to_host);
    Event remember(Event event);
    void forget_ended();
    std::vector<Event> take_under_way();

    Device& device_;
    const ProcessMark process_;
    const bool zero_copy_, host_in_place_;
    std::atomic<bool> asynchronous_;
    InOrderLane lane_;
    std::unique_ptr<Stream> kernels_; // in the same order as lane_
    TransferStream to_device_, from_device_;
    std::atomic<std::uint64_t> uses_ = 0; // use counter of replicas, for the least recently used
    std::mutex mutex_;                    // guards the members below
    Lifelines held_;
    std::vector<Event> under_way_; // in the order of submission
    std::size_t sweep_at_ = 256;   // at this size of under_way_, ended events are dropped
    std::uint64_t taken_ = 0;      // how often take_under_way took all of them
    bool sweeping_ = false;
    ErrorPtr first_failure_;
    std::unique_ptr<HostLane> host_lane_; // made on first use
};

} // namespace headrace
