// tests/core/controller_test.cpp - failures that travel with data, explicit moves, splitting, memory,
// warnings.
#include <headrace/core/controller.hpp>

#include <core/fake_device.hpp>
#include <core/kernel_bodies.hpp>
#include <core/log_lines.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headrace {
namespace {

using test::fails;
using test::FakeDevice;
using test::FakeOptions;
using test::FakeRequest;
using test::LogLines;
using test::nothing;

ErrorKind kind_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.kind();
    }
    ADD_FAILURE() << "no Error was thrown";
    return ErrorKind::internal;
}

/// One device, one datum of eight bytes that is still unwritten.
class ControllerTest : public ::testing::Test {
protected:
    Event run(Access access, Stream::Body body = nothing) {
        return run_on(controller, access, std::move(body));
    }
    Event run_on(Controller& on, Access access, Stream::Body body = nothing) {
        const TileUse use{x(), access};
        return on.launch("kernel", {&use, 1}, std::move(body));
    }
    Event run_on_host(
        Access access, std::function<void()> task = [] {}) {
        const TileUse use{x(), access};
        return controller.host_task({&use, 1}, std::move(task));
    }
    Tile x() { return storage.tile(); }
    std::uint64_t& value() { return *static_cast<std::uint64_t*>(storage.host()); }
    std::uint64_t* replica() { return static_cast<std::uint64_t*>(controller.memory(storage).address()); }

    FakeDevice device, other_device{FakeOptions{.id = "fake:1"}};
    Controller controller{device}, other{other_device};
    Storage storage{"x", 8};
};

TEST_F(ControllerTest, WarnsOncePerDatumAndByNameThatNothingWroteIt) {
    const LogLines log(LogLevel::warning);
    Storage y("y", 8);
    run(Access::read).wait();
    run(Access::read).wait();
    run_on_host(Access::read).wait();
    ASSERT_EQ(log.lines().size(), 1U);
    EXPECT_NE(log.lines()[0].find("'x'"), std::string::npos) << log.lines()[0];
    const TileUse use{y.tile(), Access::update};
    controller.launch("kernel", {&use, 1}, nothing).wait();
    ASSERT_EQ(log.lines().size(), 2U);
    EXPECT_NE(log.lines()[1].find("'y'"), std::string::npos) << log.lines()[1];
}

TEST_F(ControllerTest, DoesNotWarnOfWhatAnotherControllerWrote) {
    const LogLines log(LogLevel::warning);
    run(Access::write);
    run_on(other, Access::read).wait();
    run_on_host(Access::read).wait();
    EXPECT_TRUE(log.lines().empty());
}

TEST_F(ControllerTest, AFailureReachesWhatReadsTheDataOnEveryReplica) {
    const Event failed = run(Access::write, fails);
    const Event after = run(Access::read);
    const Event elsewhere = run_on(other, Access::update);
    const Event on_host = run_on_host(Access::read);
    const Event gathered = gather(x());
    for (const Event& event : {failed, after, elsewhere, on_host, gathered}) {
        const ErrorPtr error = event.outcome();
        ASSERT_TRUE(error);
        EXPECT_EQ(error->kind(), ErrorKind::kernel);
        EXPECT_EQ(error->message(), "the kernel's own words");
    }
    // And once everything has settled.
    EXPECT_EQ(kind_of([&] { run(Access::read).wait(); }), ErrorKind::kernel);
    EXPECT_EQ(kind_of([&] { gather(x()).wait(); }), ErrorKind::kernel);
    EXPECT_EQ(kind_of([&] { headrace::wait(x()); }), ErrorKind::kernel);
    EXPECT_EQ(kind_of([&] { controller.move_from(x()).wait(); }), ErrorKind::kernel);
}

TEST_F(ControllerTest, AFailedReaderHurtsNobody) {
    run(Access::write, [p = replica()](const NativeStream&) { *p = 7; });
    const Event failed = run(Access::read, fails);
    run(Access::update, [p = replica()](const NativeStream&) { ++*p; }).wait();
    gather(x()).wait();
    EXPECT_EQ(value(), 8U);
    EXPECT_TRUE(failed.outcome());
}

