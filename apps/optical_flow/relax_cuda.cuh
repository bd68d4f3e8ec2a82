// apps/optical_flow/relax_cuda.cuh - many iterations for one pass over memory.
//
// A warp walks down a strip of columns, a row a step, and has all iterations under way: when row r of the
// flow after n iterations is there, row r - 1 after n + 1 can be made, and so row r - k after n + k in the
// same step. Of each iteration it keeps in registers the row that came last and what is known of the sum of
// the neighbours of the row before; a pixel's neighbours to the left and right are other lanes'. So nobody
// waits for anybody, and the equation's numbers, which every iteration needs at another time, lie in shared
// memory for as long, each lane's own. What is wrong at the strip's edges creeps inwards by a column an
// iteration: neighbouring strips overlap. Beyond the picture's edge there is its mirror image, which relaxes
// into a mirror image, so that but for the reading nothing knows of edges.
//
// For a pixel and iteration there are 6 additions, 4 fused multiply-additions, a multiplication, a quarter of
// four shuffles, 12 bytes from shared memory, and 28 / n bytes from the device's memory.
//
// Source  this is temporal blocking by streaming: S. Krishnamoorthy et al., "Effective automatic
//         parallelization of stencil computations", PLDI 2007; K. Matsumura et al., "AN5D: automated stencil
//         framework for high-degree temporal blocking on GPUs", CGO 2020; here without a block's barriers
#pragma once
#include "flow.kernels.hpp"

#include <atomic>

#include <cuda_pipeline_primitives.h>

namespace optical_flow {

template <int Iterations>
struct Strips {
    static constexpr int lanes = 32, lane_columns = 4, columns = lanes * lane_columns;
    static constexpr int halo = (Iterations + lane_columns - 1) / lane_columns * lane_columns;
    static constexpr int kept = columns - 2 * halo;
    static constexpr int ahead = 2; ///< rows under way from memory
    static constexpr int flow_rows = ahead + 1, equation_rows = Iterations + ahead + 1;
    static constexpr int row_bytes = columns * static_cast<int>(sizeof(float));
    static constexpr int flow_bytes = 2 * row_bytes, equation_bytes = 3 * row_bytes;
    static constexpr int shared_bytes = flow_rows * flow_bytes + equation_rows * equation_bytes;
    static constexpr int warps = 8; ///< on a multiprocessor: 255 registers a lane, 28 KiB of shared memory

    /// In a ring, in bytes.
    static __device__ int next(int at, int rows, int bytes) {
        return at == (rows - 1) * bytes ? 0 : at + bytes;
    }
};

/// Four columns of a row, a lane's.
struct Four {
    float at[4];
};

/// Where a lane's columns are read from: side by side, but at the picture's edge.
struct Source {
    int column[4];
    bool is_inner;

