// tests/domains/cluster/one_rank_test.cpp - one rank of a shared job, which exchanges messages with the test.
#include <domains/cluster/made_up_cluster.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::JobShare, cluster::Neighbours, cluster::Reader, cluster::Topic, cluster::Writer;

TEST(JobShare, IsOverAtOnceIfAllWasCompletedBeforeItsRankSubmittedIt) {
    const Neighbours neighbours = Neighbours::of(1, 34, "rank 1");
    std::vector<std::pair<int, Topic>> sent;
    JobShare share(MadeUpCluster::the_job, neighbours, [&](int to, cluster::Message message) {
        sent.emplace_back(to, Reader(message).get<Topic>());
    });
    const JobShare::Clock::time_point now{};
    const cluster::Message close = Writer().put<std::uint64_t>(100).put(std::string("job")).take();
    share.receive(0, Topic::close, Reader(close), now);
    EXPECT_EQ(sent, (std::vector<std::pair<int, Topic>>{{33, Topic::close}}))
        << "the rank below does not wait";
    share.look(now);
    EXPECT_FALSE(share.is_over());
    const auto work = std::make_shared<MadeUpWork>(neighbours, subtree_sizes(34), 100, [&] { return now; });
    share.begin(work, {"job", 100});
    share.look(now);
    EXPECT_FALSE(share.is_over()) << "it waits for other jobs of its rank";
    work->start();
    share.look(now);
    EXPECT_TRUE(share.is_over());
    EXPECT_FALSE(share.failure());
}

/// Rank `rank` of `ranks`, which exchanges messages with the test.
class OneRank {
public:
    explicit OneRank(int rank, int ranks = 2)
        : neighbours_(Neighbours::of(rank, ranks, "rank")),
          share_(MadeUpCluster::the_job, neighbours_,
                 [this](int, cluster::Message message) { sent_.push_back(std::move(message)); }),
          work_(std::make_shared<MadeUpWork>(
              neighbours_, subtree_sizes(ranks), 1, [this] { return now_; }, MadeUpTree{.of_root = 100})) {
        share_.begin(work_, {"job", 1});
        work_->start();
        look();
    }

    void look() {
        now_ += 20ms; // longer than it waits with anything
        share_.look(now_);
    }
    void receive(Topic topic, const cluster::Message& message) {
        receive(1 - neighbours_.rank, topic, message);
    }
    void receive(int from, Topic topic, const cluster::Message& message) {
        share_.receive(from, topic, Reader(message), now_);
        look();
    }
    /// The device takes a task. False: there is none.
    [[nodiscard]] bool take() {
        task_ = work_->take();
        if (task_) work_->load(*task_);
        look();
        return task_.has_value();
    }
    /// It takes a task, and does so many units of it.
    void begin(std::uint64_t units) {
        ASSERT_TRUE(take());
        work_->run(units, [](const MadeUpUnit&) {});
        pause();
    }
    void pause() {
        work_->pause();
        look();
    }
    void end() {
        work_->run(~std::uint64_t{0}, [](const MadeUpUnit&) {});
        EXPECT_TRUE(work_->done(*task_, 1ms));
        look();
    }
    void stop() { work_->done(*task_, 1ms); }
    [[nodiscard]] JobShare& share() { return share_; }
    [[nodiscard]] const MadeUpWork& work() const { return *work_; }
    /// What it has sent since the last call.
    [[nodiscard]] std::vector<Topic> take_sent() {
        std::vector<Topic> topics;
        for (const cluster::Message& message : std::exchange(sent_, {}))
            topics.push_back(Reader(message).get<Topic>());
        return topics;
    }

private:
    const Neighbours neighbours_;
    JobShare::Clock::time_point now_{1h};
    std::vector<cluster::Message> sent_;
    JobShare share_;
    std::shared_ptr<MadeUpWork> work_;
    std::optional<WorkRange> task_;
};

cluster::Message one_unit() {
    const MadeUpUnit unit = MadeUpTree::root(0);
    UnitBatch units(1, sizeof unit / sizeof(std::uint32_t));
    std::uint32_t words[sizeof unit / sizeof(std::uint32_t)];
    std::memcpy(words, &unit, sizeof words);
    units.add(0, words, 1);
    return Writer().put(units).take();
}

cluster::Message wish(bool lacks_units) {
    return Writer()
        .put<std::uint8_t>(lacks_units ? 1 : 0)
        .put<std::uint8_t>(1)
        .put<std::uint64_t>(1)
        .put(std::string("job"))
        .take();
}

cluster::Message credit(std::uint64_t units, std::uint64_t batches) {
    return Writer().put(units).put(batches).put(JobShare::Clock::duration(1ms)).put(1000.0).take();
}

using Topics = std::vector<Topic>;

TEST(JobShare, ReturnsTheLastCreditAfterTheUnitsThatItSendsUp) {
    OneRank rank(1);
    EXPECT_EQ(rank.take_sent(), Topics{Topic::want});
    rank.receive(Topic::grant, Writer().put<std::uint64_t>(0).put<std::uint64_t>(1).take());
    rank.receive(Topic::want, {});
    rank.begin(1);
    EXPECT_EQ(rank.take_sent(), (Topics{Topic::want, Topic::batch}));
    rank.look();
    EXPECT_EQ(rank.take_sent(), Topics{Topic::want})
        << "one batch for one want, no credit, and its own want anew";
    rank.end();
    EXPECT_EQ(rank.take_sent(), (Topics{Topic::credit, Topic::want}));
    // A batch is a debt of its own.
    rank.receive(Topic::batch, one_unit());
    rank.begin(1);
    EXPECT_EQ(rank.take_sent(), Topics{Topic::want});
    rank.end();
    EXPECT_EQ(rank.take_sent(), (Topics{Topic::credit, Topic::want}));
    EXPECT_FALSE(rank.work().supply().has_ended) << "rank 0 closes it";
}

