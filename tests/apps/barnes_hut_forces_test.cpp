// Forces on every device, with every kernel, against the sum over all pairs.
#include "barnes_hut_on_devices.hpp"
#include "reference_gravity.hpp"
#include "simulation.hpp"

namespace barnes_hut::test {
namespace {

using headrace::test::every_device;
using headrace::test::test_name;

class Forces : public ForcesOnDevices {
protected:
    /// Jobs for it exist for the CPU, where tests find what is wrong with them, and for CUDA.
    static bool builds_trees() { return !GetParam().starts_with("opencl") && !GetParam().starts_with("hip"); }
    Simulation simulation(const Settings& settings, Bodies bodies, double dt) {
        return {*runtime_, settings, std::move(bodies), dt,
                [this](const headrace::Job& job, Simulation::Phase) { runtime_->submit(job).wait(); }};
    }
};

INSTANTIATE_TEST_SUITE_P(Devices, Forces, every_device(), test_name);
INSTANTIATE_TEST_SUITE_P(Copies, Forces, testing::Values(headrace::test::two_private_cpus), test_name);

/// Everything about `bodies` within `tolerance` of what direct sums say, relative to the largest force.
void expect_exact(const Bodies& bodies, const Field& field, double softening, double tolerance) {
    double largest = 0, deepest = 0;
    std::vector<Reference> exact;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        exact.push_back(direct_sum(bodies, i, softening));
        largest = std::max(largest, length(exact.back().acceleration));
        deepest = std::max(deepest, -exact.back().potential);
    }
    ASSERT_EQ(field.accelerations.size(), bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        EXPECT_LE(distance(field.accelerations[i], exact[i].acceleration), tolerance * largest) << i;
        EXPECT_NEAR(field.potentials[i], exact[i].potential, tolerance * deepest) << i;
    }
}

Bodies at(const std::vector<Vector>& places, const std::vector<double>& masses) {
    return {places, std::vector<Vector>(places.size()), masses};
}

TEST_P(Forces, OfFewBodiesAreExact) {
    for (const KernelChoice kernel : every_kernel) {
        SCOPED_TRACE(name_of(kernel));
        Settings settings{kernel};
        EXPECT_EQ(length(field(at({{1, 2, 3}}, {5}), settings).accelerations.at(0)), 0);
        settings.softening = 0.1;
        EXPECT_EQ(field(at({{1, 2, 3}}, {5}), settings).potentials.at(0), 0); // none of its own
        const Bodies two = at({{-1, 0, 0}, {1, 0, 0}}, {3, 5});
        for (const double softening : {0.0, 0.5}) {
            settings.softening = softening;
            expect_exact(two, field(two, settings), softening, 1e-6);
        }
        const Bodies tracer = at({{0, 0, 0}, {0, 2, 0}, {0, 0, 4}}, {1, 0, 0});
        expect_exact(tracer, field(tracer, settings), 0.5, 1e-6);
    }
}

TEST_P(Forces, OfBodiesInOnePlaceAreNothing) {
    for (const KernelChoice kernel : every_kernel) {
        SCOPED_TRACE(name_of(kernel));
        Settings settings{kernel};
        const Bodies together = at(std::vector<Vector>(200, Vector{1, 1, 1}), std::vector<double>(200, 2));
        settings.softening = 0.1;
        expect_exact(together, field(together, settings), 0.1, 1e-5); // floats, one after the other
        settings.softening = 0;                                       // their potential has no value then
        for (const Vector& force : field(together, settings).accelerations) EXPECT_EQ(length(force), 0);
        std::vector<Vector> places(150, Vector{1, 1, 1});
        places.resize(300, Vector{-1, 0, 2});
        const Bodies apart = at(places, std::vector<double>(300, 1));
        settings.softening = 0.1;
        expect_exact(apart, field(apart, settings), 0.1, 1e-5);
    }
}

TEST_P(Forces, WithThetaZeroAreTheSumOverAllPairs) {
    const Bodies bodies = plummer_sphere(777, 1);
    for (const KernelChoice kernel : every_kernel) {
        SCOPED_TRACE(name_of(kernel));
        Settings settings{kernel};
        settings.theta = 0;
        settings.softening = 0.01;
        expect_exact(bodies, field(bodies, settings), 0.01, 1e-5); // what floats leave of it
        EXPECT_EQ(interactions_.with_nodes, 0u);
        EXPECT_EQ(interactions_.with_bodies, 777u * 777u);
    }
}

TEST_P(Forces, ScaleWithTheUnits) {
    const Bodies bodies = plummer_sphere(500, 2);
    Settings settings;
    settings.softening = 0.01;
    const Field expected = field(bodies, settings);
    for (const auto& [length_unit, mass_unit] : {std::pair(1e40, 1e50), std::pair(1e-40, 1e-60)}) {
        Bodies scaled = bodies;
        for (Vector& place : scaled.places)
            place = {place.x * length_unit, place.y * length_unit, place.z * length_unit};
        for (double& mass : scaled.masses) mass *= mass_unit;
        settings.softening = 0.01 * length_unit;
        const Field found = field(scaled, settings);
        const double per_force = length_unit * length_unit / mass_unit;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            const Vector& force = found.accelerations[i];
            // Nodes are not the same ones, since cells are powers of two.
            EXPECT_LE(distance({force.x * per_force, force.y * per_force, force.z * per_force},
                               expected.accelerations[i]),
                      5e-3 * length(expected.accelerations[i]));
        }
    }
}

