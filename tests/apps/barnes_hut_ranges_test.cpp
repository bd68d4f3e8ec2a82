// Masses, distances and scales as far apart as users have them: forces are right to the documented error, or
// refused with words that name the range.
#include "barnes_hut_on_devices.hpp"
#include "core/seeds.hpp"
#include "devices/two_private_cpus.hpp"
#include "reference_gravity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace barnes_hut::test {
namespace {

using headrace::Error;
using headrace::ErrorKind;
using headrace::test::every_device;
using headrace::test::test_name;

/// Floats: products of ten rounded factors, and sums of hundreds of them. `most` is of all pulls without
/// their directions, since they may cancel each other; `median` is of the force.
constexpr double most = 4e-6, median = 5e-7;

struct ExactForce {
    long double x = 0, y = 0, z = 0, potential = 0;
    long double pulls = 0; ///< without directions
};

/// The sum over all others in 64 bits: the difference of two doubles is nearly always exact there.
ExactForce exact_force(const Bodies& bodies, std::size_t at, double softening) {
    ExactForce sum;
    const auto softened = static_cast<long double>(softening);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const auto apart = [&](double Vector::*axis) {
            return static_cast<long double>(bodies.places[i].*axis) -
                   static_cast<long double>(bodies.places[at].*axis);
        };
        const long double x = apart(&Vector::x), y = apart(&Vector::y), z = apart(&Vector::z);
        const long double distance = std::sqrt(x * x + y * y + z * z + softened * softened);
        if (i == at || distance == 0) continue;
        const long double potential = static_cast<long double>(bodies.masses[i]) / distance,
                          factor = potential / distance / distance;
        sum.x += factor * x;
        sum.y += factor * y;
        sum.z += factor * z;
        sum.potential -= potential;
        sum.pulls += potential / distance;
    }
    return sum;
}

class Ranges : public ForcesOnDevices {
protected:
    Field field(const Bodies& bodies, double softening, KernelChoice kernel) {
        Settings settings{kernel};
        settings.theta = 0;
        settings.softening = softening;
        return ForcesOnDevices::field(bodies, settings);
    }

    /// With every kernel.
    void expect_exact(const Bodies& bodies, double softening) {
        std::vector<ExactForce> exact;
        for (std::size_t i = 0; i < bodies.size(); ++i) exact.push_back(exact_force(bodies, i, softening));
        for (const KernelChoice kernel : every_kernel) {
            SCOPED_TRACE(name_of(kernel));
            const Field found = field(bodies, softening, kernel);
            std::vector<double> errors;
            for (std::size_t i = 0; i < bodies.size(); ++i) {
                const ExactForce& force = exact[i];
                const Vector& a = found.accelerations[i];
                const auto relative = [](long double x, long double y, long double z) {
                    return std::hypot(std::hypot(x, y), z);
                };
                const long double size = relative(force.x, force.y, force.z);
                const long double error =
                    relative(static_cast<long double>(a.x) - force.x, static_cast<long double>(a.y) - force.y,
                             static_cast<long double>(a.z) - force.z);
                errors.push_back(static_cast<double>(size > 0 ? error / size : error));
                EXPECT_LE(error, most * force.pulls) << i;
                EXPECT_LE(std::abs(static_cast<long double>(found.potentials[i]) - force.potential),
                          most * std::abs(force.potential))
                    << i;
            }
            std::ranges::sort(errors);
            EXPECT_LE(errors[errors.size() / 2], median);
            if (std::getenv("HEADRACE_SHOW_ERRORS") != nullptr)
                std::cout << name_of(kernel) << " p50 " << errors[errors.size() / 2] << " p99 "
                          << errors[errors.size() * 99 / 100] << " max " << errors.back() << '\n';
        }
    }
    void expect_refusal(const Bodies& bodies, double softening, const char* words) {
        for (const KernelChoice kernel : every_kernel) {
            SCOPED_TRACE(name_of(kernel));
            try {
                field(bodies, softening, kernel);
                ADD_FAILURE() << "was computed";
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
                EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
            }
        }
    }
};

