// bench/optical_flow_cuda.cu - while the flow of one pair is computed, the next frame goes to the device and
// the flow before comes from there and is taken. All launches of a pair are one CUDA graph.
#include "cuda_baseline.cuh"
#include "optical_flow_baseline.hpp"

#include <array>
#include <deque>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {
namespace {

/// One of a pyramid's. Rows of arrays begin at whole cache lines.
struct Level {
    int columns, rows, pitch;
    float per_column, per_row; ///< from pixels to a texture's coordinates, which are 0 to 1

    Level(int columns, int rows)
        : columns(columns),
          rows(rows),
          pitch((columns + 31) / 32 * 32),
          per_column(1.0f / static_cast<float>(columns)),
          per_row(1.0f / static_cast<float>(rows)) {}
    std::size_t count() const { return static_cast<std::size_t>(pitch) * rows; }
};

constexpr int block_columns = 32, block_rows = 8, block_threads = block_columns * block_rows;

struct Pixel {
    int x, y;
    __device__ Pixel()
        : x(static_cast<int>(blockIdx.x * block_columns + threadIdx.x)),
          y(static_cast<int>(blockIdx.y * block_rows + threadIdx.y)) {}
    __device__ bool is_in(const Level& level) const { return x < level.columns && y < level.rows; }
    __device__ int in(const Level& level) const { return y * level.pitch + x; }
};

/// The mean of four samples around the middle, a quarter of a pixel away.
__global__ void __launch_bounds__(block_threads)
    shrink(const Level level, cudaTextureObject_t fine, float* __restrict__ coarse) {
    const Pixel pixel;
    if (!pixel.is_in(level)) return;
    const float x = (pixel.x + 0.5f) * level.per_column, y = (pixel.y + 0.5f) * level.per_row;
    const float dx = 0.25f * level.per_column, dy = 0.25f * level.per_row;
    coarse[pixel.in(level)] = 0.25f * (tex2D<float>(fine, x - dx, y) + tex2D<float>(fine, x + dx, y) +
                                       tex2D<float>(fine, x, y - dy) + tex2D<float>(fine, x, y + dy));
}

/// The coarser level's flow, in pixels of this one.
__global__ void __launch_bounds__(block_threads)
    prolong(const Level level, cudaTextureObject_t coarse_u, cudaTextureObject_t coarse_v, float scale_x,
            float scale_y, float* __restrict__ u, float* __restrict__ v) {
    const Pixel pixel;
    if (!pixel.is_in(level)) return;
    const float x = (pixel.x + 0.5f) * level.per_column, y = (pixel.y + 0.5f) * level.per_row;
    u[pixel.in(level)] = scale_x * tex2D<float>(coarse_u, x, y);
    v[pixel.in(level)] = scale_y * tex2D<float>(coarse_v, x, y);
}

__global__ void __launch_bounds__(block_threads)
    warp(const Level level, cudaTextureObject_t target, const float* __restrict__ u,
         const float* __restrict__ v, float* __restrict__ warped) {
    const Pixel pixel;
    if (!pixel.is_in(level)) return;
    const int at = pixel.in(level);
    warped[at] = tex2D<float>(target, (pixel.x + u[at] + 0.5f) * level.per_column,
                              (pixel.y + v[at] + 0.5f) * level.per_row);
}

/// Beyond the edge, the pixel at the edge comes again first.
__device__ int mirrored(int i, int size) {
    while (i < 0 || i >= size) i = i < 0 ? -1 - i : 2 * size - 1 - i;
    return i;
}

/// Where the pixels one and two steps away are, in both directions along an axis.
struct FivePoints {
    int back2, back1, on1, on2;

