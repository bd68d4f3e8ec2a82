// core/controller.hpp - a device's ordered request streams, with dependencies and transfers found from the
// data. The lower of the two public levels: tiles, kernels, host tasks. Jobs are built on it.
#pragma once
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
    /// A device that could work in place on host memory gets copies of its own all the same.
    bool private_copies = false;
    /// A device with memory of its own works in place on data whose host memory it reaches (see
    /// Device::reaches_host), and copies nothing of them.
    bool host_in_place = false;
    /// Submitting returns at once (see Stream for when it does not); else it returns when the request has
    /// ended, which finds mistakes.
    bool asynchronous = true;
};

/// Bytes that a controller's transfers were asked to move.
struct Traffic {
    std::uint64_t in = 0;  ///< to the device, from the host or a peer
    std::uint64_t out = 0; ///< to the host
};

/// Kernels, transfers and host tasks on one device. Requests run as soon as those that they depend on have
/// ended, in an order that gives every kernel the data that the order of submission implies; stale images are
/// brought up to date on the way.
///
/// Threads   any, also on tiles that other controllers use: each request is analysed in one step. Submitting
///           may settle events of earlier requests: hold no lock that their continuations take
/// Errors    misuse and lack of memory throw, and then nothing has changed. A failed request fails its event;
///           tiles that it would have written become invalid, and what reads them fails with the same error
///           until a request with `write` access succeeds. Those that were only ordered after it are not hurt
/// Lifetime  the device outlives the controller; storages may end before or after it. The destructor waits
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
    /// True if kernels work in place on the host image of whatever they use.
    [[nodiscard]] bool is_zero_copy() const noexcept { return zero_copy_; }
    /// True if kernels work in place on the host image of this datum.
    [[nodiscard]] bool is_in_place(Storage& storage) const {
        const std::scoped_lock lock(storage.mutex_);
        return works_in_place(storage);
    }
    /// See ControllerOptions::asynchronous; from the next request on.
    void set_asynchronous(bool asynchronous) noexcept { asynchronous_ = asynchronous; }

    /// A kernel on a stream of the caller's: `start` enqueues it. See Starter for what `start` may do.
    Event submit(std::string_view name, std::span<const TileUse> uses, const Starter& start,
                 const TraceLabel& label = {});
    /// A kernel on this controller's own stream; those run one after another.
    Event launch(std::string_view name, std::span<const TileUse> uses, Stream::Body body);
    /// A host task on this controller's lane, ordered by data like a kernel. May use tiles of other
    /// controllers.
    Event host_task(std::string_view name, std::span<const TileUse> uses, std::function<void()> task);
    Event host_task(std::span<const TileUse> uses, std::function<void()> task) {
        return host_task("host task", uses, std::move(task));
    }

    /// What kernels of this controller use for `storage`; allocated on first use, as large as the storage.
    [[nodiscard]] Memory& memory(Storage& storage);
    /// Memory that holds part of a datum; `begin` is where it begins in the datum, some bytes before the
    /// part.
    struct Window {
        Memory& memory;
        Bytes begin;
    };
    /// What kernels use for that part, where the whole may be too large: if nothing of the datum is here yet,
    /// the part alone is allocated, and this controller has no more of the datum until that is released or
    /// has made room. Throws out_of_memory also if another part is here.
    [[nodiscard]] Window window(const Tile& part);
    /// Makes this controller's image current, wherever the data is: what a kernel that reads would move.
    Event prefetch(const Tile& tile);
    /// Host to device and back. An image that is current already is not moved again; a stale source throws.
    Event move_to(const Tile& tile);
    Event move_from(const Tile& tile);
    /// Brings the host image up to date.
    Event gather(const Tile& tile) { return headrace::gather(tile); }
    /// See headrace::host_wrote.
    void host_wrote(const Tile& tile) { headrace::host_wrote(tile); }

    /// Since the controller was made.
    [[nodiscard]] Traffic traffic() const noexcept;

    /// See headrace::wait.
    void wait(const Tile& tile) { headrace::wait(tile); }
    /// Blocks until every kernel and host task submitted here has ended; throws the first failure since the
    /// last call.
    void wait_all();
    /// Frees this controller's image of `storage`, once nothing uses it. What only that image held is lost.
    void release(Storage& storage);

    /// For who has been told that the device is full (`lack`), and will try again: frees the image here of a
    /// datum that is not `needed` and that no request uses. Those go first whose contents are elsewhere, too;
    /// then those that can be brought to the host before. Of each kind the one that was not used for longest.
    ///
    /// Returns when to try again: a complete event if something has been freed; else one that completes when
    /// the first request has ended of those in the way, and fails if an image cannot be brought to the host.
    /// Waits for no request. Throws out_of_memory, with what is needed and what else is here, if there is
    /// nothing to free or to wait for. What `memory` returned of a datum that is not needed may be gone.
    /// An image of what is needed that holds another part of it goes before all others; one that holds more
    /// than is needed, after them.
    [[nodiscard]] Event make_room(const Error& lack, std::span<const Tile> needed);

private:
    friend class Submission;

    struct TransferStream {
        std::mutex mutex;
        std::unique_ptr<Stream> stream;
        std::atomic<std::uint64_t> bytes = 0; ///< moved
    };
    using Lifelines = std::vector<std::weak_ptr<Storage::Lifeline>>;
    /// What is aligned in the whole is aligned in a window: Device::allocate's.
    static constexpr Bytes window_alignment = 64;
    struct Resident; // of what is held here, for make_room

    [[nodiscard]] bool holds(Storage& storage) const;
    // With the storage's mutex held:
    [[nodiscard]] bool works_in_place(const Storage& storage) const;
    /// `host_image` for kernels that work in place. Where there is none, an image of `wanted` is allocated.
    [[nodiscard]] Image image_with(const Tile& needed, const Tile& wanted);
    /// The image is gone, and its memory the caller's to free.
    [[nodiscard]] std::unique_ptr<Memory> drop(Storage& storage, Image image);
    void free_image(Storage& storage);
    [[nodiscard]] std::vector<Resident> residents(std::span<const Tile> needed);
    [[nodiscard]] std::optional<Event> free_one(std::span<Resident> here, bool (*may_go)(const Resident&));
    [[nodiscard]] bool evict(Resident& resident);
    [[nodiscard]] std::optional<Event> write_back(const Resident& resident);
    [[nodiscard]] std::string why_it_is_full(std::span<const Tile> needed, std::vector<Resident> here) const;
    Event explicit_move(const Tile& tile, bool to_host);
    Event remember(Event event);
    void forget_ended();
    std::vector<Event> take_under_way();

    Device& device_;
    const bool zero_copy_, host_in_place_;
    std::atomic<bool> asynchronous_;
    InOrderLane lane_;
    std::unique_ptr<Stream> kernels_; // its order is that of lane_
    TransferStream to_device_, from_device_;
    std::atomic<std::uint64_t> uses_ = 0; // of images: which was not used for longest
    std::mutex mutex_;                    // guards what follows
    Lifelines held_;
    std::vector<Event> under_way_; // in the order of submission
    std::size_t sweep_at_ = 256;   // so many of them, and those that have ended are dropped
    std::uint64_t taken_ = 0;      // how often wait_all took all of them
    bool sweeping_ = false;
    ErrorPtr first_failure_;
    std::unique_ptr<HostLane> host_lane_; // made on first use
};

} // namespace headrace
