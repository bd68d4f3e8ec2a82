// core/submission.hpp - analyses one request atomically, then enqueues what it needs and itself.
// For the core itself; programs use Controller and HostLane.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/core/storage.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// A tile and how a request uses it.
struct TileUse {
    Tile& tile;
    Access access;
};

/// Enqueues a request and returns its event, which settles no earlier than those in `after`. Called without
/// locks of the core; must neither block on other requests nor submit any. What it throws fails the request.
using Starter = std::function<Event(std::span<const Event> after)>;

/// What runs requests one after another: a stream of kernels, a thread of host tasks.
struct InOrderLane {
    std::mutex mutex; ///< held from analysis until a request is enqueued: the two orders are one
    Event last;       ///< of the request enqueued last
};

/// Holds the mutexes of all storages involved from construction until `run`: between the two, everything is
/// one step.
///
/// Lock order: an in-order lane, storages by address, transfer streams.
class Submission {
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
    /// One explicit transfer of each tile whose image `move.to` is stale. Throws invalid_argument, and
    /// changes nothing, if `move.from` is stale for any of them.
    void transfer(bool to_host);

    /// Releases the mutexes, enqueues, and returns the event. Once.
    Event run(std::string_view name, const Starter& start);

private:
    struct Use {
        Storage* storage;
        Image image; ///< that the request works on
        Access access;
        std::vector<Tile*> tiles;
    };
    struct Copy {
        Storage* storage;
        Move move;
        Bytes begin, end;
        EventSlotPtr producer; ///< of what it copies
        Dependencies after;
        EventSlotPtr slot;
        Controller* controller; ///< whose stream it goes to
        Memory *from, *to;      ///< null: the host's
    };

    [[nodiscard]] ImageSet reachable(const Use& use) const;
    void fetch(const Use& use, Tile& tile, const TransferPlan& plan);
    void copy(Storage& storage, Tile& tile, Move move);
    void enqueue(const Copy& copy);

    Controller* controller_;
    InOrderLane* lane_;
    std::vector<std::unique_lock<std::mutex>> locks_;
    std::vector<Use> uses_;
    std::deque<Copy> copies_;
    Dependencies after_;
    EventSlotPtr done_ = std::make_shared<EventSlot>();
    ErrorPtr failure_; // known before it began
    std::vector<std::string> warnings_;
};

/// Brings the host image of `tile` up to date. The event fails with what its last writer failed with.
[[nodiscard]] Event gather(Tile& tile);
/// Announces that the caller has written the host image of `tile`, outside of host tasks and after waiting
/// for it. Blocks until requests on the host image have ended.
void host_wrote(Tile& tile);
/// True if no part of `tile` was ever written: no image is current, and not because a writer failed.
[[nodiscard]] bool is_unwritten(Tile& tile);
/// Blocks until every request on `tile` has ended; throws what made it invalid. Fetches nothing.
void wait(Tile& tile);

} // namespace headrace
