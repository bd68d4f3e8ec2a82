// bench/starpu/mandelbrot.cpp - see mandelbrot.hpp. The kernels are headrace-coexec's own, in C++ and OpenCL.
#include "mandelbrot.hpp"
#include "codelets.hpp"
#include "coexec/mandelbrot.kernels.hpp"
#include "mandelbrot.cl.hpp"
#include "session.hpp"

#if defined(__clang__)
    #pragma clang fp contract(off)
#endif

namespace bench {
namespace {

/// The kernel takes indices of the whole picture; a task's vector begins with its first pixel.
constexpr const char* entry = R"(
__kernel void escape_times(__global uint* part, Window window, ulong first) {
    hr_consume((HrLane*)0, first + get_global_id(0), part - first, window);
}
)";

class Mandelbrot final : public StarPuWorkload {
public:
    Mandelbrot(std::uint32_t size, std::uint32_t iterations, std::span<std::uint32_t> steps,
               std::uint32_t tasks)
        : window_{-2, -1.25f, 2.5f / static_cast<float>(size), size, iterations},
          program_("typedef int HrLane;\n" + std::string(headrace::embedded::mandelbrot_cl) + entry, ""),
          tasks_(cut(this, size, tasks)) {
        for (const Bands& task : tasks_)
            parts_.push_back(
                vectors_.add(steps.subspan(std::size_t{task.first} * size, std::size_t{task.count} * size)));
    }

    void run() override {
        for (std::size_t i = 0; i < tasks_.size(); ++i) submit(codelet(), {&parts_[i], 1}, &tasks_[i]);
        wait_for_starpu();
        for (const starpu_data_handle_t part : parts_) fetch(part);
    }

private:
    struct Pixels {
        const Mandelbrot& problem;
        std::uint64_t first, count;
    };
    static Pixels pixels(const void* task) {
        const auto& bands = *static_cast<const Bands*>(task);
        const auto& problem = *static_cast<const Mandelbrot*>(bands.problem);
        const std::uint64_t side = problem.window_.side;
        return {problem, bands.first * side, bands.count * side};
    }
    static StarPuCodelet& codelet() {
        static StarPuCodelet codelet("headrace_mandelbrot", on_cpu, on_opencl, {STARPU_W});
        return codelet;
    }
    static void on_cpu(void* buffers[], void* task) {
        const auto [problem, first, count] = pixels(task);
        auto* const part = reinterpret_cast<std::uint32_t*>(STARPU_VECTOR_GET_PTR(buffers[0]));
        const coexec::EscapeTimes kernel{{part - first, {}}, problem.window_};
        for (std::uint64_t pixel = first; pixel < first + count; ++pixel) kernel(kernel, pixel);
    }
    static void on_opencl(void* buffers[], void* task) {
        const auto [problem, first, count] = pixels(task);
        StarPuLaunch(problem.program_, "escape_times")
            .vector(buffers[0])
            .argument(problem.window_)
            .argument(cl_ulong{first})
            .run(count);
    }

    coexec::Window window_;
    StarPuProgram program_;
    std::vector<Bands> tasks_;
    StarPuVectors vectors_;
    std::vector<starpu_data_handle_t> parts_;
};

} // namespace

std::unique_ptr<StarPuWorkload> starpu_mandelbrot(std::uint32_t size, std::uint32_t iterations,
                                                  std::span<std::uint32_t> steps, std::uint32_t tasks) {
    return std::make_unique<Mandelbrot>(size, iterations, steps, tasks);
}

} // namespace bench