TEST_F(ControllerTest, AFullWriteHeals) {
    run(Access::write, fails);
    run(Access::read);
    const Event healed =
        run(Access::write, [p = replica()](const NativeStream&) { *p = 42; }); // submitted at once
    run_on(other, Access::read).wait();
    healed.wait();
    gather(x()).wait();
    EXPECT_EQ(value(), 42U);

    run(Access::update, fails);
    headrace::wait(Storage("unrelated", 8).tile());
    EXPECT_TRUE(run_on_host(Access::read).outcome());
    run_on_host(Access::write, [this] { value() = 43; }).wait();
    run(Access::read).wait();
    EXPECT_NO_THROW(headrace::wait(x()));
}

TEST_F(ControllerTest, AFailedUpdateIsNotHealedByAnUpdate) {
    run(Access::write, fails);
    EXPECT_TRUE(run(Access::update).outcome());
    EXPECT_TRUE(run(Access::read).outcome());
}

TEST_F(ControllerTest, FailuresTravelAlongTheDataOnly) {
    Storage y("y", 8);
    const TileUse both[] = {{x(), Access::read}, {y.tile(), Access::write}};
    run(Access::write, fails);
    const Event copied = controller.launch("x to y", both, nothing);
    EXPECT_TRUE(copied.outcome());
    EXPECT_EQ(kind_of([&] { gather(y.tile()).wait(); }), ErrorKind::kernel);
    Storage z("z", 8);
    const TileUse use{z.tile(), Access::write};
    EXPECT_NO_THROW(controller.launch("z", {&use, 1}, nothing).wait());
}

TEST_F(ControllerTest, AFailedTransferLeavesTheReplicaItCameFrom) {
    value() = 5;
    host_wrote(x());
    device.fail_next(FakeRequest::copy_in);
    EXPECT_EQ(kind_of([&] { run(Access::read).wait(); }), ErrorKind::device);
    std::uint64_t read = 0;
    run(Access::read, [&, p = replica()](const NativeStream&) { read = *p; }).wait(); // fetched again
    EXPECT_EQ(read, 5U);
    device.fail_next(FakeRequest::copy_in);
    controller.release(storage);
    EXPECT_TRUE(run(Access::read).outcome());
    run_on(other, Access::read).wait();
    gather(x()).wait();
    EXPECT_EQ(value(), 5U);
}

TEST_F(ControllerTest, AStartThatThrowsFailsTheRequestAndKeepsItsPlace) {
    host_wrote(x());
    Promise slow;
    const TileUse read{x(), Access::read}, write{x(), Access::write};
    controller.submit("slow reader", {&read, 1}, [&](std::span<const Event>) { return slow.event(); });
    const Event failed = controller.submit("broken", {&write, 1}, [](std::span<const Event>) -> Event {
        throw Error{ErrorKind::unsupported, "no such kernel"};
    });
    const Event next = run(Access::write);
    EXPECT_FALSE(failed.wait_for(std::chrono::milliseconds(20))) << "it was to come after the reader";
    EXPECT_FALSE(next.done()) << "the reader still uses what it writes";
    slow.complete();
    next.wait();
    const ErrorPtr error = failed.outcome();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::unsupported);
    EXPECT_EQ(error->task(), "broken");
}

TEST_F(ControllerTest, AFailureThatIsThereAtOnceDoesNotOvertakeItsLane) {
    // The second kernel cannot run; the writer must wait for the first all the same.
    host_wrote(x());
    Storage y("y", 8);
    const TileUse spoil{y.tile(), Access::write};
    EXPECT_TRUE(controller.launch("spoils y", {&spoil, 1}, fails).outcome());
    Promise gate;
    const Event first = run(Access::read, [&](const NativeStream&) { gate.event().wait(); });
    const TileUse uses[] = {{x(), Access::read}, {y.tile(), Access::read}};
    const Event second = controller.launch("reads x and y", uses, nothing);
    const TileUse write{x(), Access::write};
    const Event writer = controller.submit("writer", {&write, 1},
                                           [](std::span<const Event> after) { return Event::all(after); });
    EXPECT_FALSE(writer.wait_for(std::chrono::milliseconds(20)));
    gate.complete();
    writer.wait();
    EXPECT_TRUE(first.done());
    EXPECT_TRUE(second.outcome());
}

