// The ring under host threads: nothing lost, nothing doubled, order per producer; small and about to wrap.
#include <headrace/persistent/detail/ring.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace headrace {
namespace {

/// A ring with its memory, its tickets anywhere.
class TestRing {
public:
    TestRing(std::uint32_t capacity, std::uint64_t first_ticket) : slots_(capacity) {
        tickets_.head.value = tickets_.tail.value = first_ticket;
        tickets_.room.value = capacity;
        for (std::uint32_t i = 0; i < capacity; ++i)
            slots_[(first_ticket + i) & (capacity - 1)].turn = first_ticket + i;
    }
    RingView<HostSync> view() {
        return {&tickets_, slots_.data(), static_cast<std::uint32_t>(slots_.size() - 1)};
    }

private:
    HrTickets tickets_{};
    std::vector<HrSlot> slots_;
};

struct RingCase {
    std::uint32_t capacity;
    std::uint64_t first_ticket;
};
void PrintTo(const RingCase& ring, std::ostream* out) {
    *out << "capacity " << ring.capacity << ", first ticket " << ring.first_ticket;
}

class Ring : public testing::TestWithParam<RingCase> {};

TEST_P(Ring, IsFirstInFirstOutAndSaysWhenFullAndEmpty) {
    TestRing owner(GetParam().capacity, GetParam().first_ticket);
    const auto ring = owner.view();
    std::uint64_t value = 0;
    for (int lap = 0; lap < 5; ++lap) {
        EXPECT_FALSE(ring.try_pop(value));
        EXPECT_TRUE(ring.seems_empty());
        for (std::uint32_t i = 0; i < GetParam().capacity; ++i) EXPECT_TRUE(ring.try_push(100 + i));
        EXPECT_FALSE(ring.try_push(1));
        EXPECT_FALSE(ring.seems_empty());
        for (std::uint32_t i = 0; i < GetParam().capacity; ++i) {
            ASSERT_TRUE(ring.try_pop(value));
            EXPECT_EQ(value, 100 + i);
        }
    }
}

TEST_P(Ring, EveryValueArrivesExactlyOnceAndInItsProducersOrder) {
    constexpr std::uint64_t each = 20000;
    constexpr unsigned producers = 4, consumers = 4; // more threads than this machine has cores
    TestRing owner(GetParam().capacity, GetParam().first_ticket);
    const auto ring = owner.view();
    std::vector<std::vector<std::uint64_t>> got(consumers);
    std::uint64_t popped = 0;
    std::vector<std::thread> threads;
    for (unsigned p = 0; p < producers; ++p)
        threads.emplace_back([&, p] {
            for (std::uint64_t i = 0; i < each; ++i)
                while (!ring.try_push(std::uint64_t{p} << 32 | i)) HostSync::pause(0);
        });
    for (unsigned c = 0; c < consumers; ++c)
        threads.emplace_back([&, c] {
            while (HostSync::load(popped, HostSync::relaxed) < producers * each) {
                std::uint64_t value = 0;
                if (ring.try_pop(value)) {
                    HostSync::fetch_add(popped, std::uint64_t{1}, HostSync::relaxed);
                    got[c].push_back(value);
                } else {
                    HostSync::pause(0);
                }
            }
        });
    for (std::thread& thread : threads) thread.join();
    std::vector<int> arrived(producers * each);
    for (const auto& values : got) {
        std::vector<std::uint64_t> next(producers); // a consumer sees each producer's values in order
        for (const std::uint64_t value : values) {
            const std::uint64_t producer = value >> 32, number = value & 0xffffffff;
            ASSERT_GE(number, next[producer]);
            next[producer] = number + 1;
            ++arrived[producer * each + number];
        }
    }
    for (const int times : arrived) ASSERT_EQ(times, 1);
}

/// What the engine does with bundles: the payload is plain memory, published by the ring and recycled through
/// another.
TEST_P(Ring, PublishesWhatWasWrittenBeforeThePush) {
    constexpr std::uint64_t rounds = 20000;
    const std::uint32_t bundles = GetParam().capacity;
    TestRing full_owner(bundles, GetParam().first_ticket), free_owner(bundles, GetParam().first_ticket);
    const auto full = full_owner.view(), empty = free_owner.view();
    for (std::uint32_t i = 0; i < bundles; ++i) ASSERT_TRUE(empty.try_push(i));
    std::vector<std::uint64_t> payload(bundles);
    std::uint64_t sum = 0, popped = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < rounds; ++i) {
                std::uint64_t bundle = 0;
                while (!empty.try_pop(bundle)) HostSync::pause(0);
                payload[bundle] = t * rounds + i;
                while (!full.try_push(bundle)) HostSync::pause(0);
            }
        });
    for (unsigned t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            while (HostSync::load(popped, HostSync::relaxed) < 3 * rounds) {
                std::uint64_t bundle = 0;
                if (!full.try_pop(bundle)) {
                    HostSync::pause(0);
                    continue;
                }
                HostSync::fetch_add(popped, std::uint64_t{1}, HostSync::relaxed);
                HostSync::fetch_add(sum, payload[bundle], HostSync::relaxed);
                while (!empty.try_push(bundle)) HostSync::pause(0);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sum, 3 * rounds * (3 * rounds - 1) / 2);
}

constexpr std::uint64_t last32 = std::uint64_t{1} << 32;
INSTANTIATE_TEST_SUITE_P(Sizes, Ring,
                         testing::Values(RingCase{2, 0}, RingCase{2, last32 - 1000},
                                         RingCase{64, last32 - 64},
                                         RingCase{2, std::numeric_limits<std::uint64_t>::max() - 1001},
                                         RingCase{16, 0 - std::uint64_t{160}}));

} // namespace
} // namespace headrace
