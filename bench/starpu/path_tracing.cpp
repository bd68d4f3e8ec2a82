// bench/starpu/path_tracing.cpp - see path_tracing.hpp. The kernels are headrace-path-tracer's own, in C++
// and OpenCL; each task has a part of the film to itself, so that nothing is to be added up between devices.
#include "path_tracing.hpp"
#include "codelets.hpp"
#include "path_tracer/path_tracer.kernels.hpp"
#include "session.hpp"
#include <headrace/core/error.hpp>

#include "atomics.cl.hpp"
#include "path_tracer.cl.hpp"
#include "prelude.cl.hpp"

#include <algorithm>

namespace bench {
namespace {

using namespace path_tracer;

constexpr std::uint32_t rows_of_band = 4;

/// StarPU's codelets take eight arrays as Debian builds it, so there are no textures here (see the
/// constructor). Indices are those of the whole picture; a task's part of the film begins with its first
/// pixel.
constexpr const char* entries = R"(
__kernel void clear(__global float* part) { part[get_global_id(0)] = 0; }

__kernel void trace(__global const BvhNode* nodes, __global const Triangle* triangles,
                    __global const TriangleDetail* details, __global const Material* materials, __global const Light* lights,
                    __global const CornerShading* corner_shading, __global const CornerColours* corner_colours, __global float* part, Frame frame, uint first, uint pixels) {
    const ulong sample = get_global_id(0) / pixels;
    const ulong index = sample * (frame.width * frame.height) + first + get_global_id(0) % pixels;
    hr_consume((HrLane*)0, index, nodes, triangles, details, materials, lights, 0, corner_shading, corner_colours, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, part - 3 * (ulong)first, frame);
}
)";

std::string source() {
    std::string source = "#define HEADRACE_CONSUMER\n#define HR_FUNCTION static inline\n";
    for (const std::string_view part :
         {headrace::embedded::prelude_cl, headrace::embedded::atomics_cl, headrace::embedded::path_tracer_cl})
        source += part;
    return source + entries;
}

class PathTracing final : public StarPuWorkload {
public:
    PathTracing(const Frame& frame, std::uint32_t samples, PreparedScene& scene, std::span<Rgb> film,
                std::uint32_t tasks)
        : frame_(frame),
          samples_(samples),
          host_tree_(scene.host_tree.nodes.empty() ? nullptr : &scene.host_tree),
          program_(source(), std::string("-cl-fp32-correctly-rounded-divide-sqrt -DSHADING=") +
                                 std::to_string(frame.shading)),
          tasks_(cut(this, (frame.height + rows_of_band - 1) / rows_of_band, tasks)),
          scene_{vectors_.add(std::span(scene.nodes)),         vectors_.add(std::span(scene.triangles)),
                 vectors_.add(std::span(scene.details)),       vectors_.add(std::span(scene.materials)),
                 vectors_.add(std::span(scene.lights)),        vectors_.add(std::span(scene.corner_shading)),
                 vectors_.add(std::span(scene.corner_colours))} {
        if (scene.shading >= SHADING_FULL)
            throw headrace::Error{headrace::ErrorKind::invalid_argument,
                                  "the comparison with StarPU has no textures, no rough surfaces and nothing "
                                  "that is not opaque; "
                                  "take another scene"};
        for (const Bands& task : tasks_) {
            const auto [problem, first, count] = pixels(&task);
            parts_.push_back(vectors_.add(film.subspan(first, count)));
        }
    }

    void run() override {
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            const starpu_data_handle_t handles[] = {scene_[0], scene_[1], scene_[2], scene_[3],
                                                    scene_[4], scene_[5], scene_[6], parts_[i]};
            submit(codelet(), handles, &tasks_[i]);
        }
        wait_for_starpu();
        for (const starpu_data_handle_t part : parts_) fetch(part);
    }

private:
    struct Pixels {
        const PathTracing& problem;
        std::uint32_t first, count;
    };
    static Pixels pixels(const void* task) {
        const auto& bands = *static_cast<const Bands*>(task);
        const auto& problem = *static_cast<const PathTracing*>(bands.problem);
        const Frame& frame = problem.frame_;
        const std::uint32_t first = bands.first * rows_of_band;
        const std::uint32_t last = std::min((bands.first + bands.count) * rows_of_band, frame.height);
        return {problem, first * frame.width, (last - first) * frame.width};
    }
    template <class T>
    static T* elements(void* buffer) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): StarPU keeps addresses as numbers
        return reinterpret_cast<T*>(STARPU_VECTOR_GET_PTR(buffer));
    }
    template <class T>
    static headrace::View<const T> view(void* buffer) {
        return {elements<const T>(buffer), {}};
    }
    static StarPuCodelet& codelet() {
        static StarPuCodelet codelet(
            "headrace_path_tracing", on_cpu, on_opencl,
            {STARPU_R, STARPU_R, STARPU_R, STARPU_R, STARPU_R, STARPU_R, STARPU_R, STARPU_W});
        return codelet;
    }
    static void on_cpu(void* buffers[], void* task) {
        const auto [problem, first, count] = pixels(task);
        auto* const part = elements<Rgb>(buffers[7]);
        std::fill_n(part, count, Rgb{0, 0, 0});
        const SceneView scene{view<BvhNode>(buffers[0]),
                              view<Triangle>(buffers[1]),
                              view<TriangleDetail>(buffers[2]),
                              view<Material>(buffers[3]),
                              view<Light>(buffers[4]),
                              {},
                              view<CornerShading>(buffers[5]),
                              view<CornerColours>(buffers[6]),
                              {},
                              {},
                              {},
                              {},
                              {},
                              {},
                              {},
                              {},
                              {},
                              problem.host_tree_};
        const headrace::Sum<Rgb> film{part - first, {}};
        if (problem.frame_.shading == SHADING_CORNERS)
            problem.run_kernel(TracePathWithCorners{scene, problem.frame_, {}, film}, first, count);
        else
            problem.run_kernel(TracePath{scene, problem.frame_, {}, film}, first, count);
    }
    void run_kernel(const auto& kernel, std::uint32_t first, std::uint32_t count) const {
        const std::uint64_t whole = std::uint64_t{frame_.width} * frame_.height;
        for (std::uint64_t sample = 0; sample < samples_; ++sample)
            for (std::uint64_t i = 0; i < count; ++i) kernel(kernel, sample * whole + first + i);
    }
    static void on_opencl(void* buffers[], void* task) {
        const auto [problem, first, count] = pixels(task);
        StarPuLaunch(problem.program_, "clear").vector(buffers[7]).run(std::uint64_t{3} * count);
        StarPuLaunch trace(problem.program_, "trace"); // behind it: the queue is in order
        for (int i = 0; i < 8; ++i) trace.vector(buffers[i]);
        trace.argument(problem.frame_).argument(cl_uint{first}).argument(cl_uint{count});
        trace.run(std::uint64_t{count} * problem.samples_);
    }

    Frame frame_;
    std::uint32_t samples_;
    const WideTree* host_tree_; ///< for CPUs, as Headrace has it
    StarPuProgram program_;
    std::vector<Bands> tasks_;
    StarPuVectors vectors_;
    std::array<starpu_data_handle_t, 7> scene_;
    std::vector<starpu_data_handle_t> parts_;
};

} // namespace

std::unique_ptr<StarPuWorkload> starpu_path_tracing(const Frame& frame, std::uint32_t samples,
                                                    PreparedScene& scene, std::span<Rgb> film,
                                                    std::uint32_t tasks) {
    return std::make_unique<PathTracing>(frame, samples, scene, film, tasks);
}

} // namespace bench
