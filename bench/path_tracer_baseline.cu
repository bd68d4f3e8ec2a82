// bench/path_tracer_baseline.cu - the path tracer as a plain CUDA program: one thread a path, one launch a
// picture.
//
// It shares with headrace-path-tracer what both must have in common for a fair comparison, the scene, its BVH
// and the light transport of path.hpp, and nothing else: launch, film and timing are its own, and no part of
// the library is on the way. Timed are the launches alone, by CUDA events. Segments are counted in a launch
// of its own, which is not timed.
#include "baseline_options.hpp"
#include "path_tracer/path.hpp"
#include "path_tracer/prepared_scene.hpp"
#include "path_tracer/scene.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace path_tracer;

void check(cudaError_t status, const char* call) {
    if (status != cudaSuccess)
        throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}
#define CHECK(call) check(call, #call)

constexpr unsigned threads = 128; // a block; long paths then keep few others waiting
constexpr unsigned blocks = 8;    // on a multiprocessor: see path_tracer.kernels.hpp

template <bool Count, int KernelShading>
__global__ void __launch_bounds__(threads, blocks)
    trace_paths(SceneView scene, Frame frame, Rgb* film, std::uint64_t paths, unsigned long long* segments) {
    const std::uint64_t index = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (index >= paths) return;
    PathVertex vertex = begin_path(frame, index);
    Rgb sum{0, 0, 0};
    unsigned long long followed = 0;
    for (;;) {
        const VertexResult result = trace_vertex<KernelShading>(scene, frame, vertex);
        sum = sum + result.radiance;
        ++followed;
        if (!result.goes_on) break;
        vertex = result.next;
    }
    if constexpr (Count) {
        atomicAdd(segments, followed);
    } else if (!is_black(sum)) { // samples of a pixel lie in different blocks
        atomicAdd(&film[vertex.pixel].r, sum.r);
        atomicAdd(&film[vertex.pixel].g, sum.g);
        atomicAdd(&film[vertex.pixel].b, sum.b);
    }
}

struct Free {
    void operator()(void* memory) const { cudaFree(memory); }
};
template <class T>
using Device = std::unique_ptr<T[], Free>;

template <class T>
Device<T> allocate(std::size_t count) {
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, std::max<std::size_t>(1, count) * sizeof(T)));
    return Device<T>(static_cast<T*>(memory));
}

