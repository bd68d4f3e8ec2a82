// tests/domains/cluster/membership_test.cpp - how ranks agree on which of them are lost: the state machines
// of all ranks, in virtual time on one thread.
#include <core/seeds.hpp>
#include <headrace/internal/domains/cluster/membership.hpp>
#include <headrace/internal/domains/cluster/stepped_network.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::Membership, cluster::Message, cluster::Neighbours, cluster::Reader, cluster::SteppedNetwork,
    cluster::Topic;
using Time = SteppedNetwork::Time;

constexpr auto patience = 1s;

/// Ranks that look ten times as often as they must, at times of their own.
class MadeUpMembers {
public:
    MadeUpMembers(int ranks, std::uint64_t seed)
        : network_(ranks, {.seed = seed, .least_delay = 10us, .most_delay = 20ms}), random_(seed) {
        for (int rank = 0; rank < ranks; ++rank) {
            const auto send = [this, rank](int to, Message message) {
                network_.send(rank, to, std::move(message));
            };
            ranks_.push_back(std::make_unique<Membership>(rank, ranks, "rank", send, at(Time{})));
            ranks_.back()->send_signs_for(patience);
            ranks_.back()->expect_signs_within(patience);
            looks_.emplace(Time(random_() % 10'000'000), rank);
        }
    }

    [[nodiscard]] const Membership& rank(int number) const {
        return *ranks_[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] Time now() const { return network_.now(); }
    /// It ends without a word.
    void kill(int rank) { silent_.insert(rank); }
    /// It does nothing until then.
    void stop(int rank, Time until) { stopped_.emplace_back(rank, until); }

    void run_until(Time end) {
        while (!looks_.empty() && looks_.begin()->first <= end) {
            const auto [time, rank] = *looks_.begin();
            while (network_.next() && *network_.next() <= time) receive();
            network_.advance(time);
            looks_.erase(looks_.begin());
            if (silent_.contains(rank)) continue;
            const Time later = std::max(time + Time(5'000'000 + random_() % 10'000'000), stopped_until(rank));
            if (stopped_until(rank) <= time) ranks_[static_cast<std::size_t>(rank)]->look(at(time));
            looks_.emplace(later, rank);
        }
    }

    /// All ranks of `lost` are lost, no other one is, and the tree of the others is whole.
    void expect_lost(const std::set<int>& lost) const {
        std::vector<int> members;
        for (int number = 0; number < static_cast<int>(ranks_.size()); ++number)
            if (!lost.contains(number)) members.push_back(number);
        for (const int number : members) {
            const Membership& one = rank(number);
            ASSERT_EQ(one.members(), members) << "rank " << number;
            ASSERT_EQ(one.generation(), lost.size());
            ASSERT_EQ(one.lost(), rank(0).lost());
            const Neighbours& neighbours = one.neighbours();
            if (number == 0) {
                EXPECT_EQ(neighbours.above, -1);
            } else {
                ASSERT_TRUE(one.is_member(neighbours.above));
                const auto& below = rank(neighbours.above).neighbours().below;
                ASSERT_EQ(std::ranges::count(below, number), 1);
            }
        }
    }

private:
    [[nodiscard]] static Membership::Clock::time_point at(Time time) {
        return Membership::Clock::time_point(time + 1h);
    }
    [[nodiscard]] Time stopped_until(int rank) const {
        Time latest{};
        for (const auto& [one, until] : stopped_)
            if (one == rank) latest = std::max(latest, until);
        return latest;
    }
    void receive() {
        auto [to, received] = *network_.step();
        if (silent_.contains(to)) return;
        Membership& one = *ranks_[static_cast<std::size_t>(to)];
        one.heard(received.from, at(network_.now()));
        Reader message(received.bytes);
        const auto topic = message.get<Topic>();
        if (topic == Topic::suspect) one.suspect(message.get<int>(), at(network_.now()));
        if (topic == Topic::members) one.take(received.from, message, at(network_.now()));
    }

    SteppedNetwork network_;
    std::mt19937_64 random_;
    std::vector<std::unique_ptr<Membership>> ranks_;
    std::set<std::pair<Time, int>> looks_;
    std::set<int> silent_;
    std::vector<std::pair<int, Time>> stopped_;
};

class Members : public testing::TestWithParam<int> {
protected:
    const int ranks_ = GetParam();
    const std::uint64_t seed_ = fresh_seed();
    std::mt19937_64 random_{seed_};
    MadeUpMembers all_{ranks_, seed_};
    int any_but_first() { return std::uniform_int_distribution(1, ranks_ - 1)(random_); }
};
INSTANTIATE_TEST_SUITE_P(Of, Members, testing::Values(2, 3, 40, 1200));

TEST_P(Members, StayIfNoneIsLost) {
    all_.run_until(10s);
    all_.expect_lost({});
}

TEST_P(Members, AgreeOnWhoIsLost) {
    std::set<int> lost;
    for (int number = 0; number < 12; ++number) {
        const int rank = any_but_first();
        all_.kill(rank);
        lost.insert(rank);
        all_.run_until(all_.now() + Time(random_() % 1'500'000'000)); // also before the last one is known
    }
    all_.run_until(all_.now() + 15s); // a chain of lost ranks becomes known one after another
    all_.expect_lost(lost);
}

TEST_P(Members, LoseALossWithinTwoPatiences) {
    const int rank = any_but_first();
    all_.run_until(3s);
    all_.kill(rank);
    all_.run_until(3s + 2 * patience);
    all_.expect_lost({rank});
}

TEST_P(Members, AllMissRankZero) {
    all_.run_until(2s);
    all_.kill(0);
    all_.run_until(2s + 7 * patience); // each level of the tree asks rank 0 before it gives up
    for (int rank = 1; rank < ranks_; ++rank) ASSERT_FALSE(all_.rank(rank).is_member(0)) << "rank " << rank;
}

// It takes its own silence for that of others, and then gets to know.
TEST_P(Members, ARankThatWasStoppedIsLostAndLosesNoOther) {
    const int rank = any_but_first();
    all_.run_until(2s);
    all_.stop(rank, 5s);
    all_.run_until(8s);
    all_.expect_lost({rank});
    EXPECT_FALSE(all_.rank(rank).is_member(rank));
}

TEST_P(Members, AShortStopLosesNone) {
    all_.run_until(2s);
    for (int number = 0; number < 5; ++number) all_.stop(any_but_first(), 2s + patience / 2);
    all_.stop(0, 2s + patience / 2);
    all_.run_until(6s);
    all_.expect_lost({});
}

} // namespace
} // namespace headrace::test