    __device__ FivePoints(int i, int size, int stride)
        : back2(mirrored(i - 2, size) * stride),
          back1(mirrored(i - 1, size) * stride),
          on1(mirrored(i + 1, size) * stride),
          on2(mirrored(i + 2, size) * stride) {}
    __device__ float slope(const float* __restrict__ line) const {
        return (line[back2] - 8.0f * line[back1] + 8.0f * line[on1] - line[on2]) * (1.0f / 12.0f);
    }
};

/// Derivatives of both frames' mean, and where the solver begins: nothing moves.
__global__ void __launch_bounds__(block_threads)
    differentiate(const Level level, const float* __restrict__ source, const float* __restrict__ warped,
                  float* __restrict__ ix, float* __restrict__ iy, float* __restrict__ it,
                  float* __restrict__ du, float* __restrict__ dv) {
    const Pixel pixel;
    if (!pixel.is_in(level)) return;
    const int at = pixel.in(level), row = at - pixel.x;
    const FivePoints across(pixel.x, level.columns, 1), down(pixel.y, level.rows, level.pitch);
    ix[at] = 0.5f * (across.slope(source + row) + across.slope(warped + row));
    iy[at] = 0.5f * (down.slope(source + pixel.x) + down.slope(warped + pixel.x));
    it[at] = warped[at] - source[at];
    du[at] = 0.0f;
    dv[at] = 0.0f;
}

/// A step of Jacobi's. Neighbours come from the L1 cache, which has them all: what counts is the 28 bytes a
/// pixel from and to memory, and shared memory would add a barrier.
__global__ void __launch_bounds__(block_threads)
    relax(const Level level, const float* __restrict__ du, const float* __restrict__ dv,
          const float* __restrict__ ix, const float* __restrict__ iy, const float* __restrict__ it,
          float alpha, float* __restrict__ du_after, float* __restrict__ dv_after) {
    const Pixel pixel;
    if (!pixel.is_in(level)) return;
    const int at = pixel.in(level);
    const int left = pixel.x > 0 ? at - 1 : at, right = pixel.x + 1 < level.columns ? at + 1 : at;
    const int above = pixel.y > 0 ? at - level.pitch : at;
    const int below = pixel.y + 1 < level.rows ? at + level.pitch : at;
    const float x = ix[at], y = iy[at];
    const float mean_u = 0.25f * (du[left] + du[right] + du[above] + du[below]);
    const float mean_v = 0.25f * (dv[left] + dv[right] + dv[above] + dv[below]);
    const float part = (x * mean_u + y * mean_v + it[at]) / (alpha + x * x + y * y);
    du_after[at] = mean_u - x * part;
    dv_after[at] = mean_v - y * part;
}

__global__ void __launch_bounds__(block_threads)
    update(const Level level, const float* __restrict__ du, const float* __restrict__ dv,
           float* __restrict__ u, float* __restrict__ v) {
    const Pixel pixel;
    if (!pixel.is_in(level)) return;
    const int at = pixel.in(level);
    u[at] += du[at];
    v[at] += dv[at];
}

/// A thread for each of the level's pixels.
template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, void (*kernel)(Level, Parameters...), const Level& level,
            const Arguments&... arguments) {
    const dim3 blocks((level.columns + block_columns - 1) / block_columns,
                      (level.rows + block_rows - 1) / block_rows);
    kernel<<<blocks, dim3(block_columns, block_rows), 0, stream>>>(level, arguments...);
    CHECK(cudaGetLastError());
}

/// Bilinear, mirrored at the edges, by the hardware.
class Texture {
public:
    Texture(float* memory, const Level& level) {
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.devPtr = memory;
        resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
        resource.res.pitch2D.width = level.columns;
        resource.res.pitch2D.height = level.rows;
        resource.res.pitch2D.pitchInBytes = level.pitch * sizeof(float);
        cudaTextureDesc how{};
        how.addressMode[0] = how.addressMode[1] = cudaAddressModeMirror;
        how.filterMode = cudaFilterModeLinear;
        how.readMode = cudaReadModeElementType;
        how.normalizedCoords = 1; // mirrors want them
        CHECK(cudaCreateTextureObject(&native_, &resource, &how, nullptr));
    }
    ~Texture() { cudaDestroyTextureObject(native_); }
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;
    operator cudaTextureObject_t() const { return native_; }

private:
    cudaTextureObject_t native_ = 0;
};

/// A level of a frame or of a component of flow.
struct Picture {
    DeviceFloats pixels;
    Texture texture;
    explicit Picture(const Level& level)
        : pixels(device_floats(level.count())), texture(pixels.get(), level) {}
};
using Pyramid = std::deque<Picture>; // pictures do not move

