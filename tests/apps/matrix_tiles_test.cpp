// The GPUs' kernel for products, on host threads: one block after another, with a thread for each of its
// threads. Copies to shared memory arrive as late as they may, so a wait that is missing shows.
#include "apps/matrix_reference.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <deque>
#include <functional>
#include <thread>

// What CUDA has and the kernel uses.
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
struct float4 {
    float x, y, z, w;
};
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct Coordinates {
    unsigned x;
};
static thread_local Coordinates threadIdx, blockIdx;
static std::barrier<>& block_barrier() {
    static std::barrier<> barrier(128);
    return barrier;
}
static void __syncthreads() { block_barrier().arrive_and_wait(); }

namespace matrices {

using Copies = std::vector<std::function<void()>>;
static thread_local Copies open_group;
static thread_local std::deque<Copies> groups;

static void copy_async(float* to, const float* from, bool there) {
    open_group.push_back([=] { *to = there ? *from : 0.0f; });
}
static void copy_4_async(float* to, const float* from) {
    open_group.push_back([=] { std::copy_n(from, 4, to); });
}
static void end_copies() { groups.push_back(std::exchange(open_group, {})); }
template <int Groups>
void wait_for_copies() {
    for (; groups.size() > Groups; groups.pop_front())
        for (const auto& copy : groups.front()) copy();
}

} // namespace matrices

#define MATRICES_COPIES <cstdint> // the ones above
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#include "matrices/multiply_tiles.cuh"
#pragma GCC diagnostic pop

namespace matrices::test {
namespace {

template <int ThreadRows, int ThreadColumns>
void expect_product(int rows, int columns, int inner) {
    using Shape = TileShape<ThreadRows, ThreadColumns>;
    const Floats a = noise(static_cast<std::size_t>(rows) * inner, 1);
    const Floats b = noise(static_cast<std::size_t>(inner) * columns, 2);
    Floats c(static_cast<std::size_t>(rows) * columns, 1e30f);
    const Product all{a.data(), b.data(), c.data(), rows, columns, inner};
    const bool whole = rows % Shape::rows == 0 && columns % Shape::columns == 0 && inner % Shape::depth == 0;
    const unsigned blocks =
        ((rows + Shape::rows - 1) / Shape::rows) * ((columns + Shape::columns - 1) / Shape::columns);
    std::vector<std::jthread> threads;
    for (unsigned thread = 0; thread < Shape::threads; ++thread)
        threads.emplace_back([&, thread] {
            threadIdx.x = thread;
            for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
                if (whole)
                    multiply_tiles<ThreadRows, ThreadColumns, true>(all);
                else
                    multiply_tiles<ThreadRows, ThreadColumns, false>(all);
                groups.clear();
                __syncthreads(); // the next block's shared memory is this one's
            }
        });
    threads.clear();
    const Doubles expected = product(a, b, rows, columns, inner);
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c[i], expected[i], tolerance(inner)) << i;
}

TEST(MultiplyTiles, LargeTilesThatFit) { expect_product<8, 16>(256, 128, 64); }
TEST(MultiplyTiles, LargeTilesThatDoNot) { expect_product<8, 16>(130, 257, 37); }
TEST(MultiplyTiles, SmallTilesThatFit) { expect_product<4, 8>(128, 192, 40); }
TEST(MultiplyTiles, SmallTilesThatDoNot) { expect_product<4, 8>(67, 61, 71); }
TEST(MultiplyTiles, FewerSlicesThanStages) {
    expect_product<4, 8>(64, 64, 8);
    expect_product<4, 8>(1, 1, 1);
}
TEST(MultiplyTiles, MoreRowsOfTilesThanABand) { expect_product<4, 8>(17 * 64 + 5, 70, 16); }

} // namespace
} // namespace matrices::test
