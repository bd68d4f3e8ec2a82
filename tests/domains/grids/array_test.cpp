// tests/domains/grids/array_test.cpp - arrays: their memory, their parts, and several controllers that hold
// them.
#include <core/fake_device.hpp>
#include <headrace/domains/grids/launch.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace headrace::test {
namespace {

/// Adds `amount` to every element of its grid's rows.
struct Add {
    Io<int> all;
    int amount;
};
struct Fill {
    Write<int> all;
    int value;
};
struct Sum {
    In<int> all;
    Write<int> sum;
};

Implementations<Add> add() {
    return Implementations<Add>().on("fake", [](const Add& k, Grid<2> grid, const NativeStream&) {
        for (int y = static_cast<int>(grid.first); y < grid.end[0]; ++y)
            for (int x = 0; x < grid.end[1]; ++x) k.all(y, x) += k.amount;
    });
}
Implementations<Fill> fill() {
    return Implementations<Fill>().on("fake", [](const Fill& k, Grid<2> grid, const NativeStream&) {
        for (int y = static_cast<int>(grid.first); y < grid.end[0]; ++y)
            for (int x = 0; x < grid.end[1]; ++x) k.all(y, x) = k.value;
    });
}
Implementations<Sum> sum() {
    return Implementations<Sum>().on("fake", [](const Sum& k, Grid<1>, const NativeStream&) {
        int total = 0;
        for (const int x : k.all) total += x;
        k.sum(0) = total;
    });
}

TEST(Arrays, SizesAreChecked) {
    EXPECT_THROW(Array<int>("a", {0}), Error);
    EXPECT_THROW(Array<int>("a", {3, -1}), Error);
    EXPECT_THROW(Array<int>("a", {1L << 40, 1L << 40}), Error);
    EXPECT_THROW((Array<char>("a", {2, 1L << 31}, internal)), Error); // columns beyond 32 bits
    const Array<char> long_row("a", {1L << 33}, internal);            // one dimension has no such limit
    EXPECT_EQ(long_row.size(), 1L << 33);
    const Array<char> box("a", {4, 3, 2});
    EXPECT_EQ(box.shape().slices, 4);
    EXPECT_EQ(box.shape().rows, 3);
    EXPECT_EQ(box.shape().columns, 2);
}

TEST(Arrays, BorrowedMemoryCountsAsWrittenAndGetsTheResult) {
    FakeDevice device;
    Controller controller(device);
    std::vector<int> mine(12, 5);
    Array<int> all("all", {3, 4}, mine.data());
    launch(controller, add(), grid(3, 4), all, 2);
    EXPECT_EQ(all.gather().data(), mine.data());
    EXPECT_EQ(mine, std::vector<int>(12, 7));
}

TEST(Arrays, InternalArraysNeverMove) {
    FakeDevice device;
    Controller controller(device);
    Array<int> all("all", {3, 4}, internal), total("total", {1});
    launch(controller, fill(), grid(3, 4), all, 2);
    launch(controller, add(), grid(3, 4), all, 3);
    launch(controller, sum(), grid(1), all, total);
    EXPECT_EQ(total.gather()[0], 60);
    EXPECT_EQ(device.bytes_in(), 0U);
    EXPECT_EQ(device.bytes_out(), sizeof(int));
    EXPECT_THROW(host_task(
                     controller, [](In<int>) {}, all),
                 Error);
}

TEST(Arrays, AWriteOfAPartMovesNothingAndLeavesTheRest) {
    FakeDevice device;
    Controller controller(device);
    Array<int> all("all", {6, 4});
    for (int& x : all.fill()) x = 1;
    launch(controller, fill(), rows(grid(6, 4), 2, 5), rows(all, 2, 5), 9);
    controller.wait_all();
    EXPECT_EQ(device.bytes_in(), 0U);
    const auto got = all.gather();
    EXPECT_EQ(device.bytes_out(), 3 * 4 * sizeof(int));
    for (int i = 0; i < 24; ++i) EXPECT_EQ(got[i], i / 4 >= 2 && i / 4 < 5 ? 9 : 1) << i;
}

TEST(Arrays, OneArrayReadAndWrittenByOneLaunchIsFetchedFirst) {
    FakeDevice device;
    Controller controller(device);
    Array<int> one("one", {1});
    one.fill()[0] = 42;
    struct Twice {
        Write<int> out; // before what reads it, on purpose
        In<int> in;
    };
    const auto twice = Implementations<Twice>().on(
        "fake", [](const Twice& k, Grid<1>, const NativeStream&) { k.out(0) = 2 * k.in(0); });
    launch(controller, twice, grid(1), one, one);
    EXPECT_EQ(one.gather()[0], 84);
}

TEST(Arrays, SeveralControllersShareAnArrayByParts) {
    FakeDevice first_device({.longest_delay = std::chrono::microseconds(200), .seed = 1});
    FakeDevice second_device({.longest_delay = std::chrono::microseconds(200), .seed = 2});
    Controller first(first_device), second(second_device);
    const auto whole = grid(10, 7);
    Array<int> all("all", whole);
    for (int& x : all.fill()) x = 0;
    for (int round = 1; round <= 20; ++round) {
        const int cut = 1 + round % 9; // the border wanders, so rows change hands
        launch(first, add(), rows(whole, 0, cut), rows(all, 0, cut), 1);
        launch(second, add(), rows(whole, cut, 10), rows(all, cut, 10), 1);
    }
    host_task(
        first,
        [](Io<int> by) {
            for (int& x : by) x *= 10;
        },
        all);
    launch(second, add(), whole, all, 7);
    EXPECT_TRUE(std::ranges::all_of(all.gather(), [](int x) { return x == 207; }));
}

TEST(Arrays, TransfersAreExplicitWhereAskedFor) {
    FakeDevice device;
    Controller controller(device);
    Array<int> all("all", {6, 4});
    for (int& x : all.fill()) x = 1;
    move_to(controller, rows(all, 0, 2)).wait();
    EXPECT_EQ(device.bytes_in(), 2 * 4 * sizeof(int));
    prefetch(controller, all).wait();
    EXPECT_EQ(device.bytes_in(), 6 * 4 * sizeof(int)); // the rest
    launch(controller, add(), grid(6, 4), all, 1);
    move_from(controller, all).wait();
    EXPECT_EQ(all.gather()[23], 2);
    EXPECT_EQ(device.bytes_out(), 6 * 4 * sizeof(int));
    wait(all);
}

TEST(Arrays, AFailureReachesWhoReadsTheResult) {
    FakeDevice device;
    Controller controller(device);
    Array<int> all("all", {2, 2});
    device.fail_next(FakeRequest::launch);
    launch(controller, fill(), grid(2, 2), all, 1);
    launch(controller, add(), grid(2, 2), all, 1);
    EXPECT_THROW(static_cast<void>(all.gather()), Error);
    launch(controller, fill(), grid(2, 2), all, 1); // a full write heals
    EXPECT_EQ(all.gather()[3], 1);
    try {
        host_task(
            controller, "the unlucky one", [](Write<int>) { throw std::runtime_error("no"); }, all)
            .wait();
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("the unlucky one"), std::string::npos) << error.what();
    }
}

} // namespace
} // namespace headrace::test