struct FreeGraph {
    void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, FreeGraph>;

/// What `enqueue` enqueues, to be launched again and again.
template <class F>
Graph captured(cudaStream_t stream, F&& enqueue) {
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    enqueue();
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable = nullptr;
    const cudaError_t status = cudaGraphInstantiateWithFlags(&executable, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "cudaGraphInstantiateWithFlags");
    return Graph(executable);
}

/// Frames and flows on the device: pair i is of the frames in slots i and i + 1, while frame i + 2 comes, and
/// its flow in slot i.
constexpr std::size_t slots = 3;

/// The finest level's flow.
struct Result {
    DeviceFloats u, v;
    PinnedFloats host_u, host_v;
    Event computed, copied;
    Result(const Level& level, std::size_t pixels)
        : u(device_floats(level.count())),
          v(device_floats(level.count())),
          host_u(pinned_floats(pixels)),
          host_v(pinned_floats(pixels)) {}
};

class CudaFlow final : public FlowProgram {
public:
    CudaFlow(std::string device, const FlowProblem& problem, std::size_t frames)
        : problem_(problem), device_(std::move(device)) {
        for (int columns = problem.size.width, rows = problem.size.height, i = 0; i < problem.levels; ++i) {
            levels_.emplace_back(columns, rows);
            columns = (columns + 1) / 2;
            rows = (rows + 1) / 2;
        }
        const Level& finest = levels_.front();
        for (std::size_t i = 0; i < frames; ++i) frames_.push_back(pinned_floats(problem.size.pixels()));
        for (Pyramid& pyramid : pyramids_)
            for (const Level& level : levels_) pyramid.emplace_back(level);
        for (std::size_t i = 1; i < levels_.size(); ++i) {
            coarse_u_.emplace_back(levels_[i]);
            coarse_v_.emplace_back(levels_[i]);
        }
        for (std::size_t i = 0; i < slots; ++i) results_.emplace_back(finest, problem.size.pixels());
        for (DeviceFloats* each : {&warped_, &ix_, &iy_, &it_, &du_[0], &du_[1], &dv_[0], &dv_[1]})
            *each = device_floats(finest.count());

        for (const Pyramid& pyramid : pyramids_)
            CHECK(cudaMemsetAsync(pyramid.front().pixels.get(), 0, finest.count() * sizeof(float), kernels_));
        enqueue_pyramid(0);
        enqueue_pair(0); // CUDA loads kernels at first use
        CHECK(cudaStreamSynchronize(kernels_));
        for (std::size_t slot = 0; slot < slots; ++slot) {
            pairs_[slot] = captured(kernels_, [&] { enqueue_pair(slot); });
            CHECK(cudaGraphUpload(pairs_[slot].get(), kernels_));
        }
        CHECK(cudaStreamSynchronize(kernels_));
    }

    std::span<float> frame(std::size_t number) override {
        return {frames_[number].get(), problem_.size.pixels()};
    }
    std::string device() const override { return device_; }

    void run(const Take& take) override {
        if (frames_.size() < 2) return;
        upload(0);
        CHECK(cudaStreamWaitEvent(kernels_, uploaded_[0]));
        enqueue_pyramid(0);
        const std::size_t pairs = frames_.size() - 1;
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            upload(pair + 1);
            compute(pair);
            download(pair);
            // The next pair has the slot of the one that is two before this.
            if (pair >= 2) hand_over(pair - 2, take);
        }
        for (std::size_t pair = pairs < 2 ? 0 : pairs - 2; pair < pairs; ++pair) hand_over(pair, take);
    }

private:
    void upload(std::size_t frame) {
        const std::size_t slot = frame % slots;
        // As a source this slot was read last, by the pair three before the one that begins with this frame.
        CHECK(cudaStreamWaitEvent(uploads_, results_[slot].computed));
        const std::size_t row = problem_.size.width * sizeof(float);
        CHECK(cudaMemcpy2DAsync(pyramids_[slot].front().pixels.get(), levels_.front().pitch * sizeof(float),
                                frames_[frame].get(), row, row, problem_.size.height, cudaMemcpyHostToDevice,
                                uploads_));
        CHECK(cudaEventRecord(uploaded_[slot], uploads_));
    }
    /// Where its flow goes nobody needs another one: that of three pairs before has been taken.
    void compute(std::size_t pair) {
        const std::size_t slot = pair % slots;
        CHECK(cudaStreamWaitEvent(kernels_, uploaded_[(pair + 1) % slots]));
        CHECK(cudaGraphLaunch(pairs_[slot].get(), kernels_));
        CHECK(cudaEventRecord(results_[slot].computed, kernels_));
    }
    void download(std::size_t pair) {
        const Result& result = results_[pair % slots];
        CHECK(cudaStreamWaitEvent(downloads_, result.computed));
        const std::size_t row = problem_.size.width * sizeof(float);
        for (const auto& [to, from] :
             {std::pair(result.host_u.get(), result.u.get()), std::pair(result.host_v.get(), result.v.get())})
            CHECK(cudaMemcpy2DAsync(to, row, from, levels_.front().pitch * sizeof(float), row,
                                    problem_.size.height, cudaMemcpyDeviceToHost, downloads_));
        CHECK(cudaEventRecord(result.copied, downloads_));
    }
    void hand_over(std::size_t pair, const Take& take) {
        const Result& result = results_[pair % slots];
        CHECK(cudaEventSynchronize(result.copied));
        const std::size_t pixels = problem_.size.pixels();
        take(pair, {result.host_u.get(), pixels}, {result.host_v.get(), pixels});
    }

