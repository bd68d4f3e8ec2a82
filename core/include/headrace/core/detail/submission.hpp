// core/detail/submission.hpp - analyses one request atomically, then enqueues its transfers and the request.
// Only for the core; programs use Controller and HostLane.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/storage.hpp>
#include <headrace/core/trace.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// A tile and how a request uses it.
struct TileUse {
    Tile tile;
    Access access;
};

/// Enqueues a request and returns its event, which must not settle before those in `after`. Called without
/// locks of the core. It must not wait for requests or submit any. An exception of it fails the request.
using Starter = std::function<Event(std::span<const Event> after)>;

/// Runs requests one after another: a stream of kernels, or a thread of host tasks.
struct InOrderLane {
    std::mutex mutex;      ///< held from analysis to enqueueing of a request, so both have the same order
    Event last;            ///< of the request enqueued last
    std::string_view name; ///< for traces; the owner of the lane keeps the text
};

/// Holds the mutexes of all storages of a request from construction until `run`. So its analysis is a single
/// atomic step.
///
/// Lock order: an in-order lane, storages by address, transfer streams.
class HEADRACE_EXPORT Submission {
public:
    /// `controller`: null for a request of the host. `lane`: runs the request; the caller holds its mutex.
    /// If `lane` is null, only events order the request.
    Submission(Controller* controller, InOrderLane* lane, std::span<const TileUse> uses);
    ~Submission();
    Submission(const Submission&) = delete; // slots are filled once
    Submission& operator=(const Submission&) = delete;

    /// Analyses a request with these uses: first its transfers, then itself. Later requests wait for it.
    void request();
    /// Analyses only transfers: those that a read of the tiles needs.
    void acquire();
    /// Analyses one explicit transfer of each tile with a stale replica at the destination. If the source
    /// replica of a tile is stale, changes nothing and throws: the Error of the writer that failed, or else
    /// invalid_argument.
    void transfer(bool to_host);

    /// Releases the mutexes, enqueues, and returns the event. Call it once. Empty `name`: only transfers.
    Event run(std::string_view name, const Starter& start, const TraceLabel& label = {});

private:
    struct Use {
        Tile tile;
        ReplicaNumber replica; ///< the replica that the request works on
        Access access;
        Storage::Stretches::iterator first; ///< the first stretch of the tile
        bool is_cut;                        ///< the tile has several stretches

        [[nodiscard]] Storage& storage() const noexcept { return tile.storage(); }
        template <class Visit>
        void each_stretch(const Visit& visit) const {
            storage().each_stretch(first, tile.end(), visit);
        }
    };
    /// One enqueued piece of a copy through the host.
    struct Piece {
        Bytes begin, end;
        Event event;
    };
    struct Copy {
        Storage* storage;
        Move move;
        Bytes begin, end;
        EventSlotPtr producer; ///< of the source replica
        Dependencies after;
        EventSlotPtr slot;
        Controller* controller;         ///< its stream runs the copy
        Memory *from, *to;              ///< null: host memory
        Bytes from_begin, to_begin;     ///< where `from` and `to` begin in the storage
        EventSlotPtr first_half = {};   ///< of the copy to the host that this one continues; null: none
        bool has_second_half = false;   ///< another copy continues this one
        std::vector<Piece> pieces = {}; ///< empty: copied in one piece, or failed
    };

    [[nodiscard]] ReplicaSet reachable(const Use& use) const;
    void fetch(const Use& use);
    void copy(Storage& storage, Storage::Stretch& stretch, Move move);
    void enqueue(Copy& copy);
    Event enqueue(const Copy& copy, Bytes begin, Bytes end, std::span<const Event> after);
    Event enqueue_pieces(Copy& copy, std::span<const Event> after);
    [[nodiscard]] std::span<const Piece> pieces_of(const EventSlotPtr& slot) const;

    // Memory for the analysis of a typical request, so that it does not use the heap.
    std::array<std::byte, 2048> room_;
    std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};

    Controller* controller_;
    InOrderLane* lane_;
    std::pmr::vector<std::unique_lock<std::mutex>> locks_{&memory_};
    std::pmr::vector<Use> uses_{&memory_};
    std::pmr::vector<Copy> copies_{&memory_};
    Dependencies after_{&memory_};
    EventSlotPtr done_ = std::make_shared<EventSlot>();
    ErrorPtr failure_; // known before the request starts
    SpanId span_ = 0;  // of the request; its transfers are parts of it
    std::vector<std::string> warnings_;
};

/// Updates the host replica of `tile`. If the last writer failed, the event fails with the same Error.
[[nodiscard]] HEADRACE_EXPORT Event gather(const Tile& tile);
/// Announces that the caller has written the host replica of `tile`, outside of host tasks and after waiting
/// for it. Blocks until requests on the host replica have ended.
HEADRACE_EXPORT void host_wrote(const Tile& tile);
/// Records that the writer of `tile` failed. No replica is current, and requests that read the tile fail with
/// `error`, until a request writes it again. Does not wait for requests.
HEADRACE_EXPORT void mark_failed(const Tile& tile, const ErrorPtr& error);
/// From now on `tile` was never written: no replica is current, and a failure is forgotten. No request may
/// use the tile meanwhile.
HEADRACE_EXPORT void mark_unwritten(const Tile& tile);
/// The parts of `tile` that were never written: no replica is current, and no writer failed.
[[nodiscard]] HEADRACE_EXPORT std::vector<Tile> unwritten_parts(const Tile& tile);
/// The Error of a failed writer of `tile` or of a part of it; null: no failure is known. Does not wait for
/// requests.
[[nodiscard]] HEADRACE_EXPORT ErrorPtr failure_of(const Tile& tile);
/// Copies the written parts of `tile` to the host, and blocks until this is done. From then on only the host
/// replica is current, and the caller may write it at once. Throws the Error of the last writer if it failed.
HEADRACE_EXPORT void take_to_host(const Tile& tile);
/// Blocks until all requests on `tile` have ended. Throws the Error that made it invalid. Moves no data.
HEADRACE_EXPORT void wait(const Tile& tile);

} // namespace headrace
