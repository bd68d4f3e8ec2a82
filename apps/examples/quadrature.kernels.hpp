// apps/examples/quadrature.kernels.hpp - an interval is a work unit: its integral, or its two halves.
#pragma once
#include <headrace/kernel.hpp>

struct Interval {
    double a, b;
};

/// Has a narrow peak at 0.3: an even grid as fine as it needs would be far too fine elsewhere.
HEADRACE_KERNEL inline double peak(double x) { return 1 / ((x - 0.3) * (x - 0.3) + 1e-6); }

/// Simpson's rule.
HEADRACE_KERNEL inline double simpson(double a, double b) {
    return (b - a) / 6 * (peak(a) + 4 * peak((a + b) / 2) + peak(b));
}

/// Adds the integrals of intervals on which two halves say nearly the same as the whole. Halves all others.
struct Integrate {
    using Units = headrace::Kinds<headrace::Kind<Interval, 2>>;
    headrace::Sum<double> integral;
    double tolerance; ///< for an interval of length 1

    HEADRACE_KERNEL void operator()(auto& lane, Interval x) const {
        const double middle = (x.a + x.b) / 2;
        const double whole = simpson(x.a, x.b), halves = simpson(x.a, middle) + simpson(middle, x.b);
        const double error = halves - whole, allowed = tolerance * (x.b - x.a);
        if (error <= allowed && -error <= allowed) {
            integral.add(0, halves);
        } else {
            lane.spawn(Interval{x.a, middle});
            lane.spawn(Interval{middle, x.b});
        }
    }
};

/// Equal parts of [0, 1].
struct Parts {
    double count;
    HEADRACE_KERNEL Interval operator()(std::uint64_t i) const {
        return {static_cast<double>(i) / count, static_cast<double>(i + 1) / count};
    }
};
