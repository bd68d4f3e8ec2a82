// bench/recursion_trees.cu - the unbalanced trees in plain CUDA: one launch of as many warps as are resident.
//
// Each warp keeps a stack of sibling ranges in shared memory: a parent, and which of its children are left.
// In each step the lanes take the newest children, 32 at once, and push the ranges of those that have
// children; roots fill lanes that the stack leaves idle. So a warp walks its trees depth first and 32 wide,
// and a range takes 24 bytes whatever its children are. What a full stack has no room for goes to a stack of
// the warp's own in device memory. When the roots are used up and other warps have nothing left, a warp puts
// the older half of its ranges into a pool in device memory, from which these take batches. Nodes are counted
// in registers.
#include "cuda_launch.cuh"
#include "recursion.hpp"
#include "recursion.kernels.hpp"

#include <chrono>

namespace bench {
namespace {

constexpr unsigned warp = 32, threads = 128, warps_of_block = threads / warp, all_lanes = ~0u;
constexpr unsigned shared_ranges = 192; ///< of a warp: twelve blocks of four warps fill 216 KiB
static_assert(shared_ranges / 2 >= warp, "one move makes room");
constexpr unsigned spilled_ranges = 1 << 11;
constexpr unsigned most_batches = 1 << 16;
constexpr std::uint64_t roots_at_once = warp;

struct Siblings {
    Node parent;
    std::uint32_t begin, end;
};

struct Batch {
    Siblings ranges[warp];
    std::uint32_t count;
    std::uint32_t is_there; ///< written last
};

struct Control {
    unsigned long long cursor; ///< of the roots
    unsigned long long nodes;
    std::uint32_t depth;
    std::uint32_t overflow;   ///< a stack in device memory was full
    std::uint32_t idle;       ///< warps
    std::uint32_t head, tail; ///< of the pool, whose places are used once
};

template <class T>
__device__ T look(const T& word) {
    return *static_cast<const volatile T*>(&word);
}

/// The ranges of a warp; all members are the same in all lanes.
class Stack {
public:
    __device__ Stack(Siblings* shared, Siblings* spilled, Control& control)
        : shared_(shared), spilled_(spilled), control_(control) {}

    __device__ bool is_empty() const { return size_ + spilled_size_ == 0; }

    /// A range of each lane that has one. There is room for as many: see make_room.
    __device__ void push(bool has, const Siblings& range) {
        const unsigned lane = threadIdx.x % warp, mask = __ballot_sync(all_lanes, has);
        if (has) shared_[size_ + __popc(mask & ((1u << lane) - 1))] = range;
        size_ += __popc(mask);
        __syncwarp();
    }

    /// The newest children for as many lanes as there are. True in the lanes that got one.
    __device__ bool take(Node& node) {
        const unsigned lane = threadIdx.x % warp;
        // Lane i looks at the i-th newest range; an inclusive sum says whose child is whose.
        const unsigned looked = min(size_, warp);
        const unsigned own =
            lane < looked ? shared_[size_ - 1 - lane].end - shared_[size_ - 1 - lane].begin : 0;
        unsigned sum = own;
        for (unsigned step = 1; step < warp; step *= 2) {
            const unsigned before = __shfl_up_sync(all_lanes, sum, step);
            if (lane >= step) sum += before;
        }
        const unsigned taken = min(__shfl_sync(all_lanes, sum, warp - 1), warp);
        // The first range whose sum is beyond this lane: by halving, since sums only grow.
        unsigned place = 0;
        for (unsigned step = warp / 2; step > 0; step /= 2)
            if (__shfl_sync(all_lanes, sum, place + step - 1) <= lane) place += step;
        const unsigned first = __shfl_sync(all_lanes, sum - own, place);
        if (lane < taken) {
            const Siblings& range = shared_[size_ - 1 - place];
            node = Child{}(range.begin + lane - first, range.parent);
        }
        __syncwarp();
        // Ranges that are used up are the newest; at most one is left in part.
        const unsigned used_up = __popc(__ballot_sync(all_lanes, lane < looked && sum <= taken));
        if (lane < looked && sum > taken && sum - own < taken)
            shared_[size_ - 1 - lane].begin += taken - (sum - own);
        size_ -= used_up;
        __syncwarp();
        return lane < taken;
    }

    /// For a range of each lane: the oldest half goes to device memory.
    __device__ void make_room() {
        if (size_ + warp <= shared_ranges) return;
        constexpr unsigned moved = shared_ranges / 2;
        const unsigned lane = threadIdx.x % warp;
        if (spilled_size_ + moved > spilled_ranges) {
            if (lane == 0) control_.overflow = 1;
            return drop_oldest(moved);
        }
        for (unsigned i = lane; i < moved; i += warp) spilled_[spilled_size_ + i] = shared_[i];
        spilled_size_ += moved;
        __syncwarp();
        drop_oldest(moved);
    }

    /// Some of what went to device memory, if nothing else is left.
    __device__ void fetch() {
        if (size_ > 0 || spilled_size_ == 0) return;
        const unsigned lane = threadIdx.x % warp, moved = min(spilled_size_, warp);
        spilled_size_ -= moved;
        if (lane < moved) shared_[lane] = spilled_[spilled_size_ + lane];
        size_ = moved;
        __syncwarp();
    }