    /// The coarser levels of the frame in that slot.
    void enqueue_pyramid(std::size_t slot) {
        const Pyramid& pyramid = pyramids_[slot];
        for (std::size_t i = 1; i < levels_.size(); ++i)
            launch(kernels_, shrink, levels_[i], pyramid[i - 1].texture, pyramid[i].pixels.get());
    }
    void enqueue_pair(std::size_t slot) {
        const std::size_t next = (slot + 1) % slots;
        enqueue_pyramid(next);
        for (std::size_t i = levels_.size(); i-- > 0;) {
            const Level& level = levels_[i];
            float* const u = i == 0 ? results_[slot].u.get() : coarse_u_[i - 1].pixels.get();
            float* const v = i == 0 ? results_[slot].v.get() : coarse_v_[i - 1].pixels.get();
            if (i + 1 == levels_.size()) {
                CHECK(cudaMemsetAsync(u, 0, level.count() * sizeof(float), kernels_));
                CHECK(cudaMemsetAsync(v, 0, level.count() * sizeof(float), kernels_));
            } else {
                const Level& coarser = levels_[i + 1];
                launch(kernels_, prolong, level, coarse_u_[i].texture, coarse_v_[i].texture,
                       static_cast<float>(level.columns) / static_cast<float>(coarser.columns),
                       static_cast<float>(level.rows) / static_cast<float>(coarser.rows), u, v);
            }
            const float* const source = pyramids_[slot][i].pixels.get();
            for (int n = 0; n < problem_.warps; ++n) {
                launch(kernels_, warp, level, pyramids_[next][i].texture, u, v, warped_.get());
                launch(kernels_, differentiate, level, source, warped_.get(), ix_.get(), iy_.get(), it_.get(),
                       du_[0].get(), dv_[0].get());
                for (int k = 0; k < problem_.iterations; ++k)
                    launch(kernels_, relax, level, du_[k % 2].get(), dv_[k % 2].get(), ix_.get(), iy_.get(),
                           it_.get(), problem_.alpha, du_[1 - k % 2].get(), dv_[1 - k % 2].get());
                const int last = problem_.iterations % 2;
                launch(kernels_, update, level, du_[last].get(), dv_[last].get(), u, v);
            }
        }
    }

    const FlowProblem problem_;
    const std::string device_;
    std::vector<Level> levels_; ///< the finest first
    std::vector<PinnedFloats> frames_;
    std::array<Pyramid, slots> pyramids_;
    Pyramid coarse_u_, coarse_v_; ///< from the second level on
    std::deque<Result> results_;
    DeviceFloats warped_, ix_, iy_, it_, du_[2], dv_[2]; ///< every level's in turn
    std::array<Event, slots> uploaded_;
    std::array<Graph, slots> pairs_;
    Stream uploads_, kernels_, downloads_;
};

} // namespace

std::unique_ptr<FlowProgram> optical_flow_cuda(const FlowProblem& problem, std::size_t frames) {
    return std::make_unique<CudaFlow>(use_device(0), problem, frames);
}

} // namespace bench
