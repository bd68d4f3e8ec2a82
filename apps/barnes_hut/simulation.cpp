// apps/barnes_hut/simulation.cpp - see simulation.hpp.
#include "simulation.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace barnes_hut {
namespace {

/// Adds the time until its end to `seconds`.
class Stopwatch {
public:
    explicit Stopwatch(double& seconds) : seconds_(seconds) {}
    ~Stopwatch() {
        seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }
    Stopwatch(const Stopwatch&) = delete; // counts once
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    double& seconds_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void add(std::vector<Vector>& to, const std::vector<Vector>& from, double factor) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, to.size(), 1 << 12), [&](const auto& range) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) {
            to[i].x += factor * from[i].x;
            to[i].y += factor * from[i].y;
            to[i].z += factor * from[i].z;
        }
    });
}

} // namespace

Simulation::Simulation(const headrace::Runtime& runtime, const Settings& settings, Bodies bodies, double dt,
                       Run run)
    : bodies_(std::move(bodies)), dt_(dt), run_(std::move(run)), gravity_(runtime, settings) {}

void Simulation::compute_field(bool with_potential) {
    {
        const Stopwatch watch(times_.tree);
        gravity_.build_tree(bodies_, [this](const headrace::Job& job) { run_(job, Phase::tree); });
    }
    const Stopwatch watch(times_.forces);
    run_(gravity_.job(with_potential), Phase::forces);
    gravity_.collect(field_);
    const Interactions done = gravity_.interactions();
    interactions_.with_nodes += done.with_nodes;
    interactions_.with_bodies += done.with_bodies;
}

void Simulation::kick(double time) { add(bodies_.velocities, field_.accelerations, time); }
void Simulation::drift(double time) { add(bodies_.places, bodies_.velocities, time); }

void Simulation::step(bool with_potential) {
    {
        const Stopwatch watch(times_.motion);
        kick(dt_ / 2);
        drift(dt_);
    }
    compute_field(with_potential);
    const Stopwatch watch(times_.motion);
    kick(dt_ / 2);
    ++steps_;
}

Energy Simulation::energy() const {
    HEADRACE_ASSERT(field_.potentials.size() == bodies_.size());
    using Pair = std::pair<double, double>;
    // In blocks of a fixed size and a fixed order: the same sum on any number of cores.
    const Pair twice = tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(0, bodies_.size(), 1 << 12), Pair{},
        [&](const auto& range, Pair sum) {
            for (std::size_t i = range.begin(); i < range.end(); ++i) {
                const Vector& v = bodies_.velocities[i];
                sum.first += bodies_.masses[i] * (v.x * v.x + v.y * v.y + v.z * v.z);
                sum.second += bodies_.masses[i] * field_.potentials[i];
            }
            return sum;
        },
        [](const Pair& a, const Pair& b) {
            return Pair{a.first + b.first, a.second + b.second};
        });
    return {steps_, twice.first / 2, twice.second / 2};
}

std::optional<double> energy_drift(const std::vector<Energy>& energies) {
    if (energies.size() < 2 || energies.front().total() == 0) return std::nullopt;
    double largest = 0;
    for (const Energy& energy : energies)
        largest = std::max(largest, std::abs(energy.total() / energies.front().total() - 1));
    return largest;
}

} // namespace barnes_hut