INSTANTIATE_TEST_SUITE_P(Devices, Ranges, every_device(), test_name);
INSTANTIATE_TEST_SUITE_P(TwoPrivateCpus, Ranges,
                         testing::Values(headrace::test::device_list(headrace::test::two_private_cpus)),
                         [](const auto&) { return "all"; });

Bodies at(const std::vector<Vector>& places, const std::vector<double>& masses) {
    return {places, std::vector<Vector>(places.size()), masses};
}

class Draw {
public:
    explicit Draw(unsigned seed) : engine_(seed) {}
    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(engine_);
    }
    /// Evenly among magnitudes.
    double magnitude(double low, double high) { return std::pow(10, uniform(low, high)); }
    Vector direction() {
        std::normal_distribution<double> normal;
        return {normal(engine_), normal(engine_), normal(engine_)};
    }

private:
    std::mt19937 engine_;
};

Vector shifted(const Vector& place, const Vector& by, double factor) {
    return {place.x + factor * by.x, place.y + factor * by.y, place.z + factor * by.z};
}

/// Uniform in the unit cube, of mass 1.
Bodies cloud(Draw& draw, std::size_t count) {
    std::vector<Vector> places;
    while (places.size() < count)
        places.push_back({draw.uniform(0, 1), draw.uniform(0, 1), draw.uniform(0, 1)});
    return at(places, std::vector<double>(count, 1));
}

TEST_P(Ranges, PairsHoweverNearPullAsTheyShould) {
    for (const double apart : {1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12, 1e-14}) {
        SCOPED_TRACE(apart);
        Draw draw(7);
        Bodies bodies = cloud(draw, 600);
        for (std::size_t i = 0; i < 300; ++i)
            bodies.places[i] = shifted(bodies.places[300 + i], draw.direction(), apart);
        expect_exact(bodies, 0);
    }
}

TEST_P(Ranges, ScalesMayBeMixed) {
    Draw draw(8);
    Bodies bodies = cloud(draw, 600);
    for (Vector& place : bodies.places) place = shifted({}, draw.direction(), draw.magnitude(-13, 0));
    expect_exact(bodies, 0);
}

TEST_P(Ranges, MassesMayDifferByTenToTheForty) {
    for (const int magnitudes : {5, 15, 25, 39}) {
        SCOPED_TRACE(magnitudes);
        Draw draw(9);
        Bodies bodies = cloud(draw, 300);
        for (double& mass : bodies.masses) mass = draw.magnitude(-magnitudes, 0);
        bodies.masses[0] = 0;
        expect_exact(bodies, 0);
    }
    // The sun and a grain of dust: what the grain does to the sun counts as much in the energy.
    const Bodies dust = at({{0, 0, 0}, {1.5e11, 0, 0}}, {1.989e30, 1e-6});
    expect_exact(dust, 0);
    expect_exact(dust, 1e-3);
    expect_refusal(at({{0, 0, 0}, {1, 0, 0}}, {1, 1e-45}), 0, "masses from 1e-45 to 1 of all");
}

TEST_P(Ranges, UnitsMayBeAny) {
    for (const double unit : {1e-140, 1e-60, 1e60, 1e99}) {
        SCOPED_TRACE(unit);
        Draw draw(10);
        Bodies bodies = cloud(draw, 100);
        for (Vector& place : bodies.places) place = shifted({}, place, unit);
        expect_exact(bodies, 0);
        expect_exact(bodies, unit / 10);
    }
    expect_refusal(at({{1e-160, 0, 0}, {-1e-160, 0, 0}}, {1, 1}), 0, "beyond 1e-300 to 1e300");
}

TEST_P(Ranges, SofteningMayBeAny) {
    Draw draw(11);
    const Bodies bodies = cloud(draw, 100);
    for (const double softening : {1e-30, 1e-12, 1e-4, 10.0, 1e6, 1e11}) {
        SCOPED_TRACE(softening);
        expect_exact(bodies, softening);
    }
    expect_refusal(bodies, 1e14, "--softening 1e+14: is more than 1e12 times");
}

