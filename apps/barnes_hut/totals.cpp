// apps/barnes_hut/totals.cpp - see totals.hpp.
#include "totals.hpp"
#include <headrace/core/error.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace barnes_hut {
namespace {

/// A sum, and what rounding took from it.
/// Source  A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54,
/// 1974
class CompensatedSum {
public:
    void add(double term) {
        const double sum = sum_ + term;
        lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
        sum_ = sum;
    }
    void add(const CompensatedSum& other) {
        add(other.sum_);
        lost_ += other.lost_;
    }
    [[nodiscard]] double value() const { return sum_ + lost_; }

private:
    double sum_ = 0, lost_ = 0;
};

struct Sums {
    CompensatedSum twice_kinetic, twice_potential;
    std::array<CompensatedSum, 3> momentum, angular_momentum;

    void add(double mass, const Vector& at, const Vector& v, double potential) {
        for (const double speed : {v.x, v.y, v.z}) twice_kinetic.add(mass * speed * speed);
        twice_potential.add(mass * potential);
        const Vector p{mass * v.x, mass * v.y, mass * v.z};
        momentum[0].add(p.x);
        momentum[1].add(p.y);
        momentum[2].add(p.z);
        angular_momentum[0].add(at.y * p.z);
        angular_momentum[0].add(-at.z * p.y);
        angular_momentum[1].add(at.z * p.x);
        angular_momentum[1].add(-at.x * p.z);
        angular_momentum[2].add(at.x * p.y);
        angular_momentum[2].add(-at.y * p.x);
    }
    void add(const Sums& other) {
        twice_kinetic.add(other.twice_kinetic);
        twice_potential.add(other.twice_potential);
        for (unsigned axis = 0; axis < 3; ++axis) {
            momentum[axis].add(other.momentum[axis]);
            angular_momentum[axis].add(other.angular_momentum[axis]);
        }
    }
};

bool is_finite(const Vector& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

} // namespace

Totals totals_of(const Bodies& bodies, std::span<const double> potentials) {
    HEADRACE_ASSERT(potentials.size() == bodies.size());
    // In blocks of a fixed size and a fixed order: the same sum on any number of cores.
    const Sums sums = tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(0, bodies.size(), 1 << 12), Sums{},
        [&](const auto& range, Sums part) {
            for (std::size_t i = range.begin(); i < range.end(); ++i)
                part.add(bodies.masses[i], bodies.places[i], bodies.velocities[i], potentials[i]);
            return part;
        },
        [](Sums a, const Sums& b) {
            a.add(b);
            return a;
        });
    const auto vector_of = [](const std::array<CompensatedSum, 3>& sum) {
        return Vector{sum[0].value(), sum[1].value(), sum[2].value()};
    };
    const Totals totals{0, sums.twice_kinetic.value() / 2, sums.twice_potential.value() / 2,
                        vector_of(sums.momentum), vector_of(sums.angular_momentum)};
    if (!std::isfinite(totals.kinetic) || !std::isfinite(totals.potential) || !is_finite(totals.momentum) ||
        !is_finite(totals.angular_momentum))
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              "energies or momenta are beyond 1e308; choose other units"};
    return totals;
}

std::optional<double> energy_drift(const std::vector<Totals>& history) {
    if (history.size() < 2 || history.front().energy() == 0) return std::nullopt;
    double largest = 0;
    for (const Totals& totals : history) {
        if (!std::isfinite(totals.energy())) return std::nullopt;
        largest = std::max(largest, std::abs(totals.energy() / history.front().energy() - 1));
    }
    return largest;
}

} // namespace barnes_hut
