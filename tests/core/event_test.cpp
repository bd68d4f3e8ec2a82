// tests/core/event_test.cpp - one completion, one outcome, inherited.
#include <headrace/core/event.hpp>

#include <core/waiting_call.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace headrace {
namespace {

ErrorPtr some_error() { return std::make_shared<const Error>(ErrorKind::kernel, "it broke"); }

TEST(Event, DefaultIsCompleteWithSuccess) {
    const Event event;
    EXPECT_TRUE(event.done());
    EXPECT_NO_THROW(event.wait());
}

TEST(Event, FirstOutcomeWins) {
    Promise promise;
    promise.complete();
    promise.fail(some_error());
    EXPECT_NO_THROW(promise.event().wait());
}

TEST(Event, WaitThrowsWhatTheWorkFailedWith) {
    Promise promise;
    const Event event = promise.event();
    std::jthread worker([&promise] { promise.fail(some_error()); });
    try {
        event.wait();
        FAIL() << "no throw";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kernel);
        EXPECT_EQ(error.message(), "it broke");
    }
}

TEST(Event, WaitForGivesUpAndTellsTheEnd) {
    Promise promise;
    EXPECT_FALSE(promise.event().wait_for(std::chrono::milliseconds(1)));
    promise.fail(some_error());
    EXPECT_TRUE(promise.event().wait_for(std::chrono::seconds(100)));
}

TEST(Event, DroppedPromiseFailsItsEvent) {
    Event event;
    { event = Promise{}.event(); }
    ASSERT_TRUE(event.done());
    ASSERT_TRUE(event.outcome());
    EXPECT_EQ(event.outcome()->kind(), ErrorKind::internal);
}

TEST(Event, AllCompletesWithTheLastAndInheritsAFailure) {
    std::vector<Promise> promises(3);
    std::vector<Event> events;
    for (auto& promise : promises) events.push_back(promise.event());
    const Event all = Event::all(events);
    promises[1].fail(some_error());
    promises[0].complete();
    EXPECT_FALSE(all.done());
    promises[2].complete();
    ASSERT_TRUE(all.done());
    ASSERT_TRUE(all.outcome());
    EXPECT_EQ(all.outcome()->message(), "it broke");
}

TEST(Event, ContinuationsRunExactlyOnceWhoeverSettlesFirst) {
    for (int round = 0; round < 200; ++round) {
        Promise promise;
        const Event event = promise.event();
        std::atomic<int> calls = 0;
        {
            std::jthread settler([&promise] { promise.complete(); });
            for (int i = 0; i < 8; ++i) event.then([&calls](const ErrorPtr&) { ++calls; });
            event.wait();
        }
        EXPECT_EQ(calls, 8);
    }
}

TEST(Event, InheritsAFailureThatCameBeforeAndOneThatComesLater) {
    Promise later;
    const Event before = Event::failed(some_error());
    for (const Event& source : {before, later.event()}) {
        auto state = std::make_shared<EventState>();
        state->inherit({&source, 1});
        if (!source.done()) later.fail(some_error());
        state->settle();
        EXPECT_TRUE(Event{state}.outcome());
    }
}

TEST(Event, OrderOnlyCompletesWithItAndKeepsItsFailureToItself) {
    Promise promise;
    const Event event = promise.event(), ordered = event.order_only();
    auto state = std::make_shared<EventState>();
    state->inherit({&ordered, 1});
    bool told = false;
    ordered.then([&told](const ErrorPtr& error) {
        told = true;
        EXPECT_FALSE(error);
    });
    EXPECT_FALSE(ordered.done());
    promise.fail(some_error());
    state->settle();
    EXPECT_TRUE(told);
    EXPECT_TRUE(ordered.done());
    EXPECT_TRUE(event.outcome());
    EXPECT_NO_THROW(ordered.wait());
    EXPECT_FALSE(Event{state}.outcome());
    const Event both[] = {ordered, ordered};
    EXPECT_FALSE(Event::all(both).outcome());
}

/// Of a driver that orders its own events and loses what failed before them.
class DriversEvent : public EventState {
public:
    [[nodiscard]] const void* family() const noexcept override { return &address; }

private:
    static constexpr char address = 0;
};

TEST(Event, OfADriverInheritsWhatTheDriverLoses) {
    Promise host;
    const Event on_host = host.event();
    const Event first{std::make_shared<DriversEvent>()}, second{std::make_shared<DriversEvent>()};
    first.state()->inherit({&on_host, 1});
    second.state()->inherit({&first, 1});
    host.fail(some_error());
    second.state()->settle(); // the driver tells of the second one alone, and of no failure
    EXPECT_TRUE(second.outcome());
}

TEST(Event, OfADriverInheritsFromOneThatSettlesAtThatMoment) {
    /// Settles when it has just been seen unsettled.
    class Fleeting final : public DriversEvent {
    public:
        [[nodiscard]] const void* family() const noexcept override {
            const_cast<Fleeting*>(this)->settle(some_error());
            return DriversEvent::family();
        }
    };
    const Event first{std::make_shared<Fleeting>()}, second{std::make_shared<DriversEvent>()};
    second.state()->inherit({&first, 1});
    second.state()->settle();
    EXPECT_TRUE(second.outcome());
}

TEST(Event, APromiseThatIsReplacedFailsItsEvent) {
    Promise promise;
    const Event event = promise.event();
    promise = Promise{};
    EXPECT_TRUE(event.done());
    EXPECT_FALSE(promise.event().done());
}

TEST(Event, AChainOfAnyLengthSettles) {
    Promise first;
    std::vector<Promise> others(30'000);
    Event last = first.event();
    for (Promise& other : others) {
        const Event both[] = {last, other.event()};
        last = Event::all(both);
    }
    for (Promise& other : others) other.complete();
    EXPECT_FALSE(last.done());
    first.complete();
    EXPECT_TRUE(last.done());
}

TEST(Event, MayBeWaitedForAsLongAsAClockCounts) {
    Promise promise;
    bool is_complete = false;
    test::WaitingCall call(
        [&, event = promise.event()] { is_complete = event.wait_for(std::chrono::nanoseconds::max()); });
    EXPECT_TRUE(call.waits());
    promise.complete();
    call.join();
    EXPECT_TRUE(is_complete);
}

} // namespace
} // namespace headrace