TEST_F(ControllerTest, WaitAllThrowsTheFirstFailureOnce) {
    run(Access::write, fails);
    for (int i = 0; i < 2000; ++i) run(Access::write);
    EXPECT_EQ(kind_of([&] { controller.wait_all(); }), ErrorKind::kernel);
    EXPECT_NO_THROW(controller.wait_all());
}

TEST_F(ControllerTest, ExplicitMovesPrefetchAndAgreeWithImplicitOnes) {
    value() = 3;
    host_wrote(x());
    controller.move_to(x()).wait();
    EXPECT_EQ(device.bytes_in(), 8U);
    run(Access::update, [p = replica()](const NativeStream&) { ++*p; });
    EXPECT_EQ(device.bytes_in(), 8U) << "it was there";
    controller.move_from(x()).wait();
    EXPECT_EQ(value(), 4U);
    gather(x()).wait();
    controller.move_to(x()).wait();
    EXPECT_EQ(device.bytes_out(), 8U);
    EXPECT_EQ(device.bytes_in(), 8U);
}

TEST_F(ControllerTest, AnExplicitMoveFromAStaleReplicaIsAnError) {
    EXPECT_EQ(kind_of([&] { controller.move_to(x()); }), ErrorKind::invalid_argument) << "nothing wrote it";
    EXPECT_EQ(kind_of([&] { controller.move_from(x()); }), ErrorKind::invalid_argument);
    run(Access::write).wait();
    EXPECT_EQ(kind_of([&] { controller.move_to(x()); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([&] { other.move_from(x()); }), ErrorKind::invalid_argument);
    run_on_host(Access::write).wait();
    EXPECT_EQ(kind_of([&] { controller.move_from(x()); }), ErrorKind::invalid_argument);
}

TEST_F(ControllerTest, PartsOfADatumAreCoherentOnTheirOwn) {
    std::array<std::uint64_t, 4> words{1, 2, 3, 4};
    Storage array("array", sizeof words, words.data());
    const Tile whole = array.tile();
    auto* on_first = static_cast<std::uint64_t*>(controller.memory(array).address());
    auto* on_second = static_cast<std::uint64_t*>(other.memory(array).address());
    const TileUse first{array.tile(0, 16), Access::update}, second{array.tile(16, 32), Access::update};
    controller.launch("first", {&first, 1},
                      [=](const NativeStream&) { on_first[0] += 10, on_first[1] += 10; });
    other.launch("second", {&second, 1},
                 [=](const NativeStream&) { on_second[2] += 20, on_second[3] += 20; });
    EXPECT_EQ(device.bytes_in(), 16U);
    EXPECT_EQ(other_device.bytes_in(), 16U);
    // Neighbours that one request made move as one.
    gather(whole).wait();
    EXPECT_EQ(words, (std::array<std::uint64_t, 4>{11, 12, 23, 24}));
    const TileUse all{whole, Access::read};
    controller.launch("all", {&all, 1}, nothing).wait();
    EXPECT_EQ(device.bytes_in(), 16U + 16U);
    EXPECT_EQ(array.stretches(), 2U);
}

TEST_F(ControllerTest, NeighboursOfOneOriginMoveInOneCopy) {
    std::vector<std::byte> bytes(1000);
    Storage array("array", bytes.size(), bytes.data());
    std::vector<TileUse> uses;
    for (Bytes cut = 10; cut <= 1000; cut += 10) uses.push_back({array.tile(cut - 10, cut), Access::read});
    controller.launch("all", uses, nothing).wait();
    EXPECT_EQ(device.requests(FakeRequest::copy_in), 1U);
    EXPECT_EQ(device.bytes_in(), 1000U);
}

TEST_F(ControllerTest, CutsAtEverNewPlacesAreForgotten) {
    std::vector<std::byte> bytes(1 << 16);
    Storage array("array", bytes.size(), bytes.data());
    std::size_t most = 0;
    for (Bytes at = 1; at < 2000; ++at) { // as where two devices share each step of a simulation anew
        const TileUse left{array.tile(0, at * 32), Access::write},
            right{array.tile(at * 32, bytes.size()), Access::write};
        controller.launch("left", {&left, 1}, nothing);
        other.launch("right", {&right, 1}, nothing);
        gather(array.tile()).wait();
        most = std::max(most, array.stretches());
    }
    EXPECT_LE(most, 20U);
    const auto copies = device.requests(FakeRequest::copy_out);
    const TileUse all{array.tile(), Access::write};
    controller.launch("all", {&all, 1}, nothing);
    gather(array.tile()).wait();
    EXPECT_EQ(device.requests(FakeRequest::copy_out), copies + 1);
}

TEST_F(ControllerTest, ARequestMayNameADatumAsOftenAsItLikes) {
    std::vector<std::byte> bytes(64);
    Storage array("array", bytes.size(), bytes.data());
    for (int round = 0; round < 20; ++round) {
        std::vector<TileUse> uses(20, {array.tile(), Access::read});
        for (const Bytes at : {8, 16, 24}) uses.push_back({array.tile(at, at + 30), Access::update});
        controller.launch("all", uses, nothing).wait();
        gather(array.tile()).wait();
    }
    EXPECT_LE(array.stretches(), 7U);
}

TEST_F(ControllerTest, CutsThatAreUsedRemain) {
    std::vector<std::byte> bytes(64);
    Storage array("array", bytes.size(), bytes.data());
    for (int round = 0; round < 100; ++round) {
        for (const Bytes at : {0, 16, 32, 48}) {
            const TileUse use{array.tile(at, at + 16), Access::update};
            controller.launch("part", {&use, 1}, nothing).wait();
        }
        gather(array.tile()).wait(); // all four are alike
        EXPECT_EQ(array.stretches(), 4U);
    }
}

TEST_F(ControllerTest, WhatDiffersIsNotJoined) {
    std::vector<std::byte> bytes(64);
    Storage array("array", bytes.size(), bytes.data());
    const TileUse left{array.tile(0, 32), Access::update};
    controller.launch("left", {&left, 1}, fails);
    for (int round = 0; round < 20; ++round) EXPECT_TRUE(gather(array.tile()).outcome());
    EXPECT_EQ(array.stretches(), 2U);
    EXPECT_FALSE(gather(array.tile(32, 64)).outcome());
}

TEST_F(ControllerTest, TilesOutsideOfTheDatumAreRefused) {
    EXPECT_EQ(kind_of([&] { static_cast<void>(storage.tile(0, 9)); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([&] { static_cast<void>(storage.tile(4, 4)); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([] { Storage empty("empty", 0); }), ErrorKind::invalid_argument);
}

TEST_F(ControllerTest, AFailureInOnePartLeavesTheOthers) {
    std::array<std::uint64_t, 2> words{1, 2};
    Storage array("array", sizeof words, words.data());
    const Tile left = array.tile(0, 8), right = array.tile(8, 16);
    const TileUse use{left, Access::update};
    controller.launch("breaks", {&use, 1}, fails);
    EXPECT_TRUE(gather(left).outcome());
    EXPECT_FALSE(gather(right).outcome());
}

TEST_F(ControllerTest, ZeroCopyKernelsWorkInPlaceAndConflictOnTheHostReplica) {
    FakeDevice cpu(FakeOptions{.id = "cpu", .shares_host_memory = true});
    Controller in_place(cpu), copying(cpu, {.private_copies = true});
    EXPECT_TRUE(in_place.is_zero_copy());
    EXPECT_FALSE(copying.is_zero_copy());
    EXPECT_EQ(in_place.memory(storage).address(), storage.host());
    EXPECT_NE(copying.memory(storage).address(), storage.host());

    Promise gate;
    run_on(in_place, Access::write, [&](const NativeStream&) {
        gate.event().wait();
        value() = 9;
    });
    std::uint64_t seen = 0;
    const Event reader = run(Access::read, [&, p = replica()](const NativeStream&) { seen = *p; });
    const Event task = run_on_host(Access::read, [&] { EXPECT_EQ(value(), 9U); });
    EXPECT_FALSE(reader.wait_for(std::chrono::milliseconds(10)));
    gate.complete();
    reader.wait();
    task.wait();
    EXPECT_EQ(seen, 9U);
    EXPECT_EQ(cpu.bytes_in() + cpu.bytes_out(), 0U);
    run_on(copying, Access::read).wait();
    EXPECT_EQ(cpu.bytes_in(), 8U);
}

TEST_F(ControllerTest, WorksInPlaceOnHostMemoryThatTheDeviceReachesIfAsked) {
    alignas(64) std::uint64_t mapped[8] = {5};
    const FakeOptions reaching{.id = "gpu", .reached = mapped};
    for (const ControllerOptions options :
         {ControllerOptions{}, {.host_in_place = true}, {.private_copies = true, .host_in_place = true}}) {
        const bool in_place = options.host_in_place && !options.private_copies;
        FakeDevice gpu(reaching);
        Storage datum("mapped", sizeof mapped, mapped), plain("plain", 8);
        Controller its(gpu, options);
        EXPECT_EQ(its.memory(datum).address() == mapped, in_place);
        EXPECT_NE(its.memory(plain).address(), plain.host());

        const Tile tile = datum.tile();
        const TileUse update{tile, Access::update};
        auto* const replica = static_cast<std::uint64_t*>(its.memory(datum).address());
        its.launch("adds", {&update, 1}, [replica](const NativeStream&) { ++*replica; }).wait();
        its.move_from(tile).wait();
        EXPECT_EQ(mapped[0], 6U);
        EXPECT_EQ(gpu.bytes_in() + gpu.bytes_out(), in_place ? 0 : 2 * sizeof mapped);
        mapped[0] = 5;
    }
}

TEST_F(ControllerTest, InternalDataIsNotTheHosts) {
    Storage scratch("scratch", 8, internal);
    const Tile tile = scratch.tile();
    const TileUse write{tile, Access::write}, read{tile, Access::read};
    auto* here = static_cast<std::uint64_t*>(controller.memory(scratch).address());
    auto* there = static_cast<std::uint64_t*>(other.memory(scratch).address());
    controller.launch("write", {&write, 1}, [=](const NativeStream&) { *here = 5; });
    std::uint64_t seen = 0;
    other.launch("read", {&read, 1}, [&, there](const NativeStream&) { seen = *there; }).wait();
    EXPECT_EQ(seen, 5U) << "between devices that do not reach each other the host is a way station";
    EXPECT_EQ(kind_of([&] { gather(tile).wait(); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([&] { host_wrote(tile); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([&] { controller.move_from(tile); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([&] { controller.host_task({&read, 1}, [] {}); }), ErrorKind::invalid_argument);
}

TEST_F(ControllerTest, LackOfMemoryThrowsWithSizesAndChangesNothing) {
    FakeDevice small(FakeOptions{.id = "small", .memory = 100});
    Controller on_small(small);
    std::vector<std::byte> bytes(101);
    Storage large("large", bytes.size(), bytes.data());
    const TileUse uses[] = {{x(), Access::write}, {large.tile(), Access::read}};
    EXPECT_EQ(kind_of([&] { on_small.launch("kernel", uses, nothing); }), ErrorKind::out_of_memory);
    EXPECT_NO_THROW(gather(large.tile()).wait());
    const LogLines log(LogLevel::warning);
    run(Access::read).wait();
    EXPECT_EQ(log.lines().size(), 1U) << "x counts as unwritten still";
}

TEST_F(ControllerTest, ReleaseFreesOnceNothingUsesTheReplica) {
    const Bytes free = device.free_memory();
    Promise gate;
    run(Access::write, [&, p = replica()](const NativeStream&) {
        gate.event().wait();
        *p = 6;
    });
    const Event gathered = gather(x());
    EXPECT_EQ(device.free_memory(), free - 8);
    std::jthread opener([&] { gate.complete(); });
    controller.release(storage);
    EXPECT_EQ(device.free_memory(), free);
    EXPECT_TRUE(gathered.done());
    EXPECT_EQ(value(), 6U);
    run(Access::read).wait(); // comes back
}

TEST_F(ControllerTest, StoragesAndControllersEndInAnyOrder) {
    auto datum = std::make_optional<Storage>("datum", 8);
    auto short_lived = std::make_optional<Controller>(other_device);
    const auto use_it = [&](Controller& on, Access access) {
        const TileUse use{datum->tile(), access};
        return on.launch("kernel", {&use, 1}, nothing);
    };
    use_it(controller, Access::write);
    use_it(*short_lived, Access::read);
    use_it(*short_lived, Access::read);
    short_lived.reset();
    EXPECT_EQ(other_device.free_memory(), other_device.options().memory);
    use_it(controller, Access::update);
    datum.reset();
    EXPECT_EQ(device.free_memory(), device.options().memory);
    short_lived.emplace(other_device);
}

/// Known to no thread before one waits for it, as a copy may be that a driver orders before a kernel.
class HeardByWaiting final : public EventState {
public:
    bool query() override { return settled(); }
    void block() override { settle(); }
};

/// A datum with a replica on `controller`. Its last request, on the host replica, is heard of by waiting, and
/// the last owner of the datum is a continuation of that.
class DatumThatEndsInAContinuation : public ControllerTest {
protected:
    DatumThatEndsInAContinuation() {
        const TileUse use{datum.tile(), Access::read};
        holder->launch("kernel", {&use, 1}, nothing).wait();
        in_place.submit("copy", {&use, 1}, [this](std::span<const Event>) { return last; });
        last.then([owner = std::move(owner)](const ErrorPtr&) mutable { owner.reset(); });
    }
    void expect_that_it_is_gone() {
        EXPECT_TRUE(watched.expired());
        EXPECT_EQ(other_device.free_memory(), other_device.options().memory);
    }

    FakeDevice host{FakeOptions{.id = "fake:host", .shares_host_memory = true}};
    Controller in_place{host};
    std::optional<Controller> holder{std::in_place, other_device};
    std::uint64_t contents = 7;
    std::shared_ptr<Storage> owner = std::make_shared<Storage>("datum", 8, &contents);
    Storage& datum = *owner;
    const std::weak_ptr<Storage> watched = owner;
    const Event last{std::make_shared<HeardByWaiting>()};
};

TEST_F(DatumThatEndsInAContinuation, WhileItsControllerEnds) {
    holder.reset();
    expect_that_it_is_gone();
}

TEST_F(DatumThatEndsInAContinuation, WhileItsReplicaIsReleased) {
    holder->release(datum);
    expect_that_it_is_gone();
}

TEST_F(ControllerTest, SynchronousRequestsHaveEndedWhenSubmittingReturns) {
    Controller synchronous(device, {.asynchronous = false});
    const TileUse use{x(), Access::write};
    EXPECT_TRUE(synchronous.launch("kernel", {&use, 1}, nothing).done());
    EXPECT_TRUE(synchronous.host_task({&use, 1}, [] {}).done());
    synchronous.set_asynchronous(true);
    Promise gate;
    const Event event =
        synchronous.launch("kernel", {&use, 1}, [&](const NativeStream&) { gate.event().wait(); });
    EXPECT_FALSE(event.done());
    gate.complete();
    synchronous.wait_all();
}

TEST(HostLane, TasksOfOneLaneRunInOrderAndThoseOfTwoOverlap) {
    std::vector<int> order; // of one lane: no lock
    Promise gate;
    HostLane one, two;
    one.run("waits for the other lane", {}, [&] {
        gate.event().wait();
        order.push_back(1);
    });
    const Event last = one.run("second", {}, [&] { order.push_back(2); });
    two.run("opens", {}, [&] { gate.complete(); });
    last.wait();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(HostLane, WhatATaskThrowsBecomesAnErrorWithItsName) {
    HostLane lane;
    const ErrorPtr error = lane.run("write frame 7", {}, [] { throw 7; }).outcome();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::kernel);
    EXPECT_EQ(error->task(), "write frame 7");
}

TEST(HostLane, RunsWhatWasSubmittedBeforeItEnds) {
    int ran = 0;
    {
        HostLane lane;
        for (int i = 0; i < 100; ++i) lane.run("task", {}, [&] { ++ran; });
    }
    EXPECT_EQ(ran, 100);
}

} // namespace
} // namespace headrace
