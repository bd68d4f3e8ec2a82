// How many units a lane group on a host thread processes before it looks around: few heavy ones, many light
// ones; and that others get heavy ones.
#include "bind_on_threads.hpp"

#include <headrace/persistent/detail/pace.hpp>
#include <headrace/persistent/engine.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

/// A clock that a test sets.
struct SetClock : HostSync {
    static inline std::uint64_t now = 0;
    static std::uint64_t nanoseconds() { return now; }
};

constexpr std::uint32_t lanes = 16;

class PaceByTheClock : public ::testing::Test {
protected:
    std::uint32_t kept_ = 0;
    Pace<SetClock, HostLanes<lanes>> pace_{&kept_};

    /// Looks, each after so many units of that time as the pace allows.
    void work(std::uint64_t nanoseconds_each, int looks) {
        for (int i = 0; i < looks; ++i) {
            const std::uint64_t units = std::uint64_t{pace_.lanes()} * pace_.rounds();
            SetClock::now += nanoseconds_each * units;
            pace_.note_look(completed_ += units);
        }
    }
    std::uint64_t completed_ = 0;
};

TEST_F(PaceByTheClock, BeginsWithOneUnit) {
    EXPECT_EQ(pace_.lanes(), 1u);
    EXPECT_EQ(pace_.rounds(), 1u);
}

TEST_F(PaceByTheClock, TakesManyLightUnits) {
    work(10, 20);
    EXPECT_FALSE(pace_.is_slow());
    EXPECT_EQ(pace_.lanes(), lanes);
    EXPECT_EQ(pace_.rounds(), 8u);
}

TEST_F(PaceByTheClock, StaysWithOneHeavyUnit) {
    work(1'000'000, 20);
    EXPECT_TRUE(pace_.is_slow());
    EXPECT_EQ(pace_.lanes(), 1u);
}

TEST_F(PaceByTheClock, IsShortenedAtOnceWhenUnitsGetHeavy) {
    work(10, 20);
    work(1'000'000, 1);
    EXPECT_EQ(pace_.lanes(), 1u);
    work(10, 20);
    EXPECT_EQ(pace_.rounds(), 8u) << "and grows again";
}

TEST_F(PaceByTheClock, LooksAboutEveryTenMicroseconds) {
    for (const std::uint64_t each : {100, 300, 1000, 3000, 7000}) {
        work(each, 30);
        const std::uint64_t took = each * pace_.lanes() * pace_.rounds();
        EXPECT_GE(took, 8'000u) << each;
        EXPECT_LE(took, 32'000u) << each;
    }
}

TEST_F(PaceByTheClock, DoesNotGrowWhereFewerUnitsRan) {
    work(3'000, 2);
    const std::uint32_t before = pace_.lanes();
    EXPECT_GT(before, 1u);
    for (int i = 0; i < 20; ++i) { // another group asked after each one
        SetClock::now += 3'000;
        pace_.note_look(++completed_);
    }
    EXPECT_EQ(pace_.lanes(), before);
}

TEST_F(PaceByTheClock, StaysFromLaunchToLaunch) {
    work(10, 20);
    EXPECT_EQ((Pace<SetClock, HostLanes<lanes>>(&kept_).rounds()), 8u);
    work(1'000'000, 1);
    EXPECT_EQ((Pace<SetClock, HostLanes<lanes>>(&kept_).lanes()), 1u);
}

TEST_F(PaceByTheClock, CountsTheTurnsThatThereMightHaveBeen) {
    for (int i = 0; i < 32; ++i) pace_.note_round(); // of one lane each
    EXPECT_EQ(pace_.whole_rounds(32), 2u);
}

TEST_F(PaceByTheClock, DoesNotCountWaiting) {
    work(10, 20);
    SetClock::now += 1'000'000'000;
    pace_.note_wait();
    work(10, 1);
    EXPECT_EQ(pace_.rounds(), 8u);
}

struct Leaf {
    std::uint32_t children, unused;
};
struct Root {
    Leaf operator()(std::uint64_t) const { return {32, 0}; }
};
/// Which threads had a leaf.
struct Threads {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::thread::id> ids;
    int leaves = 0;

    /// The thread has one, which takes until so many threads have had one, but no longer than `limit`.
    void meet(std::size_t count, std::chrono::milliseconds limit) {
        std::unique_lock lock(mutex);
        ids.insert(std::this_thread::get_id());
        ++leaves;
        changed.notify_all();
        changed.wait_for(lock, limit, [&] { return ids.size() >= count; });
    }
};
struct HeavyLeaves {
    using Units = Kinds<Kind<Leaf, 32>>;
    Threads* threads;

    void operator()(auto& lane, Leaf leaf) const {
        for (std::uint32_t i = 0; i < leaf.children; ++i) lane.spawn(Leaf{0, 0});
        if (leaf.children > 0) return;
        threads->meet(2, 300ms); // the first leaf waits in vain: its group shares the others after it
    }
};

/// Runs `kernel` on the seeds [0, end) to its end, on four threads. Returns in how many launches.
template <class Sync = HostSync, class Kernel, class Seeds>
int run_on_four_threads(const Kernel& kernel, const Seeds& seeds, std::uint64_t end,
                        const EngineOptions& options = {}) {
    const Launcher launcher = on_cpu::make_launcher<Kernel, Seeds, HostLanes<lanes>, ThreadRunner<4>, Sync>();
    ThreadDevice device;
    ThreadStream stream;
    Engine engine(device, stream, launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds), options);
    engine.start(0, end).wait();
    int launches = 1;
    for (; engine.collect() == Engine::State::paused; ++launches) engine.resume().wait();
    return launches;
}

struct LightVisits {
    std::atomic<int>* visits;
    void operator()(auto&, std::uint64_t) const { ++*visits; }
};

TEST(LightUnits, RunInFewLaunchesHoweverShortTheseAre) {
    std::atomic<int> visits = 0;
    EngineOptions options;
    options.launch_time = 1ns;
    // Of one unit a thread there would be 2048 or more.
    EXPECT_LE(run_on_four_threads<StillClock>(LightVisits{&visits}, Indices{}, 8192, options), 1024);
    EXPECT_EQ(visits, 8192);
}

TEST(HeavyUnits, OfOneGroupGoToThoseWithNothing) {
    Threads threads;
    run_on_four_threads(HeavyLeaves{&threads}, Root{}, 1);
    EXPECT_EQ(threads.leaves, 32);
    EXPECT_GT(threads.ids.size(), 1u);
}

/// Indices that take until three threads have had one.
struct HeavyVisits {
    Threads* threads;
    void operator()(auto&, std::uint64_t) const { threads->meet(3, 10s); }
};

TEST(HeavyUnits, OfAConsumerGoToAllThreads) {
    Threads threads;
    run_on_four_threads(HeavyVisits{&threads}, Indices{}, 8);
    EXPECT_EQ(threads.leaves, 8);
    EXPECT_GE(threads.ids.size(), 3u);
}

} // namespace
} // namespace headrace::test
