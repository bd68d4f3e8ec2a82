// tests/core/misuse_test.cpp - ends in the wrong order, data where it is not, roles that do not fit: clear
// errors or defined behaviour.
#include <headrace/core/controller.hpp>
#include <headrace/core/log.hpp>

#include <core/fake_device.hpp>
#include <core/kernel_bodies.hpp>
#include <core/waiting_call.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace headrace {
namespace {

using namespace std::chrono_literals;
using test::fails;
using test::FakeDevice;
using test::FakeOptions;
using test::FakeRequest;
using test::nothing;

/// The Error that the call throws; none: the test fails.
Error thrown_by(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no Error was thrown";
    return Error{ErrorKind::internal, ""};
}

class MisuseTest : public ::testing::Test {
protected:
    /// A kernel that does not end before the gate opens.
    Event held_kernel(Controller& on, Access access) {
        const TileUse use{x(), access};
        return on.launch("held", {&use, 1}, [this](const NativeStream&) { opened_.wait(); });
    }
    Event kernel(Controller& on, Access access, Stream::Body body = nothing) {
        const TileUse use{x(), access};
        return on.launch("kernel", {&use, 1}, std::move(body));
    }
    Tile x() { return storage->tile(); }

    /// Runs `end` on another thread, and expects it to wait for the gate.
    void expect_it_waits(const std::function<void()>& end) {
        test::WaitingCall ending(end);
        EXPECT_TRUE(ending.waits()) << "something still uses what was to be freed";
        gate_.complete();
        ending.join();
    }

