// bench/mandelbrot_openmp.cpp - the zoom on the processor with OpenMP: frame after frame, its rows divided
// between the threads.
#include "mandelbrot_baseline.hpp"
#include "matrix_baseline.hpp"

#include <vector>

namespace {

int steps_to_leave(float x0, float y0, int threshold) {
    float x = 0, y = 0;
    int steps = 0;
    while (x * x + y * y <= 4 && steps < threshold) {
        const float next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
        ++steps;
    }
    return steps;
}

bench::MandelbrotResult zoom(bench::MandelbrotProblem& problem) {
    std::vector<int> steps(problem.pixels());
    const int width = problem.width;
    const double seconds = bench::seconds_of([&] {
        for (std::size_t frame = 0; frame < problem.windows.size(); ++frame) {
            const auto raster = problem.raster(frame);
#pragma omp parallel for schedule(dynamic)
            for (int row = 0; row < problem.height; ++row)
                for (int column = 0; column < width; ++column)
                    steps[static_cast<std::size_t>(row) * width + column] =
                        steps_to_leave(raster.x + raster.dx * static_cast<float>(column),
                                       raster.y + raster.dy * static_cast<float>(row), problem.threshold);
            problem.finish(frame, steps);
        }
    });
    return {seconds, "OpenMP"};
}

} // namespace

int main(int argc, char** argv) {
    return bench::mandelbrot_baseline(argc, argv, "The zoom with OpenMP", zoom);
}