    __device__ Source(int x, int columns) : is_inner(x >= 0 && x + 3 < columns) {
        for (int j = 0; j < 4; ++j) column[j] = mirrored(x + j, columns);
    }
    __device__ void fetch(char* to, const float* row) const {
        if (is_inner) {
            __pipeline_memcpy_async(to, row + column[0], sizeof(float4));
            return;
        }
#pragma unroll
        for (int j = 0; j < 4; ++j)
            __pipeline_memcpy_async(to + j * sizeof(float), row + column[j], sizeof(float));
    }
};

__device__ inline Four load(const char* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    return {{four.x, four.y, four.z, four.w}};
}

/// What each column has to its left and right.
__device__ inline Four neighbours(const Four& row) {
    const float left = __shfl_up_sync(~0u, row.at[3], 1), right = __shfl_down_sync(~0u, row.at[0], 1);
    return {{left + row.at[1], row.at[0] + row.at[2], row.at[1] + row.at[3], row.at[2] + right}};
}

/// Rows of one component on their way through one iteration.
struct Passing {
    Four last;  ///< row r
    Four above; ///< the sum for row r, but for the row below
};

/// Of a strip, `kept_rows` rows. After n iterations the flow is 4^n times too large, so that means of four
/// are sums; that is exact.
template <int Iterations>
__global__ void __launch_bounds__(32, Strips<Iterations>::warps) relax_strips(const Relax k, int kept_rows) {
    using Strip = Strips<Iterations>;
    extern __shared__ float4 shared[];
    const int lane = static_cast<int>(threadIdx.x);
    const int x = static_cast<int>(blockIdx.x) * Strip::kept - Strip::halo + lane * Strip::lane_columns;
    const int begin = static_cast<int>(blockIdx.y) * kept_rows, end = min(begin + kept_rows, k.rows);
    const int first = begin - Iterations, steps = end - begin + 2 * Iterations;
    // Rings of rows: of du and dv, and of a, b and c. A lane has its columns of each.
    char* const flow = reinterpret_cast<char*>(shared + lane);
    char* const equation = flow + Strip::flow_rows * Strip::flow_bytes;

    const Source source(x, k.columns);
    int fetched = 0, flow_to = 0, equation_to = 0; // the next row to be fetched, and where it goes
    const auto fetch = [&] {
        if (fetched < steps) {
            const std::int64_t row = static_cast<std::int64_t>(mirrored(first + fetched, k.rows)) * k.pitch;
            source.fetch(flow + flow_to, k.du.data() + row);
            source.fetch(flow + flow_to + Strip::row_bytes, k.dv.data() + row);
            source.fetch(equation + equation_to, k.a.data() + row);
            source.fetch(equation + equation_to + Strip::row_bytes, k.b.data() + row);
            source.fetch(equation + equation_to + 2 * Strip::row_bytes, k.c.data() + row);
            flow_to = Strip::next(flow_to, Strip::flow_rows, Strip::flow_bytes);
            equation_to = Strip::next(equation_to, Strip::equation_rows, Strip::equation_bytes);
            ++fetched;
        }
        __pipeline_commit(); // an empty one too: they are counted
    };
    for (int i = 0; i < Strip::ahead; ++i) fetch();

    Passing u[Iterations], v[Iterations];
#pragma unroll
    for (int n = 0; n < Iterations; ++n) u[n] = v[n] = Passing{};
    const bool writes = lane >= Strip::halo / 4 && lane < Strip::lanes - Strip::halo / 4 && x < k.columns;
    int newest = 0, newest_equation = 0; // where the row is that this step begins with
    for (int step = 0; step < steps; ++step) {
        fetch();
        __pipeline_wait_prior(Strip::ahead);
        Four row_u = load(flow + newest), row_v = load(flow + newest + Strip::row_bytes);
        float scale = 1.0f;
#pragma unroll
        for (int n = 0; n < Iterations; ++n) {
            int completed = newest_equation - (1 + n) * Strip::equation_bytes; // the row before
            if (completed < 0) completed += Strip::equation_rows * Strip::equation_bytes;
            const char* const numbers = equation + completed;
            const Four a = load(numbers), b = load(numbers + Strip::row_bytes),
                       c = load(numbers + 2 * Strip::row_bytes);
            const Four beside_u = neighbours(row_u), beside_v = neighbours(row_v);
            scale *= 4.0f;
            Four after_u, after_v;
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const float sum_u = u[n].above.at[j] + row_u.at[j], sum_v = v[n].above.at[j] + row_v.at[j];
                const float error = fmaf(a.at[j], sum_u, fmaf(b.at[j], sum_v, scale * c.at[j]));
                after_u.at[j] = fmaf(-a.at[j], error, sum_u);
                after_v.at[j] = fmaf(-b.at[j], error, sum_v);
                u[n].above.at[j] = u[n].last.at[j] + beside_u.at[j];
                v[n].above.at[j] = v[n].last.at[j] + beside_v.at[j];
            }
            u[n].last = row_u;
            v[n].last = row_v;
            row_u = after_u;
            row_v = after_v;
        }
        const int y = first + step - Iterations;
        if (writes && y >= begin) {
            const float back = 1.0f / scale;
            const std::int64_t at = static_cast<std::int64_t>(y) * k.pitch + x;
            const auto write = [&](float* to, const Four& row) {
                *reinterpret_cast<float4*>(to + at) = {back * row.at[0], back * row.at[1], back * row.at[2],
                                                       back * row.at[3]};
            };
            write(k.du_after.data(), row_u);
            write(k.dv_after.data(), row_v);
        }
        newest = Strip::next(newest, Strip::flow_rows, Strip::flow_bytes);
        newest_equation = Strip::next(newest_equation, Strip::equation_rows, Strip::equation_bytes);
    }
}

/// Rows that a warp should keep: few, so that all multiprocessors have something to do, or many, since those
/// above and below are computed, too.
inline int rows_to_keep(int rows, int strips, int warps_at_once, int iterations) {
    int best = rows;
    std::int64_t least = 0;
    for (int parts = 1; parts <= rows; ++parts) {
        const int kept = (rows + parts - 1) / parts;
        const std::int64_t turns =
            (std::int64_t{strips} * ((rows + kept - 1) / kept) + warps_at_once - 1) / warps_at_once;
        const std::int64_t cost = turns * (kept + 2 * iterations);
        if (least == 0 || cost < least) least = cost, best = kept;
        if (turns > 4) break;
    }
    return best;
}

/// Of `Iterations`, on a device; asked once of each.
template <int Iterations>
int warps_at_once(int device) {
    constexpr int most_devices = 64;
    static std::atomic<int> known[most_devices]{}; // 0: not asked; whoever asks gets the same
    std::atomic<int>& here = known[device % most_devices];
    if (const int warps = here.load(std::memory_order_relaxed); warps > 0) return warps;
    cudaFuncSetAttribute(relax_strips<Iterations>, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    int multiprocessors = 1;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    const int warps = multiprocessors * Strips<Iterations>::warps;
    here.store(warps, std::memory_order_relaxed);
    return warps;
}

template <int Iterations>
void launch_strips(const Relax& k, const headrace::NativeStream& stream) {
    using Strip = Strips<Iterations>;
    const int strips = (k.columns + Strip::kept - 1) / Strip::kept;
    const int kept = rows_to_keep(k.rows, strips, warps_at_once<Iterations>(stream.ordinal), Iterations);
    relax_strips<Iterations><<<dim3(strips, (k.rows + kept - 1) / kept), Strip::lanes, Strip::shared_bytes,
                               static_cast<cudaStream_t>(stream.stream)>>>(k, kept);
}

inline void specialise(headrace::technology::Cuda, headrace::Implementations<Relax>& all) {
    all.on("cuda", [](const Relax& k, headrace::Grid<2>, const headrace::NativeStream& stream) {
        switch (k.iterations) {
        case 8:
            return launch_strips<8>(k, stream);
        case 4:
            return launch_strips<4>(k, stream);
        case 2:
            return launch_strips<2>(k, stream);
        default:
            return launch_strips<1>(k, stream);
        }
    });
}

} // namespace optical_flow
