// tests/core/coherence_order_test.cpp - what is remembered of a tile orders every conflict, whatever is
// forgotten. Drives Replicas by hand, with requests that never end, through random sequences on several
// controllers, and computes from scratch which requests must be ordered.
#include <core/seeds.hpp>
#include <headrace/core/detail/replicas.hpp>

#include <gtest/gtest.h>

#include <bitset>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace headrace {
namespace {

constexpr std::size_t most_requests = 800;

/// Analyses requests as a controller does, and keeps the whole history beside it.
class Walk {
public:
    Walk(ReplicaNumber devices, bool peers, std::uint64_t seed) : devices_(devices), random_(seed) {
        if (peers)
            for (ReplicaNumber replica = 1; replica <= devices; ++replica) reachable_.insert(replica);
    }

    [[nodiscard]] bool full() const { return history_.size() + 4 > most_requests; }
    [[nodiscard]] std::size_t remembered() const { return replicas_.remembered(); }

    void step() {
        const auto replica = static_cast<ReplicaNumber>(random_() % (devices_ + 1));
        const auto access = static_cast<Access>(random_() % 3);
        ReplicaSet reachable = reachable_;
        reachable.erase(replica);
        const TransferPlan plan = plan_access(replica, access, replicas_.current(), reachable);
        for (const Move move : plan.moves) transfer(move);
        RequestKind kind{};
        if (replica == host_replica)
            kind = writes(access) ? RequestKind::host_out : RequestKind::host_in;
        else
            kind = writes(access) ? RequestKind::kernel_out : RequestKind::kernel_in;
        // Kernels run on one stream per controller, host tasks on two lanes.
        const void* lane = &lanes_[replica == host_replica ? random_() % 2 : replica + 1];
        const auto slot = add({{kind, replica}}, {{replica, writes(access)}}, lane);
        if (writes(access)) replicas_.written(replica, slot);
    }

private:
    struct Touch {
        ReplicaNumber replica;
        bool writes;
    };
    struct Entry {
        std::vector<Touch> touches;
        std::bitset<most_requests> before; ///< all that is known to have ended when this one begins
        const void* lane;
        EventSlotPtr slot;
    };

    void transfer(Move move) {
        std::vector<Request> requests;
        if (move.to == host_replica)
            requests = {{RequestKind::from_device, move.from}};
        else if (move.from == host_replica)
            requests = {{RequestKind::to_device, move.to}};
        else
            requests = {{RequestKind::peer_out, move.from}, {RequestKind::peer_in, move.to}};
        const auto slot = add(requests, {{move.from, false}, {move.to, true}}, nullptr);
        replicas_.copied_to(move.to, slot);
    }

    EventSlotPtr add(const std::vector<Request>& requests, std::vector<Touch> touches, const void* lane) {
        Dependencies dependencies;
        for (const Request& request : requests) replicas_.collect(request, dependencies);
        Entry entry{std::move(touches), {}, lane, std::make_shared<EventSlot>()};
        for (std::size_t i = 0; i < history_.size(); ++i)
            if (dependencies.has(history_[i].slot) || (lane != nullptr && history_[i].lane == lane)) {
                entry.before |= history_[i].before;
                entry.before.set(i);
            }
        for (std::size_t i = 0; i < history_.size(); ++i)
            for (const Touch& mine : entry.touches)
                for (const Touch& theirs : history_[i].touches)
                    if (mine.replica == theirs.replica && (mine.writes || theirs.writes)) {
                        EXPECT_TRUE(entry.before[i])
                            << "request " << history_.size() << " may overtake request " << i
                            << " on replica " << mine.replica;
                    }
        for (const Request& request : requests) replicas_.record(request, lane, entry.slot);
        history_.push_back(entry);
        return entry.slot;
    }

    ReplicaNumber devices_;
    std::mt19937_64 random_;
    ReplicaSet reachable_;
    Replicas replicas_{true};
    std::vector<Entry> history_;
    char lanes_[8] = {};
};

TEST(CoherenceOrder, EveryConflictIsOrderedAlthoughLittleIsRemembered) {
    const std::uint64_t seed = test::fresh_seed();
    for (std::uint64_t round = 0; round < 12; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        const auto devices = static_cast<ReplicaNumber>(1 + round % 3);
        Walk walk(devices, round % 2 == 1, seed + round);
        while (!walk.full() && !HasFailure()) {
            walk.step();
            // A kernel in and out, a transfer each way, both halves of a peer copy per controller; four of
            // the host.
            ASSERT_LE(walk.remembered(), 6 * devices + 4);
        }
    }
}

TEST(CoherenceOrder, ReadersThatNothingOrdersBecomeOneEvent) {
    Replicas replicas(true);
    std::vector<Promise> readers(20'000);
    for (Promise& reader : readers) {
        auto slot = std::make_shared<EventSlot>();
        slot->publish(reader.event());
        replicas.record({RequestKind::host_in}, nullptr, slot);
        ASSERT_LE(replicas.remembered(), 64U);
    }
    Dependencies dependencies;
    replicas.collect({RequestKind::host_out}, dependencies);
    const Event all = Event::all(dependencies.resolve());
    for (std::size_t i = 0; i < readers.size(); ++i) {
        ASSERT_FALSE(all.done()) << "after " << i << " of the readers";
        readers[i].complete();
    }
    EXPECT_TRUE(all.done());
}

TEST(CoherenceOrder, ReadersThatAreNotEnqueuedYetAreNotJoined) {
    Replicas replicas(true);
    std::vector<EventSlotPtr> slots;
    for (int i = 0; i < 200; ++i) {
        slots.push_back(std::make_shared<EventSlot>());
        replicas.record({RequestKind::host_in}, nullptr, slots.back());
    }
    Dependencies dependencies;
    replicas.collect({RequestKind::host_out}, dependencies);
    for (const EventSlotPtr& slot : slots) EXPECT_TRUE(dependencies.has(slot));
}

} // namespace
} // namespace headrace
