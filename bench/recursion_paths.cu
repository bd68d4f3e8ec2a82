// bench/recursion_paths.cu - shortest paths in plain CUDA: bands of distances (near-far, after Davidson et
// al.), with lists of fields on the device and a launch for each wave.
//
// A wave goes on from the fields of one list. Those that it finds nearer than the band's end are the next
// wave's list, others are the far list. The last block of a wave decides on the device what the next one
// reads: the near list, or if that is empty the far one, with the next band. So the host neither waits for a
// wave nor copies a count: it launches a graph of many waves, until a word in its memory says that there was
// nothing left. Waves after that find an empty list. Blocks collect fields in shared memory, so that a list's
// counter gets one addition of a block.
#include "cuda_launch.cuh"
#include "recursion.hpp"
#include "recursion.kernels.hpp"

#include <chrono>
#include <cstring>

namespace bench {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned most_blocks = 128;   ///< more take longer to start than a wave of some thousand fields
constexpr unsigned waves_at_once = 128; ///< in a graph

struct Control {
    std::uint32_t list;      ///< which one this wave reads: 0 to 2
    std::uint32_t count[3];  ///< of the lists
    std::uint32_t near, far; ///< the lists to which it writes
    std::uint32_t to;        ///< end of the band
    std::uint32_t ended;     ///< blocks of this wave
};

struct Map {
    const std::uint32_t* costs;
    std::uint32_t* distances;
    Step* lists[3];
    std::uint32_t capacity, side, band;
    std::uint32_t* is_done; ///< the host's: 1; or 2: a list was full
};

/// Fields that the threads of a block found, and where they go in a list.
struct Collected {
    Step steps[4 * threads];
    std::uint32_t count, first;
};

/// Not moved or repeated by the compiler.
__device__ std::uint32_t look(const std::uint32_t& word) {
    return *static_cast<const volatile std::uint32_t*>(&word);
}

__device__ void collect(Collected& collected, const Step& step) {
    collected.steps[atomicAdd(&collected.count, 1)] = step;
}

__device__ void put_away(Collected& collected, Step* list, std::uint32_t& count, const Map& map) {
    if (threadIdx.x == 0) collected.first = collected.count == 0 ? 0 : atomicAdd(&count, collected.count);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < collected.count; i += threads)
        if (collected.first + i < map.capacity) list[collected.first + i] = collected.steps[i];
    __syncthreads();
    if (threadIdx.x == 0) collected.count = 0;
}

__device__ void plan_next_wave(Control& control, const Map& map) {
    control.ended = 0;
    if (control.count[control.near] > map.capacity || control.count[control.far] > map.capacity) {
        control.count[0] = control.count[1] = control.count[2] = 0;
        *map.is_done = 2;
        return;
    }
    const std::uint32_t read = control.list;
    control.count[read] = 0;
    if (control.count[control.near] > 0) {
        control.list = control.near;
        control.near = read;
    } else {
        control.list = control.far;
        control.far = read;
        control.to += map.band;
        if (control.count[control.list] == 0) *map.is_done = 1;
    }
}

__global__ void __launch_bounds__(threads) wave(Map map, Control* control) {
    __shared__ Collected near, far;
    if (threadIdx.x == 0) near.count = far.count = 0;
    // No word of these changes until the last block has ended.
    const std::uint32_t count = control->count[control->list], to = control->to;
    const Step* list = map.lists[control->list];
    __syncthreads();
    for (std::uint32_t first = blockIdx.x * threads; first < count; first += gridDim.x * threads) {
        if (first + threadIdx.x < count) {
            const Step at = list[first + threadIdx.x];
            // As in the example: all loads at once, then all atomics, since a wave takes as long as their
            // answers.
            const std::uint32_t known = look(map.distances[at.field]);
            const Neighbours fields = neighbours_or_self(at.field, map.side);
            Step steps[4];
            std::uint32_t before[4];
            for (int i = 0; i < 4; ++i) {
                steps[i] = {fields.at[i], at.distance + map.costs[fields.at[i]]};
                before[i] = look(map.distances[fields.at[i]]);
            }
            if (known == at.distance) { // else it was reached by a shorter path meanwhile
                for (int i = 0; i < 4; ++i)
                    if (before[i] > steps[i].distance)
                        before[i] = atomicMin(map.distances + steps[i].field, steps[i].distance);
                for (int i = 0; i < 4; ++i)
                    if (before[i] > steps[i].distance) collect(steps[i].distance < to ? near : far, steps[i]);
            }
        }
        __syncthreads();
        put_away(near, map.lists[control->near], control->count[control->near], map);
        put_away(far, map.lists[control->far], control->count[control->far], map);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&control->ended, 1) == gridDim.x - 1) {
            __threadfence();
            plan_next_wave(*control, map);
        }
    }
}

/// A graph of waves.
class Waves {
public:
    Waves(cudaStream_t stream, unsigned blocks, const Map& map, Control* control) {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (unsigned i = 0; i < waves_at_once; ++i) wave<<<blocks, threads, 0, stream>>>(map, control);
        cudaGraph_t graph = nullptr;
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&graph_, graph, 0));
        CHECK(cudaGraphDestroy(graph));
        CHECK(cudaGraphUpload(graph_, stream));
    }
    ~Waves() { cudaGraphExecDestroy(graph_); }
    Waves(const Waves&) = delete;
    Waves& operator=(const Waves&) = delete;

    void launch(cudaStream_t stream) const { CHECK(cudaGraphLaunch(graph_, stream)); }

private:
    cudaGraphExec_t graph_ = nullptr;
};

/// A word of the host's that the device writes.
class HostWord {
public:
    HostWord() { CHECK(cudaMallocHost(&word_, sizeof *word_)); }
    ~HostWord() { cudaFreeHost(word_); }
    HostWord(const HostWord&) = delete;
    HostWord& operator=(const HostWord&) = delete;
    std::uint32_t* get() const { return word_; }

private:
    std::uint32_t* word_ = nullptr;
};

} // namespace

RecursionTurn cuda_paths(const PathsProblem& problem) {
    const std::size_t fields = problem.costs.size();
    const OnDevice<std::uint32_t> costs(problem.costs), distances(fields);
    const OnDevice<Step> one(fields), two(fields), three(fields);
    const OnDevice<Control> control(std::vector<Control>{{0, {1, 0, 0}, 1, 2, problem.band, 0}});
    const HostWord is_done;
    *is_done.get() = 0;
    const Map map{costs.get(),
                  distances.get(),
                  {one.get(), two.get(), three.get()},
                  static_cast<std::uint32_t>(fields),
                  problem.side,
                  problem.band,
                  is_done.get()};
    // The first field is at a distance of 0, the others are not reached: as the first list's zeroes say.
    CHECK(cudaMemset(distances.get(), 0xff, fields * sizeof(std::uint32_t)));
    CHECK(cudaMemset(distances.get(), 0, sizeof(std::uint32_t)));
    const Stream stream;
    const Waves waves(stream, most_blocks, map, control.get());
    CHECK(cudaDeviceSynchronize());

    RecursionTurn turn{};
    const auto begin = std::chrono::steady_clock::now();
    turn.kernel_seconds = seconds_of([&] {
        while (*static_cast<const volatile std::uint32_t*>(is_done.get()) == 0) {
            waves.launch(nullptr);
            CHECK(cudaStreamSynchronize(nullptr));
        }
    });
    turn.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (*is_done.get() != 1) throw std::runtime_error("plain CUDA: a list is full");
    turn.found.map = distances.on_host();
    return turn;
}

} // namespace bench
