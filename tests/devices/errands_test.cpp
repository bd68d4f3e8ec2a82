// tests/devices/errands_test.cpp - the threads that keep those who open gates from those who call drivers.
#include <devices/requests.hpp>
#include <headrace/internal/devices/errands.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace headrace::test {
namespace {

TEST(Errands, AreDoneInOrderAndAllOfThem) {
    std::vector<int> done;
    {
        Errands errands;
        for (int i = 0; i < 100; ++i) errands.give([&done, i] { done.push_back(i); });
    }
    ASSERT_EQ(done.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(Errands, MayGiveMore) {
    Errands errands;
    Signal signal;
    errands.give([&] { errands.give([&] { signal.raise(on_errand()); }); });
    EXPECT_TRUE(signal.wait());
    EXPECT_FALSE(on_errand());
}

TEST(Errands, AreDroppedOnceClosed) {
    Errands errands;
    errands.close();
    auto kept = std::make_shared<int>(1);
    errands.give([kept] { ADD_FAILURE() << "it was closed"; });
    EXPECT_EQ(kept.use_count(), 1);
}

TEST(Errands, ManyThreadsGive) {
    std::atomic<int> done = 0;
    {
        Errands errands;
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([&] {
                for (int i = 0; i < 1000; ++i) errands.give([&] { ++done; });
            });
        threads.clear();
    }
    EXPECT_EQ(done, 4000);
}

/// Says which thread destroyed it.
struct Mortal {
    explicit Mortal(std::atomic<std::thread::id>& where) : destroyed_in(where) {}
    ~Mortal() { destroyed_in = std::this_thread::get_id(); }
    Mortal(const Mortal&) = delete;
    Mortal& operator=(const Mortal&) = delete;
    std::atomic<std::thread::id>& destroyed_in;
};

TEST(DestroyedOffErrands, WhereItIsWhenTheOwnerLetsGoOutsideOfThem) {
    std::atomic<std::thread::id> where;
    make_destroyed_off_errands<Mortal>(where).reset();
    EXPECT_EQ(where.load(), std::this_thread::get_id());
}

TEST(DestroyedOffErrands, NeitherThereNorLostWhenAnErrandLetsGo) {
    std::atomic<std::thread::id> where, errand;
    {
        Errands errands;
        errands.give([&errand, mortal = make_destroyed_off_errands<Mortal>(where)] {
            errand = std::this_thread::get_id();
        });
    }
    for (int i = 0; i < 10'000 && where.load() == std::thread::id{}; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_NE(where.load(), std::thread::id{});
    EXPECT_NE(where.load(), errand.load());
}

TEST(LetGo, MayLetGoOfWhatLetsGoOfMore) {
    std::atomic<std::thread::id> where;
    struct Owner {
        std::shared_ptr<Mortal> owned;
    };
    let_go(std::make_shared<Owner>(Owner{make_destroyed_off_errands<Mortal>(where)}));
    for (int i = 0; i < 10'000 && where.load() == std::thread::id{}; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_NE(where.load(), std::thread::id{});
}

} // namespace
} // namespace headrace::test