/// Kernels see no G; what opens nodes by their error does not depend on it either.
TEST_P(Forces, AreInProportionToG) {
    const Bodies bodies = plummer_sphere(500, 2);
    Settings settings{KernelChoice::consumer};
    settings.softening = 0.01;
    const Field expected = field(bodies, settings);
    for (const double gravity : {0x1p-36, 4.0, 6.6743e-11, 43007.1}) {
        settings.gravity = gravity;
        const Field found = field(bodies, settings);
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            // A product of two doubles, of which one is in a unit that is a power of two.
            const Vector &a = found.accelerations[i], &b = expected.accelerations[i];
            EXPECT_DOUBLE_EQ(a.x, gravity * b.x);
            EXPECT_DOUBLE_EQ(a.y, gravity * b.y);
            EXPECT_DOUBLE_EQ(a.z, gravity * b.z);
            EXPECT_DOUBLE_EQ(found.potentials[i], gravity * expected.potentials[i]);
        }
    }
}

/// Four times G is twice the speed, to the bit: all factors are powers of two.
TEST_P(Forces, WithMoreGravityAreTheSameMotionFaster) {
    for (const TreeChoice tree : {TreeChoice::host, TreeChoice::device}) {
        if (tree == TreeChoice::device && !builds_trees()) continue;
        Settings settings{KernelChoice::consumer};
        settings.softening = 0.01;
        settings.accuracy = 1e-3;
        settings.tree = tree;
        Simulation slow = simulation(settings, plummer_sphere(700, 2), 1.0 / 128);
        settings.gravity = 4;
        Simulation fast = simulation(settings, plummer_sphere(700, 2, 4), 1.0 / 256);
        for (Simulation* each : {&slow, &fast}) {
            each->compute_field(false);
            for (int step = 0; step < 4; ++step) each->step(step == 3);
        }
        EXPECT_EQ(fast.bodies().places, slow.bodies().places);
        EXPECT_EQ(fast.totals().kinetic, 4 * slow.totals().kinetic);
        EXPECT_EQ(fast.totals().potential, 4 * slow.totals().potential);
        EXPECT_EQ(fast.totals().momentum.x, 2 * slow.totals().momentum.x);
        EXPECT_NEAR(slow.totals().energy(), -0.25, 0.03);
    }
}

TEST_P(Forces, OfAHugeRangeAreAsGoodAsOthers) {
    // Two clusters, one 10^5 times smaller, and a body far out.
    Bodies bodies = plummer_sphere(2000, 3);
    for (std::size_t i = 0; i < 1000; ++i) {
        Vector& place = bodies.places[i];
        place = {2 + 1e-5 * place.x, 1e-5 * place.y, 1e-5 * place.z};
    }
    bodies.places.back() = {1000, 0, 0};
    for (const KernelChoice kernel : every_kernel) {
        SCOPED_TRACE(name_of(kernel));
        const std::vector<double> errors =
            errors_of(bodies, field(bodies, Settings{kernel}).accelerations, 0, 1);
        EXPECT_LT(errors[errors.size() / 2], 2e-4);
        EXPECT_LT(errors.back(), 2e-2);
    }
}

