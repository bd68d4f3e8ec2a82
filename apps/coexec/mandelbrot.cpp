// apps/coexec/mandelbrot.cpp - a picture of the Mandelbrot set: irregular, and nothing to read.
#include "mandelbrot.kernels.hpp"
#include "problems.hpp"

#include "mandelbrot.cl.hpp"

#if defined(__clang__)
    #pragma clang fp contract(off)
#endif

namespace coexec {
namespace {

using headrace::Task;

class Mandelbrot final : public Problem {
public:
    Mandelbrot(const Settings& settings, const headrace::Runtime& runtime)
        : Problem(runtime),
          window_{-2, -1.25f, 2.5f / static_cast<float>(settings.size),
                  static_cast<std::uint32_t>(settings.size), settings.iterations},
          steps_(result<std::uint32_t>("steps", {settings.size, settings.size})) {}

    [[nodiscard]] std::string text() const override {
        const std::string side = std::to_string(window_.side);
        return "mandelbrot: " + side + " x " + side + " pixels, at most " +
               std::to_string(window_.iterations) + " steps";
    }

    [[nodiscard]] headrace::Job job() const override {
        headrace::Job job("mandelbrot", steps_.size());
        job.kernel_name("mandelbrot, " + std::to_string(window_.iterations) + " steps")
            .writes(elements(steps_))
            .kernel([steps = steps_, window = window_](Task& task) {
                return EscapeTimes{task.write(steps), window};
            })
            .opencl(opencl_kernel("mandelbrot.cl", headrace::embedded::mandelbrot_cl),
                    [steps = steps_, window = window_](Task& task, headrace::OpenClArguments& arguments) {
                        arguments.buffer(task.memory(steps)).value(window);
                    });
        return job;
    }

    /// In the same precision, because a pixel near the edge is another one in any other.
    [[nodiscard]] Verdict verify(std::uint64_t stride) const override {
        Verdict verdict;
        const auto steps = steps_.gather();
        for (std::uint64_t i = 0; i < steps.size(); i += stride)
            verdict.compare("pixel", i, steps[i], serially(i / window_.side, i % window_.side), 0);
        return verdict;
    }

private:
    [[nodiscard]] std::uint32_t serially(std::uint64_t row, std::uint64_t column) const {
        const float real = window_.left + window_.step * static_cast<float>(column);
        const float imaginary = window_.bottom + window_.step * static_cast<float>(row);
        float x = 0, y = 0, xx = 0, yy = 0;
        for (std::uint32_t step = 0; step < window_.iterations; ++step) {
            if (xx + yy > 4) return step;
            y = 2 * x * y + imaginary;
            x = xx - yy + real;
            xx = x * x;
            yy = y * y;
        }
        return window_.iterations;
    }

    Window window_;
    headrace::Domain<std::uint32_t> steps_;
};

} // namespace

std::unique_ptr<Problem> make_mandelbrot(const Settings& settings, const headrace::Runtime& runtime) {
    return std::make_unique<Mandelbrot>(settings, runtime);
}

} // namespace coexec