template <class T>
headrace::View<const T> upload(const std::vector<T>& values, std::vector<Device<std::byte>>& owners) {
    owners.push_back(allocate<std::byte>(values.size() * sizeof(T)));
    CHECK(cudaMemcpy(owners.back().get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return {reinterpret_cast<const T*>(owners.back().get()), {{values.size(), 1, 1}}};
}

/// The scene in device memory.
struct DeviceScene {
    std::vector<Device<std::byte>> owners;
    SceneView view;

    explicit DeviceScene(const PreparedScene& scene)
        : view{upload(scene.nodes, owners),          upload(scene.triangles, owners),
               upload(scene.details, owners),        upload(scene.materials, owners),
               upload(scene.lights, owners),         upload(scene.punctual_lights, owners),
               upload(scene.corner_shading, owners), upload(scene.corner_colours, owners),
               upload(scene.corner_places, owners),  upload(scene.surface_textures, owners),
               upload(scene.textures, owners),       upload(scene.texture_levels, owners),
               upload(scene.texels, owners),         upload(scene.finishes, owners),
               upload(scene.albedos, owners),        upload(scene.environment, owners),
               upload(scene.instances, owners)} {}
};

Frame make_frame(const bench::BaselineOptions& options, const Scene& scene, const PreparedScene& prepared) {
    const CameraPose view = options.camera ? *options.camera : camera_of(scene, "");
    Frame frame{};
    frame.camera = make_camera(view, prepared.placement, options.width, options.height);
    frame.width = options.width;
    frame.height = options.height;
    frame.max_depth = options.max_depth;
    frame.shadow_rays = options.shadow_rays;
    use_scene(frame, prepared);
    const SampleWidth width = sample_width(view, prepared.placement, options.height, options.spp);
    frame.first_width = width.at_camera;
    frame.spread = width.spread;
    frame.sky = options.sky;
    return frame;
}

/// Seconds that the device needs for one picture.
class Stopwatch {
public:
    Stopwatch() {
        CHECK(cudaEventCreate(&begin_));
        CHECK(cudaEventCreate(&end_));
    }
    ~Stopwatch() {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    template <class Work>
    double time(Work work) {
        CHECK(cudaEventRecord(begin_));
        work();
        CHECK(cudaEventRecord(end_));
        CHECK(cudaEventSynchronize(end_));
        CHECK(cudaGetLastError());
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
        return 1e-3 * double{milliseconds};
    }

private:
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

std::string version(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

void run(const bench::BaselineOptions& options) {
    const Scene scene = load_scene(options.scene, options.albedo);
    const PreparedScene prepared = prepare_scene(scene);
    const DeviceScene on_device(prepared);
    const Frame frame = make_frame(options, scene, prepared);
    if (frame.shading == SHADING_ALL)
        throw std::runtime_error(
            "the baseline shows neither instances nor surfaces that are not opaque; take another scene");

    const std::uint64_t pixels = std::uint64_t{options.width} * options.height, paths = pixels * options.spp;
    const std::uint64_t grid = (paths + threads - 1) / threads;
    if (grid > 0x7fffffff) throw std::runtime_error("too many paths for one launch; take fewer --spp");
    const auto film = allocate<Rgb>(pixels);
    const auto counter = allocate<unsigned long long>(1);
    const auto launch = [&](auto count) {
        const auto kernel = frame.shading == SHADING_FULL      ? trace_paths<count.value, SHADING_FULL>
                            : frame.shading == SHADING_CORNERS ? trace_paths<count.value, SHADING_CORNERS>
                                                               : trace_paths<count.value, SHADING_FLAT>;
        kernel<<<static_cast<unsigned>(grid), threads>>>(on_device.view, frame, film.get(), paths,
                                                         counter.get());
    };

    CHECK(cudaMemset(counter.get(), 0, sizeof(unsigned long long)));
    launch(std::true_type{});
    unsigned long long segments = 0;
    CHECK(cudaMemcpy(&segments, counter.get(), sizeof segments, cudaMemcpyDeviceToHost));

    Stopwatch stopwatch;
    std::vector<double> seconds;
    for (std::uint32_t turn = 0; turn <= options.repeats; ++turn) { // turn 0 warms up
        CHECK(cudaMemset(film.get(), 0, pixels * sizeof(Rgb)));
        const double time = stopwatch.time([&] { launch(std::false_type{}); });
        if (turn > 0) seconds.push_back(time);
    }
    std::sort(seconds.begin(), seconds.end());

    // The picture's mean, to be compared with another renderer's: a baseline that is wrong is no baseline.
    std::vector<Rgb> picture(pixels);
    CHECK(cudaMemcpy(picture.data(), film.get(), pixels * sizeof(Rgb), cudaMemcpyDeviceToHost));
    double mean[3] = {0, 0, 0};
    for (const Rgb& pixel : picture) {
        mean[0] += double{pixel.r} / static_cast<double>(paths);
        mean[1] += double{pixel.g} / static_cast<double>(paths);
        mean[2] += double{pixel.b} / static_cast<double>(paths);
    }

    cudaDeviceProp device{};
    int driver = 0, runtime = 0;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    const double median = seconds[seconds.size() / 2];
    std::printf("{\n  \"device\": \"%s\",\n  \"driver\": \"%s\",\n  \"runtime\": \"%s\",\n", device.name,
                version(driver).c_str(), version(runtime).c_str());
    std::printf("  \"paths\": %llu,\n  \"segments\": %llu,\n  \"mean\": [%.9g, %.9g, %.9g],\n",
                static_cast<unsigned long long>(paths), segments, mean[0], mean[1], mean[2]);
    std::printf("  \"repeats\": %zu,\n  \"min_seconds\": %.9g,\n  \"median_seconds\": %.9g,\n  "
                "\"max_seconds\": %.9g,\n",
                seconds.size(), seconds.front(), median, seconds.back());
    std::printf("  \"segments_per_second\": %.9g\n}\n", static_cast<double>(segments) / median);
}

} // namespace

int main(int argc, char** argv) {
    const bench::BaselineOptions options = bench::parse_baseline_options(argc, argv);
    try {
        run(options);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "path_tracer_baseline: %s\n", error.what());
        return 1;
    }
}
