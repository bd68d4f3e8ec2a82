// core/detail/submission.hpp - analyses one request atomically, then enqueues what it needs and itself.
// For the core itself; programs use Controller and HostLane.
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

/// Enqueues a request and returns its event, which settles no earlier than those in `after`. Called without
/// locks of the core; must neither block on other requests nor submit any. What it throws fails the request.
using Starter = std::function<Event(std::span<const Event> after)>;

/// What runs requests one after another: a stream of kernels, a thread of host tasks.
struct InOrderLane {
    std::mutex mutex;      ///< held from analysis until a request is enqueued: the two orders are one
    Event last;            ///< of the request enqueued last
    std::string_view name; ///< for traces; its owner's
};

/// Holds the mutexes of all storages involved from construction until `run`: between the two, everything is
/// one step.
///
/// Lock order: an in-order lane, storages by address, transfer streams.
class HEADRACE_EXPORT Submission {
public:
    /// `controller` null: the request is the host's. `lane`: what runs it, with its mutex held; null: its
    /// event alone orders it.
    Submission(Controller* controller, InOrderLane* lane, std::span<const TileUse> uses);
    ~Submission();
    Submission(const Submission&) = delete; // slots are filled once
    Submission& operator=(const Submission&) = delete;

    /// The uses are requests: transfers first, then this one, which later ones wait for.
    void request();
    /// Transfers alone: what reading the tiles would move.
    void acquire();
    /// One explicit transfer of each tile whose image is stale where it is to go. Throws invalid_argument,
    /// and changes nothing, if for any of them the image it is to come from is stale; or what the writer
    /// failed with that should have made it.
    void transfer(bool to_host);

    /// Releases the mutexes, enqueues, and returns the event. Once. Without a name it is none but transfers.
    Event run(std::string_view name, const Starter& start, const TraceLabel& label = {});

private:
    struct Use {
        Tile tile;
        Image image; ///< that the request works on
        Access access;
        Storage::Stretches::iterator first; ///< of the ranges in which coherence is kept
        bool is_cut;                        ///< there are several of them

        [[nodiscard]] Storage& storage() const noexcept { return tile.storage(); }
        template <class Visit>
        void each_stretch(const Visit& visit) const {
            storage().each_stretch(first, tile.end(), visit);
        }
    };
    /// Of a copy through the host, as it was enqueued.
    struct Piece {
        Bytes begin, end;
        Event event;
    };
    struct Copy {
        Storage* storage;
        Move move;
        Bytes begin, end;
        EventSlotPtr producer; ///< of what it copies
        Dependencies after;
        EventSlotPtr slot;
        Controller* controller;         ///< whose stream it goes to
        Memory *from, *to;              ///< null: the host's
        Bytes from_begin, to_begin;     ///< where these begin in the storage
        EventSlotPtr first_half = {};   ///< of the copy to the host that this one continues; null: none
        bool has_second_half = false;   ///< another continues it
        std::vector<Piece> pieces = {}; ///< empty: it went in one, or failed
    };

    [[nodiscard]] ImageSet reachable(const Use& use) const;
    void fetch(const Use& use);
    void copy(Storage& storage, Storage::Stretch& stretch, Move move);
    void enqueue(Copy& copy);
    Event enqueue(const Copy& copy, Bytes begin, Bytes end, std::span<const Event> after);
    Event enqueue_pieces(Copy& copy, std::span<const Event> after);
    [[nodiscard]] std::span<const Piece> pieces_of(const EventSlotPtr& slot) const;

    // What analysing a usual request needs, without the heap.
    std::array<std::byte, 2048> room_;
    std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};

    Controller* controller_;
    InOrderLane* lane_;
    std::pmr::vector<std::unique_lock<std::mutex>> locks_{&memory_};
    std::pmr::vector<Use> uses_{&memory_};
    std::pmr::vector<Copy> copies_{&memory_};
    Dependencies after_{&memory_};
    EventSlotPtr done_ = std::make_shared<EventSlot>();
    ErrorPtr failure_; // known before it began
    SpanId span_ = 0;  // of the request, which its transfers are part of
    std::vector<std::string> warnings_;
};

/// Brings the host image of `tile` up to date. The event fails with what its last writer failed with.
[[nodiscard]] HEADRACE_EXPORT Event gather(const Tile& tile);
/// Announces that the caller has written the host image of `tile`, outside of host tasks and after waiting
/// for it. Blocks until requests on the host image have ended.
HEADRACE_EXPORT void host_wrote(const Tile& tile);
/// What would have written `tile` has failed: no image is current, and what reads the tile fails with
/// `error`, until something writes it anew. Blocks for no request.
HEADRACE_EXPORT void mark_failed(const Tile& tile, const ErrorPtr& error);
/// What of `tile` was never written: no image is current, and not because a writer failed.
[[nodiscard]] HEADRACE_EXPORT std::vector<Tile> unwritten_parts(const Tile& tile);
/// What would have written `tile`, or part of it, has failed with; null: nothing is known to have. Blocks for
/// no request.
[[nodiscard]] HEADRACE_EXPORT ErrorPtr failure_of(const Tile& tile);
/// Brings to the host what was ever written of `tile`. Its host image is the caller's to write at once, and
/// alone current from now on. Blocks; throws what the last writer failed with.
HEADRACE_EXPORT void take_to_host(const Tile& tile);
/// Blocks until every request on `tile` has ended; throws what made it invalid. Fetches nothing.
HEADRACE_EXPORT void wait(const Tile& tile);

} // namespace headrace
