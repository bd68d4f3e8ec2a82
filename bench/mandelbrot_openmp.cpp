// bench/mandelbrot_openmp.cpp - the zoom on the processor with OpenMP: frame after frame, its rows divided
// between the threads.
#include "mandelbrot_baseline.hpp"
#include "matrix_baseline.hpp"

#include <vector>

namespace {

template <class Real>
int steps_to_leave(Real x0, Real y0, int threshold) {
    Real x = 0, y = 0;
    int steps = 0;
    while (x * x + y * y <= 4 && steps < threshold) {
        const Real next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
        ++steps;
    }
    return steps;
}

template <class Real>
void compute(const mandelbrot::Raster<Real>& raster, int width, int height, int threshold, int* steps) {
#pragma omp parallel for schedule(dynamic)
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column)
            steps[static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(column)] =
                steps_to_leave(raster.x + raster.dx * static_cast<Real>(column),
                               raster.y + raster.dy * static_cast<Real>(row), threshold);
}

bench::MandelbrotResult zoom(bench::MandelbrotProblem& problem) {
    std::vector<int> steps(problem.pixels());
    const double seconds = bench::seconds_of([&] {
        for (std::size_t frame = 0; frame < problem.windows.size(); ++frame) {
            problem.with_raster(frame, [&](const auto& raster) {
                compute(raster, problem.width, problem.height, problem.threshold, steps.data());
            });
            problem.finish(frame, steps);
        }
    });
    return {seconds, "OpenMP"};
}

} // namespace

int main(int argc, char** argv) {
    return bench::mandelbrot_baseline(argc, argv, "The zoom with OpenMP", zoom);
}
