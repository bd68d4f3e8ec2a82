// tests/domains/sums_test.cpp - what several devices have summed up comes together, whichever reach each
// other.
#include <core/fake_device.hpp>
#include <core/seeds.hpp>
#include <headrace/domains/domain.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace headrace::test {
namespace {

struct Place {
    explicit Place(std::size_t number, bool has_peers, bool is_processor = false, int island = 0)
        : device({.id = "fake:" + std::to_string(number),
                  .shares_host_memory = is_processor,
                  .has_peers = has_peers,
                  .island = island}) {}
    FakeDevice device;
    Controller controller{device};
    std::unique_ptr<Stream> stream = device.make_stream();
};

class Sums : public ::testing::Test {
protected:
    static constexpr std::uint64_t size = 1001, large = 2'000'003; // one piece, and several
    std::mt19937_64 random_{fresh_seed()};
    std::vector<std::unique_ptr<Place>> places_;
    std::vector<std::uint64_t> expected_ = std::vector<std::uint64_t>(size);

    void have(const std::vector<bool>& peers) {
        places_.clear();
        for (std::size_t i = 0; i < peers.size(); ++i)
            places_.push_back(std::make_unique<Place>(i, peers[i]));
    }
    void write_at_random(const Domain<std::uint64_t>& sums) {
        const std::span<std::uint64_t> numbers = sums.fill();
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = expected_[i] = random_();
    }
    void expect_right(const Domain<std::uint64_t>& sums) {
        const auto result = sums.gather();
        for (std::uint64_t i = 0; i < expected_.size(); ++i) ASSERT_EQ(result[i], expected_[i]) << i;
    }
    /// Every device adds something to each number.
    void add_everywhere(const Domain<std::uint64_t>& sums) {
        for (const auto& place : places_) {
            const auto replica = sums.data()->replica(joins_sums(), place->controller, *place->stream);
            replica.ready.wait();
            auto* const numbers = static_cast<std::uint64_t*>(replica.memory->address());
            for (std::uint64_t i = 0; i < expected_.size(); ++i) {
                const std::uint64_t amount = random_();
                numbers[i] += amount;
                expected_[i] += amount;
            }
        }
    }
    [[nodiscard]] unsigned requests(FakeRequest kind) const {
        unsigned all = 0;
        for (const auto& place : places_) all += place->device.requests(kind);
        return all;
    }
};

TEST_F(Sums, ComeTogetherWhicheverDevicesReachEachOther) {
    for (std::size_t count = 1; count <= 9; ++count)
        for (const bool is_written : {false, true}) {
            std::vector<bool> peers;
            for (std::size_t i = 0; i < count; ++i) peers.push_back(random_() % 3 != 0);
            have(peers);
            const auto reaching = static_cast<unsigned>(std::ranges::count(peers, true));
            const Domain<std::uint64_t> sums("sums", {size});
            std::ranges::fill(expected_, 0);
            if (is_written) write_at_random(sums);
            for (int round = 0; round < 2; ++round) { // the second begins with what the first has made
                const unsigned copied = requests(FakeRequest::copy_out), added = requests(FakeRequest::add);
                add_everywhere(sums);
                expect_right(sums);
                const unsigned alone = static_cast<unsigned>(count) - reaching;
                EXPECT_EQ(requests(FakeRequest::copy_out) - copied, alone + (reaching > 0 ? 1 : 0));
                EXPECT_EQ(requests(FakeRequest::add) - added, reaching > 0 ? reaching - 1 : 0);
            }
        }
}

TEST_F(Sums, OfMuchAreSharedOutAmongThoseThatReachEachOther) {
    constexpr Bytes bytes = large * sizeof(std::uint64_t);
    for (const unsigned reaching : {1U, 2U, 3U, 5U})
        for (const bool is_written : {false, true}) {
            std::vector<bool> peers(reaching, true);
            peers.insert(peers.begin() + reaching / 2, false);
            have(peers);
            const Domain<std::uint64_t> sums("sums", {large});
            expected_.assign(large, 0);
            if (is_written) write_at_random(sums);
            add_everywhere(sums);
            expect_right(sums);
            EXPECT_EQ(requests(FakeRequest::add), reaching * (reaching - 1));
            Bytes sent = 0;
            for (std::size_t i = 0; i < peers.size(); ++i) {
                const Bytes share = places_[i]->device.bytes_out();
                EXPECT_NEAR(static_cast<double>(share), peers[i] ? double{bytes} / reaching : double{bytes},
                            2 << 20);
                sent += share;
            }
            EXPECT_EQ(sent, 2 * bytes);
        }
}

TEST_F(Sums, OfSeveralGroupsComeTogetherWhateverTheirSizes) {
    for (int round = 0; round < 10; ++round) {
        places_.clear();
        const std::size_t islands = 2 + random_() % 2;
        for (std::size_t island = 0; island < islands; ++island)
            for (std::size_t left = 1 + random_() % 5; left > 0; --left)
                places_.push_back(
                    std::make_unique<Place>(places_.size(), true, false, static_cast<int>(island)));
        std::ranges::shuffle(places_, random_);
        const std::uint64_t elements = large + random_() % 1'000'000;
        const Domain<std::uint64_t> sums("sums", {elements});
        expected_.assign(elements, 0);
        if (round % 2 == 1) write_at_random(sums);
        add_everywhere(sums);
        expect_right(sums);
    }
}

TEST_F(Sums, InHostMemoryAreReadWhereTheyAre) {
    for (const bool has_peers : {false, true}) {
        have({false, has_peers});
        places_.back() = std::make_unique<Place>(1, has_peers, true);
        const Domain<std::uint64_t> sums("sums", {large});
        expected_.assign(large, 0);
        add_everywhere(sums);
        expect_right(sums);
        EXPECT_EQ(places_.back()->device.bytes_out(), 0);
        EXPECT_EQ(places_.front()->device.bytes_out(), large * sizeof(std::uint64_t));
    }
}

TEST_F(Sums, ThatFailedHalfwayAreNotAddedTwice) {
    for (const FakeRequest fails : {FakeRequest::add, FakeRequest::copy_out}) {
        have({true, true, true});
        const Domain<std::uint64_t> sums("sums", {large});
        expected_.assign(large, 0);
        add_everywhere(sums);
        places_.front()->device.fail_next(fails);
        EXPECT_THROW(static_cast<void>(sums.gather()), Error);
        EXPECT_THROW(static_cast<void>(sums.gather()), Error) << "some hold those of others";
    }
}

TEST_F(Sums, ForWhichTheHostHadNoRoomCanBeAskedForAgain) {
    have({true, true, false});
    const Domain<std::uint64_t> sums("sums", {size});
    add_everywhere(sums);
    places_.back()->device.fill_host();
    EXPECT_THROW(static_cast<void>(sums.gather()), Error);
    EXPECT_EQ(requests(FakeRequest::add), 0U);
    expect_right(sums);
}

TEST_F(Sums, WhoseCopyFailedCanBeAskedForAgain) {
    for (const bool is_written : {false, true}) {
        have({false, false});
        const Domain<std::uint64_t> sums("sums", {large});
        expected_.assign(large, 0);
        if (is_written) write_at_random(sums);
        add_everywhere(sums);
        places_.back()->device.fail_next(FakeRequest::copy_out);
        EXPECT_THROW(static_cast<void>(sums.gather()), Error);
        expect_right(sums);
    }
}

TEST(LaneSlots, AreThereWhereLanesWouldWaitForEachOther) {
    const auto device = [](const char* technology, unsigned units) {
        DeviceInfo info;
        info.technology = technology;
        info.compute_units = units;
        return info;
    };
    for (const Bytes bytes : {Bytes{1}, Bytes{4}, Bytes{8}, Bytes{12}, Bytes{200}, Bytes{512}}) {
        for (const unsigned threads : {2u, 3u, 16u, 96u}) {
            const detail::LaneSlots slots = lane_slots(device("cpu", threads), bytes);
            EXPECT_GE(slots.count(), threads);
            EXPECT_EQ(slots.count() & slots.last, 0u) << "a power of two";
            EXPECT_GE(slots.bytes, bytes);
            EXPECT_EQ(slots.bytes % 64, 0u) << "whole lines";
        }
        for (const char* const technology : {"cuda", "hip"}) {
            const detail::LaneSlots slots = lane_slots(device(technology, 132), bytes);
            EXPECT_GE(slots.count(), 64u);
            EXPECT_EQ(slots.count() & slots.last, 0u) << "a power of two";
            EXPECT_GE(slots.bytes, bytes);
            EXPECT_EQ(slots.bytes % 8, 0u) << "whole words";
            EXPECT_LE(Bytes{slots.count()} * slots.bytes, 32u << 10);
        }
        EXPECT_EQ(lane_slots(device("opencl", 132), bytes).count(), 1u) << "its kernels know of no slots";
        EXPECT_EQ(lane_slots(device("cpu", 1), bytes).count(), 1u);
    }
    for (const char* const technology : {"cpu", "cuda"})
        EXPECT_EQ(lane_slots(device(technology, 16), 513).count(), 1u);
}

} // namespace
} // namespace headrace::test
