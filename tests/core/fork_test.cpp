// tests/core/fork_test.cpp - events, controllers and host lanes in a child of fork(): none of their threads
// is there.
#include <headrace/core/controller.hpp>

#include <core/fake_device.hpp>
#include <core/forked_child.hpp>
#include <core/kernel_bodies.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <string>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

TEST(ForkedEvent, ThatHadNotEndedHasFailed) {
    Promise promise, other;
    const Event event = promise.event(), other_event = other.event();
    expect_errors_in_forked_child({
        {"wait", [&] { event.wait(); }},
        {"wait_for", [&] { static_cast<void>(event.wait_for(1h) && (event.wait(), true)); }},
        {"outcome", [&] { throw Error{*event.outcome()}; }},
        {"done", [&] { static_cast<void>(event.done() && (event.wait(), true)); }},
        {"all",
         [&] {
             Event::all(std::array{event, other_event.order_only()}).wait();
         }},
        {"then",
         [&] {
             event.then([](const ErrorPtr& error) {
                 if (error) throw Error{*error};
             });
         }},
    });
    EXPECT_FALSE(event.done()) << "in the parent it goes on";
    promise.complete();
    event.wait();
}

TEST(ForkedEvent, ThatHadEndedIsAsItWas) {
    Promise good, bad;
    good.complete();
    bad.fail(std::make_shared<const Error>(ErrorKind::kernel, "it broke"));
    EXPECT_EQ(thrown_in_forked_child([&] { good.event().wait(); }), "nothing");
    const std::string thrown = thrown_in_forked_child([&] { bad.event().wait(); });
    EXPECT_NE(thrown.find("it broke"), std::string::npos) << thrown;
}

/// Not even by the promise that the child has a copy of.
TEST(ForkedEvent, ThatHadNotEndedIsNotChangedInTheChild) {
    Promise promise;
    const Event event = promise.event();
    bool has_run = false;
    event.then([&](const ErrorPtr&) { has_run = true; });
    expect_errors_in_forked_child(
        {{"wait", [&] {
              promise.complete();
              if (has_run) throw Error{ErrorKind::internal, "what the parent wanted has run"};
              event.wait();
          }}});
    promise.complete();
    EXPECT_TRUE(has_run);
}

TEST(ForkedEvent, OfTheChildIsAnEvent) {
    EXPECT_EQ(thrown_in_forked_child([] {
                  Promise promise;
                  if (promise.event().done()) throw Error{ErrorKind::internal, "it is done"};
                  promise.complete();
                  promise.event().wait();
              }),
              "nothing");
}

TEST(ForkedController, AndItsDataAreErrors) {
    FakeDevice device;
    Controller controller(device);
    HostLane lane;
    Storage x("x", 8);
    const TileUse writes{x.tile(), Access::write}, reads{x.tile(), Access::read};
    controller
        .launch("write", {&writes, 1},
                [&](const NativeStream&) { std::memset(controller.memory(x).address(), 7, 8); })
        .wait();
    expect_errors_in_forked_child({
        {"gather", [&] { gather(x.tile()).wait(); }},
        {"launch",
         [&] {
             controller.launch("again", {&writes, 1}, nothing).wait();
         }},
        {"prefetch", [&] { controller.prefetch(x.tile()).wait(); }},
        {"host task",
         [&] {
             controller.host_task({&reads, 1}, [] {}).wait();
         }},
        {"host task without data", [&] { controller.host_task({}, [] {}).wait(); }},
        {"lane", [&] { lane.run("task", {}, [] {}).wait(); }},
        {"wait for a lane", [&] { lane.wait_all(); }},
    });
    gather(x.tile()).wait();
    EXPECT_EQ(static_cast<const unsigned char*>(x.host())[7], 7);
    EXPECT_EQ(in_forked_child([&] {
                  host_wrote(x.tile());
                  gather(x.tile()).wait();
                  return std::to_string(static_cast<const unsigned char*>(x.host())[7]);
              }),
              "7")
        << "what is on the host is there";
}

/// A datum on which a request is under way in the parent can be filled, and ends, in the child.
TEST(ForkedController, RequestsUnderWayHoldNothingUp) {
    FakeDevice device;
    Controller controller(device);
    Promise gate;
    Storage y("y", 8);
    const TileUse writes{y.tile(), Access::write};
    const Event running = controller.launch("held", {&writes, 1},
                                            [opened = gate.event()](const NativeStream&) { opened.wait(); });
    EXPECT_EQ(thrown_in_forked_child([&] { host_wrote(y.tile()); }), "nothing");
    expect_errors_in_forked_child({{"gather", [&] { gather(y.tile()).wait(); }}});
    gate.complete();
    running.wait();
}

} // namespace
} // namespace headrace::test