TEST_P(Ranges, DistancesThatNobodyKnowsAreNamed) {
    expect_exact(at({{5e-16, 0, 0}, {-5e-16, 0, 0}, {1, 0, 0}}, {1, 1, 1}), 0);
    for (const double half : {1e-16, 1e-25, 1e-90})
        expect_refusal(at({{half, 0, 0}, {-half, 0, 0}, {1, 0, 0}}, {1, 1, 1}), 0,
                       "bodies are nearer to each other than 4.44e-16");
    // Not known, and of no account.
    expect_exact(at({{1e-17, 0, 0}, {-1e-17, 0, 0}, {1, 0, 0}}, {1, 1, 1}), 1e-3);
    expect_exact(at({{1e-17, 0, 0}, {-1e-17, 0, 0}, {1, 0, 0}}, {0, 0, 1}), 0);
}

TEST_P(Ranges, HeavyPairsBesideLightBodiesAreRightOrNamed) {
    const Bodies heavy = at({{0, 0, 0}, {1e-3, 0, 0}, {1, 0, 0}}, {1, 1, 1e-38});
    expect_exact(heavy, 0);
    expect_refusal(at({{0, 0, 0}, {1e-9, 0, 0}, {1, 0, 0}}, {1, 1, 1e-39}), 0, "forces are beyond");
}

/// Fixed seeds; HEADRACE_FRESH_SEEDS adds so many others, as a longer test.
TEST_P(Ranges, WhateverIsDrawnIsRightOrNamed) {
    std::vector<unsigned> seeds{1, 2, 3, 4, 5, 6, 7, 8};
    for (std::uint64_t i = 0; i < headrace::test::fresh_seeds_wanted(); ++i)
        seeds.push_back(static_cast<unsigned>(headrace::test::first_seed() + i));
    int computed = 0;
    for (const unsigned seed : seeds) {
        SCOPED_TRACE("HEADRACE_SEED=" + std::to_string(seed) + " HEADRACE_FRESH_SEEDS=1");
        Draw draw(seed);
        Bodies bodies = cloud(draw, 2 + static_cast<std::size_t>(draw.uniform(0, 200)));
        const double unit = draw.magnitude(-100, 90), masses = draw.uniform(0, 40),
                     scales = draw.uniform(0, 15);
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            bodies.places[i] = shifted({}, draw.direction(), unit * draw.magnitude(-scales, 0));
            bodies.masses[i] = draw.magnitude(-masses, 0);
        }
        const double softening = draw.uniform(0, 1) < 0.5 ? 0 : unit * draw.magnitude(-10, 0);
        try {
            expect_exact(bodies, softening);
            ++computed;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument) << error.what();
        }
    }
    EXPECT_GE(2 * computed, static_cast<int>(seeds.size())); // or nothing would be tested
}

TEST_P(Ranges, NoNumberIsLostOnTheWay) {
    Settings settings;
    const auto simulation = [&](const Bodies& bodies, double dt) {
        return Simulation(
            *runtime_, settings, bodies, dt,
            [this](const headrace::Job& job, Simulation::Phase) { runtime_->submit(job).wait(); });
    };
    // At one place without softening: a potential of no size, and no number for how it drifts.
    Simulation together = simulation(at({{1, 0, 0}, {1, 0, 0}}, {1, 1}), 0.1);
    together.compute_field(true);
    EXPECT_EQ(together.totals().potential, -HUGE_VAL);
    EXPECT_EQ(energy_drift({together.totals(), together.totals()}), std::nullopt);
    // Beyond numbers after some steps.
    Bodies fast = at({{0, 0, 0}, {1, 0, 0}}, {1, 1});
    fast.velocities[0] = {1e100, 0, 0};
    Simulation leaving = simulation(fast, 1e60);
    leaving.compute_field(true);
    EXPECT_THROW(
        {
            leaving.step(true);
            static_cast<void>(leaving.bodies());
        },
        Error);
}

} // namespace
} // namespace barnes_hut::test
