// apps/examples/quadrature.cpp - adaptive quadrature of a function with a narrow peak, over [0, 1].
#include "example.hpp"
#include "quadrature.cl.hpp"
#include "quadrature.kernels.hpp"

#include <cmath>

using namespace headrace;

static double serial(Interval x, double tolerance) {
    const double middle = (x.a + x.b) / 2;
    const double halves = simpson(x.a, middle) + simpson(middle, x.b);
    if (std::abs(halves - simpson(x.a, x.b)) <= tolerance * (x.b - x.a)) return halves;
    return serial({x.a, middle}, tolerance) + serial({middle, x.b}, tolerance);
}

int main(int argc, char** argv) {
    return example::run(argc, argv, 1000, [](std::uint64_t size, Runtime& runtime) {
        const double tolerance = 1e-9; // of a result near 3000
        Domain<double> integral("integral", {1});
        Job job("quadrature", size);
        job.accumulates(integral).share_units();
        job.seeds(Parts{double(size)}).kernel([&](Task& t) { return Integrate{t.sum(integral), tolerance}; });
        job.opencl({"quadrature.cl", std::string(embedded::quadrature_cl), 1, sizeof(Interval), 2},
                   [&](Task& t, OpenClArguments& arguments) {
                       arguments.buffer(t.memory(integral)).value(tolerance).value(double(size));
                   });
        const JobHandle run = runtime.submit(job);
        run.wait();
        double expected = 0;
        for (std::uint64_t i = 0; i < size; ++i) expected += serial(Parts{double(size)}(i), tolerance);
        const double result = integral.gather()[0], exact = 1e3 * (std::atan(700.) + std::atan(300.));
        std::printf("integral: %.9f, exactly: %.9f\n%s", result, exact, run.report().table().c_str());
        // Lanes add in any order, so the last digits differ from run to run.
        return std::abs(result - expected) < 1e-8 && std::abs(result - exact) < 1e-8;
    });
}