TEST_P(Forces, AreTheSameWithEveryKernel) {
    const Bodies bodies = plummer_sphere(5003, 1); // no multiple of a group
    for (const bool quadrupole : {false, true}) {
        Settings settings;
        settings.softening = 1e-3;
        settings.quadrupole = quadrupole;
        settings.kernel = KernelChoice::consumer;
        const Field expected = field(bodies, settings);
        const Interactions pairs = interactions_;
        for (const std::uint32_t budget : {1u, 100u, 768u}) {
            settings.kernel = budget == 1 ? KernelChoice::producer_node : KernelChoice::producer;
            settings.budget = budget;
            const Field found = field(bodies, settings);
            EXPECT_EQ(interactions_.with_nodes, pairs.with_nodes);
            EXPECT_EQ(interactions_.with_bodies, pairs.with_bodies);
            for (std::size_t i = 0; i < bodies.size(); ++i) {
                EXPECT_LE(distance(found.accelerations[i], expected.accelerations[i]),
                          1e-5 * length(expected.accelerations[i]));
                EXPECT_NEAR(found.potentials[i], expected.potentials[i], 1e-5 * -expected.potentials[i]);
            }
        }
    }
}

/// Where the device cannot build trees, the host does. The nodes are the same; within a level they lie
/// otherwise, so sums differ by rounding.
TEST_P(Forces, AreTheSameWhereverTheTreeIsBuilt) {
    if (!builds_trees()) GTEST_SKIP() << "trees are built there by the host";
    std::vector<Bodies> inputs{plummer_sphere(1, 1), plummer_sphere(17, 1), plummer_sphere(20011, 1)};
    inputs.push_back(at(std::vector<Vector>(100, Vector{1, 1, 1}), std::vector<double>(100, 2)));
    std::vector<Vector> places; // pairs far apart: more nodes than there is room for at first
    for (int i = 0; i < 20; ++i)
        for (int j = 0; j < 300; ++j)
            places.push_back({std::ldexp(1.0, -i), std::ldexp(1.0, -j % 20), j * 1e-3});
    inputs.push_back(at(places, std::vector<double>(places.size(), 1)));
    for (const Bodies& bodies : inputs) {
        Settings settings;
        settings.softening = 1e-3;
        settings.tree = TreeChoice::host;
        const Field expected = field(bodies, settings);
        const Interactions pairs = interactions_;
        settings.tree = TreeChoice::device;
        for (int again = 0; again < 2; ++again) {
            const Field found = field(bodies, settings);
            EXPECT_EQ(interactions_.with_nodes, pairs.with_nodes);
            EXPECT_EQ(interactions_.with_bodies, pairs.with_bodies);
            for (std::size_t i = 0; i < bodies.size(); ++i)
                EXPECT_LE(distance(found.accelerations[i], expected.accelerations[i]),
                          1e-5 * length(expected.accelerations[i]));
        }
    }
}

/// Opening by the error that a node makes, where the forces of a step before are known.
TEST_P(Forces, OfAnAccuracyAreBetterForLess) {
    const Bodies bodies = plummer_sphere(20011, 1);
    for (const bool quadrupole : {false, true}) {
        Settings settings;
        settings.quadrupole = quadrupole;
        settings.softening = 1e-3;
        const std::vector<double> by_theta =
            errors_of(bodies, field(bodies, settings).accelerations, 1e-3, 41);
        const Interactions pairs = interactions_;
        settings.accuracy = quadrupole ? 1e-3 : 2e-3;
        Simulation all = simulation(settings, bodies, 0);
        all.compute_field(false);
        EXPECT_EQ(all.interactions().with_nodes, pairs.with_nodes); // nothing is known yet
        all.step(false);
        const std::vector<double> errors = errors_of(bodies, all.field().accelerations, 1e-3, 41);
        EXPECT_LT(errors[errors.size() / 2], by_theta[errors.size() / 2]);
        EXPECT_LT(errors[errors.size() * 99 / 100], 0.8 * by_theta[errors.size() * 99 / 100]);
        EXPECT_LT(all.interactions().with_nodes + all.interactions().with_bodies,
                  2 * (pairs.with_nodes + pairs.with_bodies));
    }
}

TEST_P(Forces, OfAnAccuracyAreTheSameWithEveryKernel) {
    const Bodies bodies = plummer_sphere(3001, 1);
    Settings settings;
    settings.accuracy = 1e-3;
    std::optional<Interactions> first;
    for (const KernelChoice kernel : every_kernel) {
        SCOPED_TRACE(name_of(kernel));
        settings.kernel = kernel;
        Simulation all = simulation(settings, bodies, 0);
        all.compute_field(false);
        all.step(false);
        if (!first) first = all.interactions();
        // Strengths differ by rounding, so a node on the edge may be opened here and not there.
        EXPECT_NEAR(static_cast<double>(all.interactions().with_nodes),
                    static_cast<double>(first->with_nodes), 1e-3 * static_cast<double>(first->with_nodes));
    }
}

