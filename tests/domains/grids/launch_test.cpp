// tests/domains/grids/launch_test.cpp - kernels over grids, in each role, on every technology.
#include "grid.kernels.hpp"

#include <devices/devices_fixture.hpp>
#include <headrace/domains/grids/launch.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

namespace headrace::test {
namespace {

class Launch : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Every, Launch, every_device(), test_name);
INSTANTIATE_TEST_SUITE_P(OnCopies, Launch, ::testing::Values(two_private_cpus), test_name);

TEST_P(Launch, CallsEveryPointOfAGridOnceWithItsRowMajorIndex) {
    Controller controller(device());
    for (const std::int64_t n : {1, 63, 1000, 100003}) {
        Array<std::int64_t> out("out", {n});
        launch<Number1>(controller, grid(n), out, std::int64_t{7});
        const auto got = out.gather();
        for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(got[i], i + 7) << n;
    }
    for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 517}, {517, 3}, {101, 129}}) {
        Array<std::int32_t> out("out", {rows, columns});
        launch<Number2>(controller, grid(rows, columns), out);
        const auto got = out.gather();
        for (int i = 0; i < rows * columns; ++i)
            ASSERT_EQ(got[i], i / columns * 1000 + i % columns) << rows << " x " << columns;
    }
    Array<std::int32_t> out("out", grid(5, 7, 97));
    launch<Number3>(controller, grid(5, 7, 97), out);
    const auto got = out.gather();
    for (int i = 0; i < 5 * 7 * 97; ++i) ASSERT_EQ(got[i], i / 679 * 10000 + i / 97 % 7 * 100 + i % 97);
}

TEST_P(Launch, WorksOnPartsWithTheIndicesOfTheWhole) {
    Controller controller(device());
    const int rows_in_all = 37, columns = 65;
    Array<std::int32_t> out("out", {rows_in_all, columns});
    for (std::int32_t& x : out.fill()) x = -1;
    launch<Number2>(controller, rows(grid(rows_in_all, columns), 5, 20), rows(out, 5, 20));
    const auto got = out.gather();
    for (int y = 0; y < rows_in_all; ++y)
        for (int x = 0; x < columns; ++x)
            ASSERT_EQ(got[y * columns + x], y >= 5 && y < 20 ? 1000 * y + x : -1) << y << ", " << x;
}

/// Blur of all points, written as one would on paper.
std::vector<std::uint8_t> blurred(std::span<const std::uint8_t> in, int height, int width) {
    const auto at = [&](int y, int x) -> int {
        return in[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)];
    };
    std::vector<std::uint8_t> out;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            out.push_back(static_cast<std::uint8_t>(
                (at(y, x) + at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1)) / 5));
    return out;
}

TEST_P(Launch, ReadsArraysThatTheHostOrAnotherKernelWrote) {
    Controller controller(device());
    for (const auto& [height, width] : {std::pair{61, 131}, {1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 200}}) {
        const auto plane = grid(height, width);
        Array<std::uint8_t> in("in", plane), once("once", plane, internal), twice("twice", plane);
        std::uint8_t next = 1;
        for (std::uint8_t& x : in.fill()) x = next = static_cast<std::uint8_t>(next * 37 + 11);
        launch<Blur>(controller, plane, in, once);
        launch<Blur>(controller, plane, once, twice);
        const auto expected = blurred(blurred(in.gather(), height, width), height, width);
        EXPECT_TRUE(std::ranges::equal(twice.gather(), expected)) << height << " x " << width;
    }
}

TEST_P(Launch, FindsTheEdgesInOneAndInThreeDimensions) {
    Controller controller(device());
    for (const int n : {1, 3, 4, 5, 1000}) {
        Array<int> in("in", {n}), out("out", {n});
        std::iota(in.fill().begin(), in.fill().end(), 0);
        launch<Around1>(controller, grid(n), in, out);
        const auto got = out.gather();
        for (int x = 0; x < n; ++x)
            ASSERT_EQ(got[x], 1000 * std::max(x - 2, 0) + std::min(x + 2, n - 1)) << n;
    }
    for (const auto& [d, h, w] : {std::tuple{4, 5, 19}, {1, 1, 1}, {3, 3, 3}, {1, 6, 7}, {6, 2, 70}}) {
        Array<int> in("in", {d, h, w}), out("out", {d, h, w});
        std::iota(in.fill().begin(), in.fill().end(), 0);
        // In two launches, so that the second does not begin at an edge.
        const int cut = d / 2;
        launch<Around3>(controller, rows(grid(d, h, w), 0, cut), in, rows(out, 0, std::max(cut, 1)), d);
        launch<Around3>(controller, rows(grid(d, h, w), cut, d), in, rows(out, cut, d), d);
        const auto got = out.gather();
        const auto index = [h = h, w = w](int z, int y, int x) { return (z * h + y) * w + x; };
        for (int z = 0; z < d; ++z)
            for (int y = 0; y < h; ++y)
                for (int x = 0; x < w; ++x) {
                    const int before = index(std::max(z - 1, 0), std::max(y - 1, 0), std::max(x - 1, 0));
                    const int behind =
                        index(std::min(z + 1, d - 1), std::min(y + 1, h - 1), std::min(x + 1, w - 1));
                    ASSERT_EQ(got[index(z, y, x)], 1000 * before + behind) << z << ' ' << y << ' ' << x;
                }
    }
}

TEST_P(Launch, KeepsWhatAnOutputDoesNotWriteAndAddsToInputsAndOutputs) {
    Controller controller(device());
    Array<float> a("a", {1001}), sum("sum", {1001});
    for (float& x : a.fill()) x = 1;
    for (float& x : sum.fill()) x = 10;
    launch<Odd>(controller, grid(1001), a, 3.0f);
    launch<AddTo>(controller, grid(1001), a, sum);
    launch<AddTo>(controller, grid(1001), a, sum);
    const auto got = sum.gather();
    for (int i = 0; i < 1001; ++i) ASSERT_EQ(got[i], i % 2 ? 16 : 12) << i;
}

TEST_P(Launch, OrdersHostTasksByTheirRoles) {
    Controller controller(device());
    Array<float> a("a", {1000}), sum("sum", {1000});
    host_task(
        controller,
        [](Write<float> to) {
            for (int i = 0; i < 1000; ++i) to(i) = 2;
        },
        a);
    host_task(
        controller,
        [](Write<float> to) {
            for (int i = 0; i < 1000; ++i) to(i) = 1;
        },
        sum);
    launch<AddTo>(controller, grid(1000), a, sum);
    double total = 0;
    const Event added = host_task(
        controller, "add up", [&](In<float> from) { total = std::accumulate(from.begin(), from.end(), 0.0); },
        sum);
    host_task(
        controller,
        [](Io<float> by) {
            for (float& x : by) x *= 2;
        },
        sum);
    added.wait();
    EXPECT_EQ(total, 3000);
    EXPECT_EQ(sum.gather()[999], 6);
}

} // namespace
} // namespace headrace::test
