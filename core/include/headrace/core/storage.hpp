// core/storage.hpp - one datum: its host memory, its memory on every controller that holds it, and what is
// current of it where.
#pragma once
#include <headrace/core/detail/replicas.hpp>
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>

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

/// Bytes [begin, end) of a storage, which outlives it: what requests name.
///
/// Tiles may overlap, and any may be asked for at any time: the storage cuts the ranges in which it keeps
/// coherence where requests need it, and joins them where none has for a while.
class HEADRACE_EXPORT Tile {
public:
    /// Throws invalid_argument for a range that is empty or reaches outside.
    Tile(Storage& storage, Bytes begin, Bytes end);

    [[nodiscard]] Storage& storage() const noexcept { return *storage_; }
    [[nodiscard]] Bytes begin() const noexcept { return begin_; }
    [[nodiscard]] Bytes end() const noexcept { return end_; }
    [[nodiscard]] Bytes size() const noexcept { return end_ - begin_; }
    friend bool operator==(const Tile&, const Tile&) = default;

private:
    Storage* storage_;
    Bytes begin_, end_;
};

/// Chooses the constructor of an internal datum.
struct Internal {};
inline constexpr Internal internal;

/// One datum. Tied: it has a host image and device images. Internal: devices alone use it.
///
/// Host memory  borrowed (the contents count as written) or owned (64-byte aligned, allocated on first need)
/// Threads      any. The destructor waits for every request on the datum; nobody may submit one meanwhile
/// Errors       invalid_argument for a size of zero or a range outside of it; out_of_memory with the size
class HEADRACE_EXPORT Storage {
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

    [[nodiscard]] Tile tile(Bytes begin, Bytes end) { return {*this, begin, end}; }
    /// All of it.
    [[nodiscard]] Tile tile() { return {*this, 0, bytes_}; }

    /// How many ranges coherence is kept in, for those who wonder.
    [[nodiscard]] std::size_t stretches();

private:
    friend class Controller;
    friend class Submission;
    friend void host_wrote(const Tile& tile);
    friend void mark_failed(const Tile& tile, const ErrorPtr& error);
    friend std::vector<Tile> unwritten_parts(const Tile& tile);
    friend ErrorPtr failure_of(const Tile& tile);
    friend void wait(const Tile& tile);

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

    /// A range with one coherence state.
    struct Stretch {
        Bytes begin, end;
        Replicas replicas;
        unsigned passed_over = 0; ///< so many requests went on from the one before into this one
    };
    using Stretches = std::map<Bytes, Stretch>; ///< by begin

    // With mutex_ held:
    /// Calls `visit` with each stretch from `first` to one that ends at `end` or beyond it.
    template <class Visit>
    void each_stretch(Stretches::iterator first, Bytes end, const Visit& visit) {
        for (; first != stretches_.end() && first->first < end; ++first) visit(first->second);
    }
    /// Those that have bytes of [begin, end).
    template <class Visit>
    void each_stretch(Bytes begin, Bytes end, const Visit& visit) {
        each_stretch(stretch_with(begin), end, visit);
    }
    [[nodiscard]] Stretches::iterator stretch_with(Bytes at);
    /// Stretches begin and end where the tile does, from here on. Returns the first of them, which stays
    /// until some are joined.
    Stretches::iterator cut(const Tile& tile);
    /// Returns the one that begins there.
    Stretches::iterator cut(Stretches::iterator stretch, Bytes at);
    /// After a request: stretches of the tile that have come to be alike are one, unless some request has
    /// ended between them not long ago.
    void join(const Tile& tile);
    [[nodiscard]] void* host_locked();
    [[nodiscard]] Memory& host_view_locked();
    /// `host_image` if it holds none.
    [[nodiscard]] Image image_of(const Controller& controller) const noexcept;
    [[nodiscard]] Holder& holder(Image image) { return holders_[image - 1]; }
    /// The image is gone, and its memory the caller's to free.
    [[nodiscard]] std::unique_ptr<Memory> drop(Image image);

    /// Blocks until no request on the tile is under way for which `request` would wait; if
    /// `own_image_only`, among those on `request.image`. Takes mutex_ itself, and leaves it to others while
    /// it blocks.
    void drain(const Tile& tile, const Request& request, bool own_image_only = false);

    std::string name_;
    Bytes bytes_;
    bool internal_ = false;
    std::atomic<std::uint64_t> changes_ = 0;
    std::mutex mutex_;
    std::shared_ptr<void> host_;
    std::unique_ptr<Memory> host_view_; // what kernels that work in place are given
    std::vector<Holder> holders_;       // image i is holders_[i - 1]
    Stretches stretches_;               // they cover the storage
    bool warned_ = false;               // that it was read before anything wrote it
    std::shared_ptr<Lifeline> lifeline_;
};

} // namespace headrace
