// tests/core/host_lane_test.cpp - threads of host tasks as programs use them: by name, waited for, one by
// one.
#include <core/fake_device.hpp>
#include <core/flag.hpp>
#include <core/waiting_call.hpp>
#include <headrace/core/controller.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

namespace headrace {
namespace {

TEST(HostLane, ItsThreadHasItsName) {
    HostLane lane("writing of frames to disk");
    std::array<char, 16> seen{};
    lane.run("ask", {}, [&] { pthread_getname_np(pthread_self(), seen.data(), seen.size()); }).wait();
    EXPECT_STREQ(seen.data(), "writing of fram");
    EXPECT_EQ(lane.name(), "writing of frames to disk");
}

TEST(HostLane, WaitAllReturnsWhenTheLastTaskHasEnded) {
    HostLane lane;
    std::atomic<int> ended = 0;
    lane.wait_all(); // nothing to wait for
    test::Flag goes_on;
    for (int i = 0; i < 9; ++i) lane.run("quick", {}, [&] { ++ended; });
    lane.run("held", {}, [&] {
        goes_on.wait();
        ++ended;
    });
    test::WaitingCall call([&] { lane.wait_all(); });
    EXPECT_TRUE(call.waits());
    goes_on.raise();
    call.join();
    EXPECT_EQ(ended, 10);
}

TEST(HostLane, WaitAllThrowsTheFirstFailureSinceTheLastTime) {
    HostLane lane;
    lane.run("well", {}, [] {});
    lane.run("first", {}, [] { throw std::runtime_error("no disk"); });
    lane.run("second", {}, [] { throw std::runtime_error("no paper"); });
    try {
        lane.wait_all();
        FAIL() << "two tasks have failed";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("no disk"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("first"), std::string::npos) << error.what();
    }
    lane.run("well", {}, [] {});
    EXPECT_NO_THROW(lane.wait_all());
}

TEST(HostLane, WaitAllTellsOfTasksThatNeverBegan) {
    Storage data("data", 64);
    HostLane failing, reading;
    const TileUse writes{data.tile(), Access::write}, reads{data.tile(), Access::read};
    bool ran = false;
    static_cast<void>(
        failing.run("broken", {&writes, 1}, [] { throw std::runtime_error("broken"); }).outcome());
    reading.run("after it", {&reads, 1}, [&] { ran = true; });
    EXPECT_THROW(reading.wait_all(), Error);
    EXPECT_FALSE(ran);
}

TEST(HostLane, SwitchesBetweenWaitingAndNotWhileItRuns) {
    HostLane lane;
    test::Flag go;
    lane.run("held", {}, [&] { go.wait(); }); // or it would never get further
    go.raise();
    lane.set_asynchronous(false);
    std::atomic<int> ended = 0;
    for (int i = 0; i < 100; ++i) { // a task that is not waited for may be quick, but not always
        lane.run("waited for", {}, [&] { ++ended; });
        ASSERT_EQ(ended, i + 1);
    }
    lane.run("fails", {}, [] { throw std::runtime_error("told by wait_all"); });
    EXPECT_THROW(lane.wait_all(), Error);
    go.lower();
    lane.set_asynchronous(true);
    lane.run("held", {}, [&] { go.wait(); });
    go.raise();
    lane.wait_all();
}

TEST(HostLane, WhoeverWaitsDoesTheWork) {
    HostLane lane;
    lane.set_asynchronous(false);
    test::FakeDevice device;
    Controller controller(device, {.asynchronous = false});
    constexpr int tasks = 100;
    int here = 0, here_as_well = 0;
    const auto count = [me = std::this_thread::get_id()](int& of_mine) {
        if (std::this_thread::get_id() == me) ++of_mine;
    };
    for (int i = 0; i < tasks; ++i) {
        lane.run("here", {}, [&] { count(here); });
        controller.host_task("here as well", {}, [&] { count(here_as_well); });
    }
    // A lane's own thread may be awake when it begins, and where a busy machine stopped us between two tasks.
    EXPECT_GE(here, tasks / 2);
    EXPECT_GE(here_as_well, tasks / 2);
}

TEST(HostLane, TasksOfManyWaitingThreadsRunOneAtATimeAndInOrder) {
    HostLane lane;
    test::Flag go;
    lane.run("held", {}, [&] { go.wait(); });
    lane.set_asynchronous(false);
    constexpr int threads = 4, tasks = 2000;
    std::atomic<int> inside = 0;
    int ended = 0; // no atomic: TSan sees tasks that overlap
    std::vector<int> last(threads, -1);
    {
        std::vector<std::jthread> submitting;
        for (int thread = 0; thread < threads; ++thread)
            submitting.emplace_back([&, thread] {
                for (int i = 0; i < tasks; ++i) {
                    lane.run("step", {}, [&, thread, i] {
                        EXPECT_EQ(inside++, 0);
                        EXPECT_EQ(std::exchange(last[static_cast<std::size_t>(thread)], i), i - 1);
                        ++ended;
                        --inside;
                    });
                    EXPECT_EQ(last[static_cast<std::size_t>(thread)], i)
                        << "it returned before its task ended";
                }
            });
        go.raise();
    }
    EXPECT_EQ(ended, threads * tasks);
    lane.wait_all();
}

TEST(HostLane, LanesOverlapAndOrderFollowsTheData) {
    // Three lanes pass ten frames on through two buffers, as a pipeline does.
    Storage first("first", sizeof(int)), second("second", sizeof(int));
    const Tile a = first.tile(), b = second.tile();
    HostLane reading("reading"), working("working"), writing("writing");
    std::string written;
    for (int frame = 0; frame < 10; ++frame) {
        const TileUse fill[] = {{a, Access::write}}, work[] = {{a, Access::read}, {b, Access::write}},
                      drain[] = {{b, Access::read}};
        reading.run("read", fill, [&, frame] { *static_cast<int*>(first.host()) = frame; });
        working.run("work", work,
                    [&] { *static_cast<int*>(second.host()) = 9 - *static_cast<const int*>(first.host()); });
        writing.run("write", drain, [&] { written += std::to_string(*static_cast<int*>(second.host())); });
    }
    writing.wait_all();
    EXPECT_EQ(written, "9876543210");
}

} // namespace
} // namespace headrace
