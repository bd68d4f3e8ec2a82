// tests/devices/serial_executor_test.cpp - the threads that keep those who open gates from those who call
// drivers.
#include <core/eventually.hpp>
#include <devices/requests.hpp>
#include <headrace/internal/devices/serial_executor.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace headrace::test {
namespace {

TEST(SerialExecutor, AreDoneInOrderAndAllOfThem) {
    std::vector<int> done;
    {
        SerialExecutor executor;
        for (int i = 0; i < 100; ++i) executor.post([&done, i] { done.push_back(i); });
    }
    ASSERT_EQ(done.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(SerialExecutor, MayPostMore) {
    SerialExecutor executor;
    Signal signal;
    executor.post([&] { executor.post([&] { signal.raise(on_serial_executor()); }); });
    EXPECT_TRUE(signal.wait());
    EXPECT_FALSE(on_serial_executor());
}

TEST(SerialExecutor, AreDroppedOnceClosed) {
    SerialExecutor executor;
    executor.close();
    auto kept = std::make_shared<int>(1);
    executor.post([kept] { ADD_FAILURE() << "it was closed"; });
    EXPECT_EQ(kept.use_count(), 1);
}

TEST(SerialExecutor, ManyThreadsPost) {
    std::atomic<int> done = 0;
    {
        SerialExecutor executor;
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([&] {
                for (int i = 0; i < 1000; ++i) executor.post([&] { ++done; });
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

TEST(DestroyedByExecutor, WhereItIsWhenTheOwnerLetsGoOutsideOfThem) {
    std::atomic<std::thread::id> where;
    make_destroyed_by_executor<Mortal>(where).reset();
    EXPECT_EQ(where.load(), std::this_thread::get_id());
}

TEST(DestroyedByExecutor, NeitherThereNorLostWhenAnExecutorLetsGo) {
    std::atomic<std::thread::id> where, executor_thread;
    {
        SerialExecutor executor;
        executor.post([&executor_thread, mortal = make_destroyed_by_executor<Mortal>(where)] {
            executor_thread = std::this_thread::get_id();
        });
    }
    EXPECT_TRUE(eventually([&] { return where.load() != std::thread::id{}; }));
    EXPECT_NE(where.load(), executor_thread.load());
}

/// The thread that settles an event may have what the destructor waits for.
TEST(DestroyedByExecutor, NotThereWhenAContinuationLetsGo) {
    std::atomic<std::thread::id> where;
    Promise promise;
    auto mortal = make_destroyed_by_executor<Mortal>(where);
    promise.event().then([&](const ErrorPtr&) { mortal.reset(); });
    promise.complete();
    EXPECT_EQ(mortal, nullptr);
    EXPECT_TRUE(eventually([&] { return where.load() != std::thread::id{}; }));
    EXPECT_NE(where.load(), std::this_thread::get_id());
}

TEST(LetGo, MayLetGoOfWhatLetsGoOfMore) {
    std::atomic<std::thread::id> where;
    struct Owner {
        std::shared_ptr<Mortal> owned;
    };
    let_go(std::make_shared<Owner>(Owner{make_destroyed_by_executor<Mortal>(where)}));
    EXPECT_TRUE(eventually([&] { return where.load() != std::thread::id{}; }));
}

} // namespace
} // namespace headrace::test
