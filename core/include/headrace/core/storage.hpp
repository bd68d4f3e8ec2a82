// core/storage.hpp - one datum: its host memory, its memory on each controller that holds it, and which of
// these replicas are current.
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

/// Bytes [begin, end) of a storage. Requests name tiles. The storage must outlive its tiles.
///
/// Tiles may overlap, and a request may use any tile at any time. The storage keeps coherence for ranges: it
/// cuts a range where a request needs this, and joins ranges if recent requests did not need the cut.
class HEADRACE_EXPORT Tile {
public:
    /// Throws invalid_argument for a range that is empty or not inside the storage.
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

/// Selects the constructor of an internal datum.
struct Internal {};
inline constexpr Internal internal;

/// One datum. A tied datum has a host replica and device replicas. Only devices use an internal datum.
///
/// Host memory  borrowed (the contents count as written) or owned (64-byte aligned, allocated on first need)
/// Threads      any. The destructor waits for all requests on the datum; no thread may then submit another
/// Errors       invalid_argument for a size of zero or a range outside of it; out_of_memory with the size
class HEADRACE_EXPORT Storage {
public:
    /// `borrowed` belongs to the caller and must outlive the storage; null: the storage owns its memory.
    Storage(std::string name, Bytes bytes, void* borrowed = nullptr);
    /// `host`: for example from Device::allocate_host; its contents count as unwritten.
    Storage(std::string name, Bytes bytes, std::shared_ptr<void> host);
    Storage(std::string name, Bytes bytes, Internal);
    ~Storage();
    Storage(const Storage&) = delete; // requests hold its address
    Storage& operator=(const Storage&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool is_internal() const noexcept { return internal_; }
    /// Grows when a request that writes the datum is submitted, and in host_wrote and mark_failed. Code that
    /// derived a result from the contents can see whether the result is still up to date.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_.load(std::memory_order_relaxed); }

    /// The host memory; the first call allocates it. It may be out of date: see headrace::gather.
    [[nodiscard]] void* host();

    [[nodiscard]] Tile tile(Bytes begin, Bytes end) { return {*this, begin, end}; }
    /// A tile of the whole storage.
    [[nodiscard]] Tile tile() { return {*this, 0, bytes_}; }

    /// The number of ranges that have a coherence state of their own, for diagnosis.
    [[nodiscard]] std::size_t stretches();

private:
    friend class Controller;
    friend class Submission;
    friend void host_wrote(const Tile& tile);
    friend void mark_failed(const Tile& tile, const ErrorPtr& error);
    friend void mark_unwritten(const Tile& tile);
    friend std::vector<Tile> unwritten_parts(const Tile& tile);
    friend ErrorPtr failure_of(const Tile& tile);
    friend void wait(const Tile& tile);

    struct Holder {
        Controller* controller = nullptr; // null: a free entry
        std::unique_ptr<Memory> memory;
        Bytes begin = 0;            // first byte of the datum in memory; 0 unless it is a window
        std::uint64_t last_use = 0; // value of the controller's use counter

        [[nodiscard]] Bytes end() const { return begin + memory->size(); }
        [[nodiscard]] bool holds(Bytes from, Bytes to) const { return begin <= from && to <= end(); }
    };
    /// `storage` is null once the storage has ended. A controller that ends checks here for memory to free.
    struct Lifeline {
        std::mutex mutex;
        Storage* storage;
    };

    /// A range with one coherence state.
    struct Stretch {
        Bytes begin, end;
        Replicas replicas;
        unsigned passed_over = 0; ///< requests across the boundary at `begin` since one last ended there
    };
    using Stretches = std::map<Bytes, Stretch>; ///< by begin

    // With mutex_ held:
    /// Calls `visit` with each stretch from `first` to the one that contains the last byte before `end`.
    template <class Visit>
    void each_stretch(Stretches::iterator first, Bytes end, const Visit& visit) {
        for (; first != stretches_.end() && first->first < end; ++first) visit(first->second);
    }
    /// Calls `visit` with each stretch that has bytes of [begin, end).
    template <class Visit>
    void each_stretch(Bytes begin, Bytes end, const Visit& visit) {
        each_stretch(stretch_with(begin), end, visit);
    }
    [[nodiscard]] Stretches::iterator stretch_with(Bytes at);
    /// Cuts stretches at both ends of the tile. Returns the first stretch of the tile. The iterator stays
    /// valid until stretches are joined.
    Stretches::iterator cut(const Tile& tile);
    /// Returns the stretch that begins at `at`.
    Stretches::iterator cut(Stretches::iterator stretch, Bytes at);
    /// Called after a request. Joins neighbouring stretches of the tile that have the same state, unless a
    /// recent request began or ended between them.
    void join(const Tile& tile);
    [[nodiscard]] void* host_locked();
    [[nodiscard]] Memory& host_view_locked();
    /// `host_replica` if the controller holds no replica.
    [[nodiscard]] ReplicaNumber replica_of(const Controller& controller) const noexcept;
    [[nodiscard]] Holder& holder(ReplicaNumber replica) { return holders_[replica - 1]; }
    /// Removes the replica and returns its memory, which the caller frees.
    [[nodiscard]] std::unique_ptr<Memory> drop(ReplicaNumber replica);

    /// The tile's unfinished requests that `request` would wait for. With `own_replica_only`, only those on
    /// `request.replica`. With mutex_ held.
    [[nodiscard]] std::vector<EventSlotPtr> under_way_locked(const Tile& tile, const Request& request,
                                                             bool own_replica_only);
    [[nodiscard]] std::vector<EventSlotPtr> under_way(const Tile& tile, const Request& request);
    /// Blocks until there are none. No lock may be held: continuations may run in here, and one of them may
    /// end a datum.
    void drain(const Tile& tile, const Request& request);

    std::string name_;
    Bytes bytes_;
    bool internal_ = false;
    std::atomic<std::uint64_t> changes_ = 0;
    std::mutex mutex_;
    std::shared_ptr<void> host_;
    std::unique_ptr<Memory> host_view_; // for kernels that work in place
    std::vector<Holder> holders_;       // replica i is holders_[i - 1]
    Stretches stretches_;               // together they cover the storage
    bool warned_ = false;               // a read before the first write has been reported
    std::shared_ptr<Lifeline> lifeline_;
};

} // namespace headrace
