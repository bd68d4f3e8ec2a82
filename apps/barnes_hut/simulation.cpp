// apps/barnes_hut/simulation.cpp - see simulation.hpp.
#include "simulation.hpp"
#include <headrace/core/error.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
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

/// The potentials of bodies at the place of another that has mass become -HUGE_VAL.
void sink_bodies_that_meet(const Bodies& bodies, std::vector<double>& potentials) {
    std::vector<std::size_t> order(bodies.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto place = [&](std::size_t body) {
        const Vector& at = bodies.places[body];
        return std::tie(at.x, at.y, at.z);
    };
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        std::size_t with_mass = 0;
        for (end = begin; end < order.size() && place(order[end]) == place(order[begin]); ++end)
            with_mass += bodies.masses[order[end]] > 0 ? 1 : 0;
        for (std::size_t i = begin; i < end; ++i)
            if (with_mass > (bodies.masses[order[i]] > 0 ? 1u : 0u)) potentials[order[i]] = -HUGE_VAL;
    }
}

} // namespace

Simulation::Simulation(const headrace::Runtime& runtime, const Settings& settings, Bodies bodies, double dt,
                       Run run)
    : bodies_(std::move(bodies)), dt_(dt), run_(std::move(run)), gravity_(runtime, settings) {}

void Simulation::resume(std::uint64_t steps, Field field, bool have_met) {
    HEADRACE_ASSERT(field.accelerations.size() == size());
    steps_ = steps;
    field_ = std::move(field);
    have_met_ = have_met;
    if (!gravity_.moves_bodies()) return;
    const Stopwatch watch(times_.tree);
    gravity_.place(bodies_);
    gravity_.build_tree([this](const headrace::Job& job) { run_(job, Phase::tree); });
    gravity_.restore(field_);
    is_placed_ = true;
}

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

std::vector<double> Simulation::potentials() {
    std::vector<double> potentials = field().potentials;
    HEADRACE_ASSERT(potentials.size() == size());
    if (has_infinite_energy()) sink_bodies_that_meet(this->bodies(), potentials);
    return potentials;
}

Totals Simulation::totals() {
    const Bodies& bodies = this->bodies();
    Totals totals = totals_of(bodies, field().potentials);
    if (has_infinite_energy()) totals.potential = -HUGE_VAL;
    totals.step = steps_;
    return totals;
}

} // namespace barnes_hut
