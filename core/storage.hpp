// core/storage.hpp - one datum: its host memory, its memory on every controller that holds it, and its tiles.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/replicas.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace {

class Controller;
class Storage;

/// A byte range of a storage. Made by Storage::tiles, lives as long as the storage.
///
/// The ranges in which coherence is kept follow what programs ask for: asking for a smaller tile splits those
/// that it cuts. A tile that has been split since stays valid and means its whole range.
class Tile {
public:
    Tile(const Tile&) = delete; // requests hold its address
    Tile& operator=(const Tile&) = delete;

    [[nodiscard]] Storage& storage() const noexcept { return *storage_; }
    [[nodiscard]] Bytes begin() const noexcept { return begin_; }
    [[nodiscard]] Bytes end() const noexcept { return end_; }

private:
    friend class Storage;
    Tile(Storage& storage, Bytes begin, Bytes end, const Replicas& replicas)
        : storage_(&storage), begin_(begin), end_(end), replicas_(replicas) {}

    Storage* storage_;
    Bytes begin_, end_;
    Replicas replicas_; // of use until the tile is split
};

/// Chooses the constructor of an internal datum.
struct Internal {};
inline constexpr Internal internal;

/// One datum. Tied: it has a host image and device images. Internal: devices alone use it.
///
/// Host memory  borrowed (the contents count as written) or owned (64-byte aligned, allocated on first need)
/// Threads      any. The destructor waits for every request on the datum; nobody may submit one meanwhile
/// Errors       invalid_argument for a size of zero or a range outside of it; out_of_memory with the size
class Storage {
public:
    /// `borrowed` is the caller's and outlives the storage; null: the storage owns its memory.
    Storage(std::string name, Bytes bytes, void* borrowed = nullptr);
    /// Memory from Device::allocate_host, say; the contents count as unwritten.
    Storage(std::string name, Bytes bytes, std::shared_ptr<void> host);
    Storage(std::string name, Bytes bytes, Internal);
    ~Storage();
    Storage(const Storage&) = delete; // requests hold its address
    Storage& operator=(const Storage&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool is_internal() const noexcept { return internal_; }
    /// Grows when a request that writes the datum is submitted, and with headrace::host_wrote: who has made
    /// something of the contents sees whether that is up to date.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_.load(std::memory_order_relaxed); }

    /// The host memory; allocated now if it has not been. It need not be up to date: see headrace::gather.
    [[nodiscard]] void* host();

    /// The tiles that cover [begin, end) exactly, in order; splits those that reach beyond it.
    [[nodiscard]] std::vector<Tile*> tiles(Bytes begin, Bytes end);
    [[nodiscard]] std::vector<Tile*> tiles() { return tiles(0, bytes_); }

private:
    friend class Controller;
    friend class Submission;
    friend void host_wrote(Tile& tile);
    friend bool is_unwritten(Tile&);
    friend void wait(Tile& tile);

    struct Holder {
        Controller* controller = nullptr; // null: a free place
        std::unique_ptr<Memory> memory;
        Bytes begin = 0;            // of what the memory holds; the whole, unless it is a window
        std::uint64_t last_use = 0; // by the controller's count of uses

        [[nodiscard]] Bytes end() const { return begin + memory->size(); }
        [[nodiscard]] bool holds(Bytes from, Bytes to) const { return begin <= from && to <= end(); }
    };
    /// Ends with the storage. A controller that goes away looks here whether it still has memory to free.
    struct Lifeline {
        std::mutex mutex;
        Storage* storage;
    };

    // With mutex_ held:
    /// Calls `visit` with each tile of [begin, end) that has not been split, in order.
    template <class Visit>
    void each_leaf(Bytes begin, Bytes end, const Visit& visit) {
        for (auto leaf = leaves_.lower_bound(begin); leaf != leaves_.end() && leaf->first < end; ++leaf)
            visit(*leaf->second);
    }
    void split(Bytes at);
    [[nodiscard]] static Replicas& replicas(Tile& tile) noexcept { return tile.replicas_; }
    [[nodiscard]] void* host_locked();
    [[nodiscard]] Memory& host_view_locked();
    /// `host_image` if it holds none.
    [[nodiscard]] Image image_of(const Controller& controller) const noexcept;
    [[nodiscard]] Holder& holder(Image image) { return holders_[image - 1]; }
    /// The image is gone, and its memory the caller's to free.
    [[nodiscard]] std::unique_ptr<Memory> drop(Image image);

    /// Blocks until no request on [begin, end) is under way for which `request` would wait; if
    /// `own_image_only`, among those on `request.image`. Takes mutex_ itself, and leaves it to others while
    /// it blocks.
    void drain(Bytes begin, Bytes end, const Request& request, bool own_image_only = false);

    std::string name_;
    Bytes bytes_;
    bool internal_ = false;
    std::atomic<std::uint64_t> changes_ = 0;
    std::mutex mutex_;
    std::shared_ptr<void> host_;
    std::unique_ptr<Memory> host_view_; // what kernels that work in place are given
    std::vector<Holder> holders_;       // image i is holders_[i - 1]
    std::vector<std::unique_ptr<Tile>> all_tiles_;
    std::map<Bytes, Tile*> leaves_; // by begin: those not split; they cover the storage
    bool warned_ = false;           // that it was read before anything wrote it
    std::shared_ptr<Lifeline> lifeline_;
};

/// Bytes [begin, end) of a datum.
struct StoragePart {
    Storage& storage;
    Bytes begin, end;
};

} // namespace headrace