    FakeDevice device, other_device{FakeOptions{.id = "fake:1"}};
    std::optional<Controller> controller{device}, other{other_device};
    std::optional<Storage> storage{std::in_place, "x", 8};

private:
    Promise gate_;
    Event opened_ = gate_.event();
};

TEST_F(MisuseTest, FreeingADatumInUseWaitsForItsRequests) {
    const Event running = held_kernel(*controller, Access::write);
    const Event queued = kernel(*controller, Access::update);
    const Event task = controller->host_task("task", std::array{TileUse{x(), Access::read}}, [] {});
    expect_it_waits([&] { storage.reset(); });
    for (const Event& event : {running, queued, task}) EXPECT_TRUE(event.done());
    EXPECT_EQ(device.free_memory(), device.options().memory);
}

TEST_F(MisuseTest, EndingAControllerInUseWaitsForItsRequests) {
    const Event running = held_kernel(*controller, Access::write);
    const Event queued = kernel(*controller, Access::update);
    expect_it_waits([&] { controller.reset(); });
    EXPECT_TRUE(running.done() && queued.done());
    EXPECT_EQ(device.free_memory(), device.options().memory);
}

TEST_F(MisuseTest, EndingAControllerWaitsForCopiesThatOthersMakeFromIt) {
    held_kernel(*controller, Access::write);
    const Event elsewhere = kernel(*other, Access::read); // by way of the host
    expect_it_waits([&] { controller.reset(); });
    EXPECT_FALSE(elsewhere.outcome());
}

TEST_F(MisuseTest, WhatOnlyAControllerThatEndedHeldCountsAsUnwritten) {
    kernel(*controller, Access::write).wait();
    controller.reset();
    EXPECT_EQ(unwritten_parts(x()), std::vector{x()});
}

TEST_F(MisuseTest, MovingADatumFromADeviceThatNeverHeldItSaysSoAndAllocatesNothing) {
    kernel(*controller, Access::write).wait();
    const Error error = thrown_by([&] { other->move_from(x()); });
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(error.message().find("'x'"), std::string::npos) << error.what();
    EXPECT_EQ(error.device(), "fake:1");
    EXPECT_EQ(other_device.free_memory(), other_device.options().memory);
}

TEST_F(MisuseTest, ReleasingADatumThatIsNotHeldDoesNothing) {
    kernel(*controller, Access::write).wait();
    other->release(*storage);
    other->release(*storage);
    EXPECT_TRUE(unwritten_parts(x()).empty());
    EXPECT_FALSE(gather(x()).outcome());
}

TEST_F(MisuseTest, AMoveOfSeveralTilesThatOneRefusesMovesNone) {
    std::uint64_t words[2] = {1, 2};
    Storage pair("pair", sizeof words, words);
    const Tile whole = pair.tile();
    const TileUse left{pair.tile(0, 8), Access::write};
    controller->launch("kernel", {&left, 1}, nothing).wait();
    EXPECT_EQ(thrown_by([&] { controller->move_to(whole); }).kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(device.requests(FakeRequest::copy_in), 0U) << "the right half could have been moved";
}

// As where a kernel is given one array as its input and as its output.
TEST_F(MisuseTest, AReadAndAWriteOfOneTileInOneRequestAreAnUpdate) {
    std::uint64_t word = 5;
    Storage y("y", sizeof word, &word);
    const Tile tile = y.tile();
    auto* on_device = static_cast<std::uint64_t*>(controller->memory(y).address());
    std::uint64_t expected = 5;
    for (const auto& [first, second] :
         {std::pair{Access::read, Access::write}, std::pair{Access::write, Access::read}}) {
        const TileUse uses[] = {{tile, first}, {tile, second}};
        controller->launch("kernel", uses, [=](const NativeStream&) { *on_device += 1; }).wait();
        EXPECT_FALSE(gather(tile).outcome());
        EXPECT_EQ(word, ++expected);
        const TileUse on_host{tile, Access::update}; // so that it has to be fetched once more
        controller->host_task({&on_host, 1}, [] {}).wait();
    }
}

TEST_F(MisuseTest, AnErrorOfAKernelNamesTheKernelAndTheDevice) {
    const ErrorPtr error = kernel(*controller, Access::write, fails).outcome();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->task(), "kernel");
    EXPECT_EQ(error->message(), "the kernel's own words");
}

TEST_F(MisuseTest, TooManyControllersOfOneDatumAreRefusedByName) {
    std::deque<Controller> many;
    const auto use_on = [&](Controller& on) {
        const TileUse use{x(), Access::write};
        return on.launch("kernel", {&use, 1}, nothing);
    };
    for (ReplicaNumber i = 1; i < ReplicaSet::capacity; ++i)
        EXPECT_NO_THROW(use_on(many.emplace_back(device)));
    const Error error = thrown_by([&] { use_on(*other); });
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(error.message().find("'x'"), std::string::npos) << error.what();
    many.pop_back();
    EXPECT_NO_THROW(use_on(*other)) << "there is room again";
}

// Kernels, copies and host tasks fail, and others wait for them, while everything ends in different orders.
TEST_F(MisuseTest, FailuresWhileEverythingEndsReachTheirEvents) {
    for (unsigned order = 0; order < 4; ++order) {
        SCOPED_TRACE(order);
        Promise gate;
        std::vector<Event> failing;
        FakeDevice slow(FakeOptions{.id = "slow", .longest_delay = 200us}), another;
        std::optional<Controller> one(slow), two(another);
        std::optional<HostLane> lane;
        lane.emplace();
        std::optional<Storage> datum(std::in_place, "datum", 64), result(std::in_place, "result", 64);
        host_wrote(result->tile());
        const TileUse write[] = {{datum->tile(), Access::write}};
        const TileUse on[] = {{datum->tile(), Access::read}, {result->tile(), Access::update}};
        failing.push_back(one->launch("fails", write, [opened = gate.event()](const NativeStream&) {
            opened.wait();
            throw std::runtime_error("broken");
        }));
        failing.push_back(two->launch("reads it", on, nothing));
        failing.push_back(lane->run("reads it on the host", on, [] {}));
        failing.push_back(one->host_task("reads it as well", on, [] {}));
        failing.push_back(gather(result->tile()));
        test::WaitingCall ending([&] {
            for (unsigned i = 0; i < 4; ++i) switch ((i + order) % 4) {
                case 0:
                    one.reset();
                    break;
                case 1:
                    datum.reset();
                    result.reset();
                    break;
                case 2:
                    lane.reset();
                    break;
                case 3:
                    two.reset();
                    break;
                }
        });
        EXPECT_TRUE(ending.waits());
        gate.complete();
        ending.join();
        for (const Event& event : failing) {
            ASSERT_TRUE(event.done());
            ASSERT_TRUE(event.outcome());
            EXPECT_EQ(event.outcome()->message(), "broken");
        }
        EXPECT_EQ(slow.free_memory(), slow.options().memory);
        EXPECT_EQ(another.free_memory(), another.options().memory);
    }
}

} // namespace
} // namespace headrace