    /// The older half to the pool, if there is a place in it; at most a batch.
    __device__ void donate(Batch* pool) {
        const unsigned lane = threadIdx.x % warp, given = min(size_ / 2, warp);
        if (given == 0) return;
        unsigned place = lane == 0 ? atomicAdd(&control_.tail, 1) : 0;
        place = __shfl_sync(all_lanes, place, 0);
        if (place >= most_batches) return;
        Batch& batch = pool[place];
        if (lane < given) batch.ranges[lane] = shared_[lane];
        if (lane == 0) batch.count = given;
        __threadfence();
        __syncwarp();
        if (lane == 0) atomicExch(&batch.is_there, 1);
        drop_oldest(given);
    }

    /// Waits for a batch of the pool. False: all warps are idle.
    __device__ bool receive(Batch* pool, unsigned warps) {
        const unsigned lane = threadIdx.x % warp;
        unsigned place = most_batches;
        if (lane == 0) {
            atomicAdd(&control_.idle, 1);
            // While one is at work there may be more; it says that it is idle after its last batch.
            while (place == most_batches) {
                const bool is_last_look = look(control_.idle) == warps;
                const unsigned head = look(control_.head), tail = min(look(control_.tail), most_batches);
                if (head < tail) {
                    atomicSub(&control_.idle, 1); // first, or another one could take all for idle
                    if (atomicCAS(&control_.head, head, head + 1) == head)
                        place = head;
                    else
                        atomicAdd(&control_.idle, 1);
                } else if (is_last_look) {
                    break;
                } else {
                    __nanosleep(200);
                }
            }
            if (place < most_batches)
                while (look(pool[place].is_there) == 0) __nanosleep(20);
        }
        place = __shfl_sync(all_lanes, place, 0);
        if (place == most_batches) return false;
        __threadfence();
        const Batch& batch = pool[place];
        size_ = look(batch.count);
        if (lane < size_) shared_[lane] = batch.ranges[lane];
        __syncwarp();
        return true;
    }

private:
    __device__ void drop_oldest(unsigned count) {
        const unsigned lane = threadIdx.x % warp;
        for (unsigned first = 0; first + count < size_; first += warp) {
            const bool moves = first + lane + count < size_;
            Siblings range{};
            if (moves) range = shared_[first + lane + count];
            __syncwarp();
            if (moves) shared_[first + lane] = range;
            __syncwarp();
        }
        size_ -= count;
    }

    Siblings* shared_;
    Siblings* spilled_;
    Control& control_;
    unsigned size_ = 0, spilled_size_ = 0;
};

__global__ void __launch_bounds__(threads)
    search(std::uint64_t trees, Control* control, Siblings* spilled, Batch* pool) {
    __shared__ Siblings shared[warps_of_block * shared_ranges];
    const unsigned lane = threadIdx.x % warp, in_block = threadIdx.x / warp;
    const unsigned warps = gridDim.x * warps_of_block, number = blockIdx.x * warps_of_block + in_block;
    Stack stack(shared + in_block * shared_ranges, spilled + std::size_t{number} * spilled_ranges, *control);

    std::uint64_t nodes = 0, root = 0, last_root = 0;
    std::uint32_t depth = 1;
    bool roots_left = true;
    for (unsigned step = 0;; ++step) {
        Node node{};
        bool has = stack.take(node);
        const unsigned idle = __ballot_sync(all_lanes, !has);
        if (idle != 0 && roots_left) {
            if (root == last_root) {
                unsigned long long first = lane == 0 ? atomicAdd(&control->cursor, roots_at_once) : 0;
                root = __shfl_sync(all_lanes, first, 0);
                last_root = min(root + roots_at_once, trees);
                roots_left = root < trees;
                if (!roots_left) root = last_root = 0;
            }
            const std::uint64_t own = root + __popc(idle & ((1u << lane) - 1));
            if (!has && own < last_root) {
                node = Trees{}(own);
                has = true;
            }
            root = min(root + __popc(idle), last_root);
        }
        if (!__any_sync(all_lanes, has)) {
            if (roots_left) continue;
            stack.fetch();
            if (stack.is_empty() && !stack.receive(pool, warps)) break;
            continue;
        }
        const auto children = has ? static_cast<std::uint32_t>(children_of(node)) : 0;
        nodes += children;
        if (children > 0) depth = max(depth, node.depth + 1);
        stack.push(children > 0, {node, 0, children});
        stack.make_room();
        if (!roots_left && step % 16 == 0 && look(control->idle) > 0) stack.donate(pool);
    }

    for (unsigned step = warp / 2; step > 0; step /= 2) {
        nodes += __shfl_xor_sync(all_lanes, nodes, step);
        depth = max(depth, __shfl_xor_sync(all_lanes, depth, step));
    }
    if (lane == 0) {
        atomicAdd(&control->nodes, static_cast<unsigned long long>(nodes));
        atomicMax(&control->depth, depth);
    }
}

} // namespace

RecursionTurn cuda_trees(const TreesProblem& problem) {
    CHECK(cudaFuncSetAttribute(search, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared));
    const unsigned blocks = resident_blocks(search, threads);
    const OnDevice<Control> control(1);
    const OnDevice<Siblings> spilled(std::size_t{blocks} * warps_of_block * spilled_ranges);
    const OnDevice<Batch> pool(most_batches);
    CHECK(cudaDeviceSynchronize());

    RecursionTurn turn{};
    const auto begin = std::chrono::steady_clock::now();
    turn.kernel_seconds = seconds_of(
        [&] { search<<<blocks, threads>>>(problem.trees, control.get(), spilled.get(), pool.get()); });
    turn.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const Control end = control.on_host()[0];
    if (end.overflow != 0) throw std::runtime_error("plain CUDA: a stack in device memory is full");
    turn.found.count = problem.trees + end.nodes;
    turn.found.depth = end.depth;
    return turn;
}

} // namespace bench
