// apps/barnes_hut/device_build.cu - see device_build.hpp. Sorted by CUB, the rest by kernels of a thread for
// each body, group or node; eight threads look for the children of a node.
#include "device_build.hpp"
#include "device_code.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace barnes_hut {
namespace {

__global__ void make_keys(TreeBuild build, uint64_t* keys, uint32_t* order) {
    each(0, build.count, [&](uint32_t i) {
        keys[i] = build.key_of(i);
        order[i] = i;
    });
    if (blockIdx.x == 0 && threadIdx.x < tree_levels)
        build.level_nodes[threadIdx.x] = threadIdx.x == 0 ? 1 : 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) build.ranges[0] = {0, build.count};
}

__global__ void place_bodies(TreeBuild build) {
    each(0, build.count, [&](uint32_t i) { build.place_body(i); });
}

__global__ void box_groups(TreeBuild build) {
    each(0, build.groups(), [&](uint32_t i) { build.box_group(i); });
}

/// The nodes of a level find their children, which become the next level.
__global__ void split_level(TreeBuild build, uint32_t level) {
    constexpr uint32_t octet = 8;
    const Range nodes = build.level(level);
    const uint32_t lane = threadIdx.x % octet, shift_of_votes = threadIdx.x % 32 / octet * octet;
    const uint32_t first_octet = (blockIdx.x * blockDim.x + threadIdx.x) / octet,
                   octets = gridDim.x * blockDim.x / octet;
    // All lanes of a warp go round equally often: they shuffle together.
    const uint32_t rounds = (nodes.size() + octets - 1) / octets;
    for (uint32_t round = 0; round < rounds; ++round) {
        const uint32_t node = nodes.begin + first_octet + round * octets;
        const bool is_there = node < nodes.end;
        Range range{0, 0};
        if (is_there) range = build.ranges[node];
        uint32_t shift = 0;
        const bool parent = is_there && has_children(build.keys, range, shift);
        const uint32_t end = parent ? end_of_eighth(build.keys, range, shift, lane) : 0;
        uint32_t begin = __shfl_up_sync(~0u, end, 1, octet);
        if (lane == 0) begin = range.begin;
        const bool is_child = parent && end > begin;
        const uint32_t votes = __ballot_sync(~0u, is_child) >> shift_of_votes & 0xffu;
        const auto children = static_cast<uint32_t>(__popc(votes));
        uint32_t first = 0;
        if (parent && lane == 0) // in any order: who reads the next level begins after this kernel
            first = nodes.end + atomicAdd(build.level_nodes + level + 1, children);
        first = __shfl_sync(~0u, first, 0, octet);
        if (is_there && !parent && lane == 0) build.make_leaf(node);
        if (parent && lane == 0) build.make_parent(node, first, children);
        const uint32_t child = first + static_cast<uint32_t>(__popc(votes & ((1u << lane) - 1)));
        if (is_child && child < build.capacity) build.ranges[child] = {begin, end};
    }
}

__global__ void sum_up_level(TreeBuild build, uint32_t level) {
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < tree_levels; ++i) nodes += build.level_nodes[i];
    if (nodes > build.capacity) return; // children are missing; the host will try again with more room
    const Range range = build.level(level);
    each(range.begin, range.end, [&](uint32_t node) { build.sum_up(node); });
}

} // namespace

void build_on_cuda(TreeBuild build, const headrace::NativeStream& native) {
    const auto stream = static_cast<cudaStream_t>(native.stream);
    const unsigned blocks = blocks_of(native.ordinal);
    keep_memory(native.ordinal);
    const Temporary<uint64_t> keys(build.count, stream), sorted(build.count, stream);
    const Temporary<uint32_t> numbers(build.count, stream);
    const Temporary<Range> ranges(build.capacity, stream);
    const Temporary<NodeSum> sums(build.capacity, stream);
    build.keys = sorted.get();
    build.ranges = ranges.get();
    build.sums = sums.get();

    make_keys<<<blocks, threads, 0, stream>>>(build, keys.get(), numbers.get());
    constexpr int first_bit = 0, last_bit = 3 * BARNES_HUT_LEVELS;
    std::size_t size = 0;
    const auto sort = [&](void* scratch) {
        expect_success(cub::DeviceRadixSort::SortPairs(scratch, size, keys.get(), sorted.get(), numbers.get(),
                                                       build.order, static_cast<int>(build.count), first_bit,
                                                       last_bit, stream),
                       "cub::DeviceRadixSort::SortPairs");
    };
    sort(nullptr); // says how much it needs
    const Temporary<char> scratch(size, stream);
    sort(scratch.get());
    place_bodies<<<blocks, threads, 0, stream>>>(build);
    box_groups<<<blocks, threads, 0, stream>>>(build);
    // No node of the last level has children: all its keys are equal.
    for (uint32_t level = 0; level < tree_levels; ++level)
        split_level<<<blocks, threads, 0, stream>>>(build, level);
    for (uint32_t level = tree_levels; level-- > 0;)
        sum_up_level<<<blocks, threads, 0, stream>>>(build, level);
    HEADRACE_CALL(GetLastError);
}

} // namespace barnes_hut
