// apps/barnes_hut/simulation.cpp - see simulation.hpp.
#include "simulation.hpp"
#include <headrace/core/error.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

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

std::vector<double> lengths_of(const std::vector<Vector>& vectors) {
    std::vector<double> lengths(vectors.size());
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, lengths.size(), 1 << 12), [&](const auto& range) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) {
            const Vector& v = vectors[i];
            lengths[i] = std::hypot(v.x, v.y, v.z); // squares may be beyond doubles
        }
    });
    return lengths;
}

} // namespace

Simulation::Simulation(const headrace::Runtime& runtime, const Settings& settings, Bodies bodies, double dt,
                       Run run)
    : bodies_(std::move(bodies)), dt_(dt), run_(std::move(run)), gravity_(runtime, settings) {}

void Simulation::compute_field(bool with_potential) {
    {
        const Stopwatch watch(times_.tree);
        if (!is_placed_) {
            strengths_ = lengths_of(field().accelerations);
            gravity_.place(bodies_, strengths_);
        }
        is_placed_ = true;
        gravity_.build_tree([this](const headrace::Job& job) { run_(job, Phase::tree); });
    }
    if (rehearse_) rehearse_([&] { return gravity_.rehearsal(with_potential); });
    const Stopwatch watch(times_.forces);
    run_(gravity_.job(with_potential), Phase::forces);
    field_is_old_ = true;
}

void Simulation::move(double kick, double drift) {
    const Stopwatch watch(times_.motion);
    if (gravity_.moves_bodies()) {
        run_(gravity_.motion(kick, drift), Phase::motion);
        bodies_are_old_ = true;
        return;
    }
    add(bodies_.velocities, field().accelerations, kick);
    add(bodies_.places, bodies_.velocities, drift);
    is_placed_ = false;
}

void Simulation::step(bool with_potential) {
    move(dt_ / 2, dt_);
    compute_field(with_potential);
    move(dt_ / 2, 0);
    ++steps_;
}

const Bodies& Simulation::bodies() {
    if (std::exchange(bodies_are_old_, false)) gravity_.collect(bodies_);
    const auto is_finite = [](const Vector& v) {
        return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
    };
    if (!std::ranges::all_of(bodies_.places, is_finite) ||
        !std::ranges::all_of(bodies_.velocities, is_finite))
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              "bodies have left the range of numbers; use a shorter --dt, or --softening"};
    return bodies_;
}

const Field& Simulation::field() {
    if (std::exchange(field_is_old_, false)) gravity_.collect(field_);
    return field_;
}

Totals Simulation::totals() {
    const Bodies& bodies = this->bodies();
    Totals totals = totals_of(bodies, field().potentials);
    if (gravity_.has_infinite_potential()) totals.potential = -HUGE_VAL;
    totals.step = steps_;
    return totals;
}

} // namespace barnes_hut