/// Bodies are moved where the tree is built.
TEST_P(Forces, MoveBodiesAlikeOnHostAndDevice) {
    if (!builds_trees()) GTEST_SKIP() << "bodies are moved by the host";
    const Bodies bodies = plummer_sphere(1003, 1);
    for (const double accuracy : {0.0, 1e-3}) {
        Settings settings;
        settings.softening = 0.05;
        settings.accuracy = accuracy;
        settings.tree = TreeChoice::host;
        Simulation expected = simulation(settings, bodies, 1.0 / 64);
        settings.tree = TreeChoice::device;
        Simulation found = simulation(settings, bodies, 1.0 / 64);
        for (Simulation* each : {&expected, &found}) {
            each->compute_field(false);
            for (int step = 0; step < 10; ++step) each->step(step == 9);
        }
        EXPECT_NEAR(found.totals().energy(), expected.totals().energy(), 1e-6);
        EXPECT_EQ(found.interactions().with_bodies, expected.interactions().with_bodies);
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            EXPECT_GT(distance(found.bodies().places[i], bodies.places[i]), 0);
            EXPECT_LE(distance(found.bodies().places[i], expected.bodies().places[i]), 1e-6);
            EXPECT_LE(distance(found.bodies().velocities[i], expected.bodies().velocities[i]), 1e-5);
            EXPECT_LE(distance(found.field().accelerations[i], expected.field().accelerations[i]),
                      1e-4 * length(expected.field().accelerations[i]));
        }
    }
}

/// From what a snapshot has, whoever has the bodies. Where kernels of one kind do the same sums each time,
/// that is to the bit.
TEST_P(Forces, GoOnAsIfTheyHadNotStopped) {
    for (const TreeChoice tree : {TreeChoice::host, TreeChoice::device}) {
        if (tree == TreeChoice::device && !builds_trees()) continue;
        for (const double accuracy : {0.0, 1e-3}) {
            Settings settings{KernelChoice::consumer};
            settings.softening = 0.01;
            settings.accuracy = accuracy;
            settings.gravity = 6.6743e-11;
            settings.tree = tree;
            const Bodies bodies = plummer_sphere(3001, 1, settings.gravity);
            const double dt = 1e3;
            Simulation expected = simulation(settings, bodies, dt);
            expected.compute_field(true);
            for (int step = 0; step < 3; ++step) expected.step(step == 2);
            Simulation found = simulation(settings, expected.bodies(), dt);
            found.resume(3, expected.field(), false);
            EXPECT_EQ(found.totals().energy(), expected.totals().energy());
            for (Simulation* each : {&expected, &found})
                for (int step = 0; step < 3; ++step) each->step(step == 2);
            EXPECT_EQ(found.steps(), 6u);
            EXPECT_EQ(found.bodies().places, expected.bodies().places);
            EXPECT_EQ(found.bodies().velocities, expected.bodies().velocities);
            EXPECT_EQ(found.field().accelerations, expected.field().accelerations);
            EXPECT_EQ(found.field().potentials, expected.field().potentials);
            EXPECT_NE(found.bodies().places, bodies.places);
        }
    }
}

TEST_P(Forces, DoNotChangeUnderASyntheticLoad) {
    const Bodies bodies = plummer_sphere(300, 1);
    for (const KernelChoice kernel : every_kernel) {
        Settings settings{kernel};
        const Field expected = field(bodies, settings);
        settings.load = 1000;
        const Field found = field(bodies, settings);
        for (std::size_t i = 0; i < bodies.size(); ++i)
            EXPECT_LE(distance(found.accelerations[i], expected.accelerations[i]),
                      1e-5 * length(expected.accelerations[i]));
    }
}

/// CPU alone: figures of many bodies.
class ManyBodies : public testing::Test {
protected:
    headrace::Runtime runtime_{headrace::RuntimeOptions{.devices = "cpu"}};

    Simulation simulation(const Settings& settings, Bodies bodies, double dt) {
        return {runtime_, settings, std::move(bodies), dt,
                [this](const headrace::Job& job, Simulation::Phase) { runtime_.submit(job).wait(); }};
    }
};