TEST(JobShare, ReturnsTheLastCreditWhenNoRankBelowHasUnits) {
    OneRank rank(1, 34); // rank 33 is below
    rank.receive(0, Topic::grant, Writer().put<std::uint64_t>(0).put<std::uint64_t>(1).take());
    rank.begin(1);
    rank.receive(33, Topic::want, wish(true));
    rank.pause();
    rank.end();
    EXPECT_FALSE(rank.take());
    const Topics sent = rank.take_sent();
    EXPECT_EQ(std::ranges::count(sent, Topic::batch), 1);
    EXPECT_EQ(std::ranges::count(sent, Topic::credit), 0) << "rank 33 has the rest of the tree";
    EXPECT_EQ(rank.work().supply().completed, 1u) << "although the seed is completed";
    rank.receive(33, Topic::credit, credit(0, 1));
    const Topics last = rank.take_sent();
    EXPECT_EQ(std::ranges::count(last, Topic::credit), 1);
}

TEST(JobShare, EndsWhenNoUnitIsLeftHereAndBelow) {
    OneRank rank(0);
    rank.begin(1);
    rank.receive(Topic::want, wish(true));
    EXPECT_EQ(rank.take_sent(), Topics{}) << "the device has not paused";
    rank.pause();
    EXPECT_EQ(rank.take_sent(), Topics{Topic::batch});
    rank.end();
    EXPECT_FALSE(rank.take()) << "the rank below has the rest";
    EXPECT_EQ(rank.take_sent(), Topics{Topic::want}) << "it asks the rank below, once";
    rank.receive(Topic::batch, one_unit());
    rank.receive(Topic::credit, credit(0, 1));
    EXPECT_EQ(rank.take_sent(), Topics{}) << "the unit has come before that credit";
    rank.begin(1);
    rank.end();
    EXPECT_EQ(rank.take_sent(), Topics{Topic::close});
    EXPECT_TRUE(rank.share().is_over());
}

/// A device of the rank below has had nothing to do since before another one's units spawned.
TEST(JobShare, AsksARankThatLacksUnitsItself) {
    OneRank rank(0);
    rank.receive(Topic::want, wish(true));
    EXPECT_EQ(rank.take_sent(), Topics{Topic::grant}) << "the only seed";
    rank.receive(Topic::want, wish(true));
    EXPECT_FALSE(rank.take());
    EXPECT_EQ(rank.take_sent(), Topics{Topic::want});
    rank.receive(Topic::batch, one_unit());
    EXPECT_EQ(rank.take_sent(), Topics{}) << "a rank gets back nothing of what it sends";
    rank.begin(1);
    rank.end();
    EXPECT_FALSE(rank.take());
    EXPECT_EQ(rank.take_sent(), Topics{Topic::want}) << "it may have more";
}

TEST(JobShare, DropsTheBatchesOfAJobThatIsAbandoned) {
    OneRank rank(0);
    rank.begin(1);
    rank.receive(Topic::want, wish(true));
    rank.pause();
    EXPECT_EQ(rank.take_sent(), Topics{Topic::batch});
    rank.share().abandon(std::make_shared<const Error>(ErrorKind::device, "rank 1 is lost"));
    rank.stop();
    rank.receive(Topic::batch, one_unit()); // on its way when the rank was lost
    EXPECT_FALSE(rank.work().has_grants());
    EXPECT_TRUE(rank.share().is_over());
    EXPECT_EQ(rank.take_sent(), Topics{});
}

TEST(JobShare, RefusesMessagesThatNoRankSends) {
    const Neighbours neighbours = Neighbours::of(1, 34, "rank 1");
    JobShare share(MadeUpCluster::the_job, neighbours, [](int, const cluster::Message&) {});
    const cluster::Message credit = Writer().put<std::uint64_t>(1).take();
    EXPECT_THROW(share.receive(2, Topic::credit, Reader(credit), {}), Error) << "of a rank that is not below";
    EXPECT_THROW(share.receive(33, Topic::credit, Reader(cluster::Message{}), {}), Error) << "too short";
    EXPECT_THROW(share.receive(0, Topic::report, Reader(credit), {}), Error) << "not about a job";
    EXPECT_THROW(share.receive(2, Topic::batch, Reader(credit), {}), Error) << "of no neighbour";
    share.begin(std::make_shared<MadeUpWork>(neighbours, subtree_sizes(34), 1,
                                             [] { return JobShare::Clock::time_point{}; }),
                {"job", 1});
    const auto batch = [](std::uint32_t kinds, std::uint32_t words, std::size_t bytes) {
        return Writer().put(kinds).put(words).put<std::uint32_t>(0).put(cluster::Message(bytes)).take();
    };
    EXPECT_THROW(share.receive(0, Topic::batch, Reader(batch(1, 0, 8)), {}), Error) << "units of no words";
    EXPECT_THROW(share.receive(0, Topic::batch, Reader(batch(1, 4, 24)), {}), Error) << "half a unit";
    EXPECT_THROW(share.receive(0, Topic::batch, Reader(batch(99, 1, 4)), {}), Error) << "too many kinds";
    EXPECT_THROW(share.receive(0, Topic::batch, Reader(batch(2, 1, 4)), {}), Error) << "too short";
}

} // namespace
} // namespace headrace::test
