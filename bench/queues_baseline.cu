// bench/queues_baseline.cu - see queues_baseline.hpp.
#include "cuda_launch.cuh"
#include "queues.kernels.hpp"
#include "queues_baseline.hpp"

namespace bench {
namespace {

constexpr unsigned threads = 128, warp = 32;

QueueTurn turn(double seconds, std::uint64_t units, std::uint64_t checksum = 0) {
    return {seconds, seconds, units, checksum};
}

unsigned blocks_for(std::uint64_t work) { return static_cast<unsigned>((work + threads - 1) / threads); }

// ---- limits

constexpr std::uint32_t tickets_each = 4096;

/// A ticket that nobody looks at would need no answer from the memory.
__device__ void look_at(unsigned long long ticket, std::uint32_t* seen) {
    if (ticket == ~0ull) *seen = 1;
}

__global__ void __launch_bounds__(threads) take_tickets(unsigned long long* word, std::uint32_t* seen) {
    if (threadIdx.x % warp != 0) return;
    for (std::uint32_t i = 0; i < tickets_each; ++i) look_at(atomicAdd(word, 1ull), seen);
}

__global__ void __launch_bounds__(threads) take_shared_tickets(std::uint32_t* seen) {
    __shared__ std::uint32_t word;
    if (threadIdx.x == 0) word = 0;
    __syncthreads();
    if (threadIdx.x % warp != 0) return;
    for (std::uint32_t i = 0; i < tickets_each; ++i) look_at(atomicAdd(&word, 1u) - 1ull, seen);
}

__global__ void __launch_bounds__(threads) copy_words(const uint4* from, uint4* to) {
    const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
    to[i] = from[i];
}

// ---- trees

template <TreeStyle Style>
__global__ void __launch_bounds__(threads)
    count_trees(TreeRules rules, Roots roots, std::uint64_t seeds, std::uint64_t* counts) {
    const std::uint64_t seed = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (seed >= seeds) return;
    const Node root = roots(seed);
    std::uint64_t nodes = 0;
    if constexpr (Style == TreeStyle::calls)
        nodes = count_by_calls(rules, root);
    else
        nodes = count_nodes(rules, root);
    headrace::atomic_add(counts[seed % TreeRules::sums], nodes);
}

// ---- packets

__global__ void __launch_bounds__(threads) walk_alone(WalkRules rules, std::uint64_t packets) {
    const std::uint64_t index = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (index >= packets) return;
    Packet packet = Starts{}(index);
    while (rules.step(packet)) {
    }
}

/// What somebody would write who has this one problem: as the engine does it, by hand.
__global__ void __launch_bounds__(threads)
    walk_and_refill(WalkRules rules, std::uint64_t packets, unsigned long long* cursor) {
    constexpr unsigned all = ~0u, enough = warp * 3 / 4, claimed = 512;
    const unsigned lane = threadIdx.x % warp;
    std::uint64_t next = 0, end = 0;
    bool is_over = false;
    Packet packet{};
    unsigned active = 0;
    for (;;) {
        if (__popc(active) < enough) {
            if (next == end && !is_over) {
                unsigned long long first = lane == 0 ? atomicAdd(cursor, claimed) : 0;
                first = __shfl_sync(all, first, 0);
                is_over = first >= packets;
                if (!is_over) {
                    next = first;
                    end = packets - first < claimed ? packets : first + claimed;
                }
            }
            const unsigned rank = __popc(~active & ((1u << lane) - 1));
            const bool takes = (active >> lane & 1) == 0 && rank < end - next;
            if (takes) packet = Starts{}(next + rank);
            const unsigned taken = __ballot_sync(all, takes);
            next += __popc(taken);
            active |= taken;
            if (active == 0) {
                if (is_over) return;
                continue;
            }
        }
        bool goes_on = false;
        if ((active >> lane & 1) != 0) goes_on = rules.step(packet);
        active = __ballot_sync(all, goes_on);
    }
}

} // namespace

QueueTurn one_address_atomics() {
    const OnDevice<unsigned long long> word(1);
    const OnDevice<std::uint32_t> seen(1);
    const unsigned blocks = resident_blocks(take_tickets, threads);
    const double seconds = seconds_of([&] { take_tickets<<<blocks, threads>>>(word.get(), seen.get()); });
    return turn(seconds, word.on_host()[0]);
}

QueueTurn shared_atomics() {
    const OnDevice<std::uint32_t> seen(1);
    const unsigned blocks = resident_blocks(take_shared_tickets, threads);
    const double seconds = seconds_of([&] { take_shared_tickets<<<blocks, threads>>>(seen.get()); });
    return turn(seconds, std::uint64_t{blocks} * (threads / warp) * tickets_each);
}

QueueTurn copy_memory() {
    constexpr std::size_t count = std::size_t{1} << 27; // 2 GiB: far beyond any cache
    const OnDevice<uint4> from(count), to(count);
    const double seconds =
        seconds_of([&] { copy_words<<<blocks_for(count), threads>>>(from.get(), to.get()); });
    return turn(seconds, 2 * count * sizeof(uint4));
}

QueueTurn plain_trees(std::uint64_t seeds, std::uint32_t levels, std::uint32_t ending, TreeStyle style) {
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8 << 10)); // for the calls
    const OnDevice<std::uint64_t> signatures(TreeRules::sums), counts(TreeRules::sums);
    const TreeRules rules{{signatures.get(), {}}, ending};
    const auto count =
        style == TreeStyle::calls ? count_trees<TreeStyle::calls> : count_trees<TreeStyle::own_stack>;
    const double seconds =
        seconds_of([&] { count<<<blocks_for(seeds), threads>>>(rules, Roots{levels}, seeds, counts.get()); });
    std::uint64_t nodes = 0;
    for (const std::uint64_t part : counts.on_host()) nodes += part;
    return turn(seconds, nodes, checksum_of(signatures.on_host().data(), TreeRules::sums));
}

QueueTurn plain_walks(std::uint64_t packets, WalkStyle style) {
    const OnDevice<float> grid(WalkRules::cells);
    const OnDevice<unsigned long long> cursor(1);
    const WalkRules rules{{grid.get(), {}}};
    const double seconds = seconds_of([&] {
        if (style == WalkStyle::refill)
            walk_and_refill<<<resident_blocks(walk_and_refill, threads), threads>>>(rules, packets,
                                                                                    cursor.get());
        else
            walk_alone<<<blocks_for(packets), threads>>>(rules, packets);
    });
    const std::vector<float> marks = grid.on_host();
    std::uint64_t steps = 0;
    for (const float mark : marks) steps += static_cast<std::uint64_t>(mark);
    return turn(seconds, steps, checksum_of(marks.data(), marks.size()));
}

} // namespace bench