/// Known figures at theta 0.5, softening 1e-3, of a criterion that opens less.
TEST_F(ManyBodies, ForcesAreAtLeastAsGoodAsThoseOfTheUsualCriterion) {
    const Bodies bodies = plummer_sphere(131072, 1);
    Settings settings;
    settings.softening = 1e-3;
    for (const auto& [quadrupole, median, worst] :
         {std::tuple(false, 9.2e-4, 5.0e-3), std::tuple(true, 3.1e-4, 1.35e-3)}) {
        settings.quadrupole = quadrupole;
        Simulation all = simulation(settings, bodies, 0);
        all.compute_field(false);
        const std::vector<double> errors = errors_of(bodies, all.field().accelerations, 1e-3, 131);
        EXPECT_LT(errors[errors.size() / 2], median);
        EXPECT_LT(errors[errors.size() * 99 / 100], worst);
    }
}

TEST_F(ManyBodies, ErrorsFallWithTheta) {
    const Bodies bodies = plummer_sphere(20000, 1);
    for (const auto& [quadrupole, power] : {std::pair(false, 2.0), std::pair(true, 2.8)}) {
        double errors[2];
        for (const bool is_half : {false, true}) {
            Settings settings;
            settings.softening = 1e-3;
            settings.quadrupole = quadrupole;
            settings.theta = is_half ? 0.4 : 0.8;
            Simulation all = simulation(settings, bodies, 0);
            all.compute_field(false);
            const auto found = errors_of(bodies, all.field().accelerations, 1e-3, 41);
            errors[is_half] = found[found.size() / 2];
        }
        EXPECT_GT(std::log2(errors[0] / errors[1]), power);
    }
}

TEST_F(ManyBodies, MomentumIsAlmostKept) {
    Simulation all = simulation({.softening = 0.01}, plummer_sphere(10000, 1), 1.0 / 256);
    all.compute_field(false);
    Vector force;
    double sum = 0;
    for (std::size_t i = 0; i < all.bodies().size(); ++i) {
        const Vector& a = all.field().accelerations[i];
        const double m = all.bodies().masses[i];
        force = {force.x + m * a.x, force.y + m * a.y, force.z + m * a.z};
        sum += m * length(a);
    }
    // Nodes pull at bodies which do not pull back at them: errors of 1e-4 each, of random directions.
    EXPECT_LT(length(force), 5e-5 * sum);
}

/// Over half a time unit, as is known of the method.
TEST_F(ManyBodies, EnergyDriftsLittle) {
    for (const auto& [quadrupole, most] : {std::pair(false, 5e-4), std::pair(true, 5e-5)}) {
        Settings settings;
        settings.softening = 0.01;
        settings.quadrupole = quadrupole;
        Simulation all = simulation(settings, plummer_sphere(4000, 1), 1.0 / 256);
        all.compute_field(true);
        std::vector<Totals> history{all.totals()};
        for (int step = 1; step <= 128; ++step) {
            all.step(step % 16 == 0);
            if (step % 16 == 0) history.push_back(all.totals());
        }
        ASSERT_TRUE(energy_drift(history).has_value());
        EXPECT_LT(*energy_drift(history), most);
        EXPECT_EQ(history.back().step, 128u);
    }
}

TEST_F(ManyBodies, TwoBodiesComeBackAfterATurn) {
    // A circle of radius 1/2: speed^2 = 1/2 each for masses 1 at distance 1, period pi sqrt(2).
    Bodies bodies = at({{-0.5, 0, 0}, {0.5, 0, 0}}, {1, 1});
    const double speed = std::sqrt(0.5);
    bodies.velocities = {{0, -speed, 0}, {0, speed, 0}};
    constexpr int steps = 800;
    Simulation all = simulation({}, bodies, 3.14159265358979 * std::sqrt(2) / steps);
    all.compute_field(true);
    const double before = all.totals().energy();
    for (int step = 0; step < steps; ++step) all.step(step == steps - 1);
    EXPECT_LT(distance(all.bodies().places[0], bodies.places[0]), 1e-3);
    EXPECT_NEAR(all.totals().energy(), before, 1e-5 * std::abs(before));
    EXPECT_NEAR(before, -0.5, 1e-6);
}

TEST(EnergyDrift, IsTheLargest) {
    EXPECT_FALSE(energy_drift({}).has_value());
    EXPECT_FALSE(energy_drift({{0, 1, 0}}).has_value());
    EXPECT_FALSE(energy_drift({{0, 1, -1}, {1, 1, 0}}).has_value());
    EXPECT_NEAR(*energy_drift({{0, 1, -2}, {1, 1, -2.5}, {2, 1, -1.9}}), 0.5, 1e-12);
}

} // namespace
} // namespace barnes_hut::test
