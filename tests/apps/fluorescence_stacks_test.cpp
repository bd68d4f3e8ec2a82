// Photons in stacks that no tissue has, on every device: closed forms where there is one, else an independent
// program in double precision. With `--stacks N` [--seed S] [--steps M] it makes N fresh stacks instead of
// the fixed ones and prints chi squared over all.
#include "fluorescence.kernels.hpp"
#include "photons_on_devices.hpp"
#include "random_stacks.hpp"
#include "reference_photons.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace fluorescence::test {
namespace {

using Stacks = PhotonsOnDevices;

INSTANTIATE_TEST_SUITE_P(On, Stacks, photon_devices(), headrace::test::by_list);

TEST_P(Stacks, ScatteringStraightOnIsNone) {
    const double mua = 0.01, d = 0.2, r = 1 / 36.0, passes = std::exp(-mua * d);
    Problem problem;
    problem.layers = {layer(1.4, {mua, 20, 1}, d)};
    const Totals found = totals(problem, 100'000);
    const double among = 1 - r * r * passes * passes;
    expect_near(found.transmittance, (1 - r) * (1 - r) * passes / among);
    expect_near(found.reflectance, (1 - r) * (1 - r) * r * passes * passes / among);
    problem.layers = {layer(1, {1, 1000, 1}, 1)};
    const Totals matched = totals(problem, 20'000);
    EXPECT_EQ(matched.reflectance.value, 0);
    expect_near(matched.transmittance, std::exp(-1));
}

// Light that only ever turns back: two streams.
TEST_P(Stacks, ScatteringStraightBackHasAClosedForm) {
    const double mua = 2, mus = 5, d = 0.3, a = (mua + mus) / mus, b = std::sqrt(a * a - 1);
    Problem problem;
    problem.layers = {layer(1, {mua, mus, -1}, d)};
    const Totals found = totals(problem, 100'000);
    const double sinh = std::sinh(b * mus * d), cosh = std::cosh(b * mus * d);
    expect_near(found.transmittance, b / (a * sinh + b * cosh));
    expect_near(found.reflectance, sinh / (a * sinh + b * cosh));
}

TEST_P(Stacks, ThinFilmsAbsorbTheirPartAtAnyDepth) {
    for (const auto& [depth, d] : {std::pair(1.0, 1e-7), std::pair(1000.0, 1e-8), std::pair(1e-8, 1e-7)}) {
        SCOPED_TRACE(depth);
        Problem problem;
        problem.layers = {layer(1, {}, depth), layer(1, {0.1 / d, 0, 0}, d), layer(1, {}, 1)};
        const Totals found = totals(problem, 100'000);
        expect_near(found.absorbed_per_layer[1], 1 - std::exp(-0.1));
        EXPECT_EQ(found.reflectance.value, 0);
        EXPECT_EQ(found.absorbed_per_layer[0].value, 0);
        EXPECT_EQ(found.absorbed_per_layer[2].value, 0);
    }
}

TEST_P(Stacks, ClearLayersAndLayersWithoutThicknessAbsorbNothing) {
    Problem problem;
    for (const double gap : {0.1, 1e-8, 0.0, 1e3}) {
        SCOPED_TRACE(gap);
        problem.layers = {layer(1.4, {0.1, 20, 0.8}, 0.3), layer(1, {gap == 0 ? 5.0 : 0.0, 0, 0}, gap),
                          layer(1.4, {0.1, 20, 0.8}, 0.3)};
        EXPECT_EQ(totals(problem, 50'000).absorbed_per_layer[1].value, 0);
    }
    // Two boundaries without anything between them.
    problem.layers = {layer(2, {3, 7, 0.5}, 0)};
    const double r = 1 / 9.0;
    const Totals pane = totals(problem, 50'000);
    expect_near(pane.reflectance, 2 * r / (1 + r) - r);
    EXPECT_EQ(pane.absorbed.value, 0);
}

TEST_P(Stacks, WithoutAbsorptionNothingIsAbsorbed) {
    Problem problem;
    problem.layers = {layer(1.5, {0, 300, 0.9}, 0.5), layer(1.2, {0, 100, 0}, 0.2)};
    EXPECT_EQ(totals(problem, 3'000).absorbed.value, 0);
}

TEST_P(Stacks, WhatIsCutOffIsSaid) {
    Problem problem;
    problem.layers = {layer(1.4, {0, 100, 0}, 1e6)};
    Settings settings{KernelChoice::consumer, GridChoice::rz, 5'000, seed_};
    settings.most_steps = 1'000;
    const Totals found = simulate(runtime(), problem, settings).totals;
    EXPECT_GT(found.cut_off.value, 0.01);
    EXPECT_EQ(found.cut_off.value, found.absorbed.value);
}

TEST_P(Stacks, PureAbsorbersScatterNothing) {
    Problem problem;
    problem.layers = {layer(1, {1, 0, 0}, 1)};
    const Totals found = totals(problem, 200'000);
    EXPECT_EQ(found.reflectance.value, 0);
    expect_near(found.transmittance, std::exp(-1));
}

// Of an albedo so small that light is scattered once at most.
TEST_P(Stacks, StrongAbsorbersScatterTheirPart) {
    Problem problem;
    for (const double mua : {1e4, 1e6}) {
        problem.layers = {layer(1, {mua, 1, 0}, 1)};
        const Totals found = totals(problem, 400'000);
        const double expected = (1 - std::log(2)) / 2 / mua;
        EXPECT_NEAR(found.reflectance.value, expected,
                    5.5 * *found.reflectance.standard_error + 1e-3 * expected);
        EXPECT_LT(*found.reflectance.standard_error, 0.1 * expected);
    }
}

// An endless layer is as thick as it need be.
TEST_P(Stacks, EndlessLayersReflectAsThickOnes) {
    Problem problem;
    problem.layers = {layer(1, {10, 90, 0}, std::numeric_limits<double>::infinity())};
    const Totals found = totals(problem, 50'000);
    expect_near(found.reflectance, 0.41494); // Giovanelli
    EXPECT_EQ(found.transmittance.value, 0);
}

constexpr double usual_packets = 20'000;

/// What the reference finds, with as many packets as `steps` allow, at most `most`.
ReferenceTotals refer(const Problem& problem, std::uint64_t steps, std::uint64_t seed, double most) {
    constexpr std::uint64_t few = 100;
    const ReferenceTotals trial = follow(problem, few, seed ^ 1);
    const double packets = static_cast<double>(steps) * few / static_cast<double>(trial.steps + 1);
    return follow(problem, static_cast<std::uint64_t>(std::clamp(packets, 640.0, most)), seed);
}

/// Compares every figure, and sums up how far they are away.
struct Comparison {
    double chi_squared = 0;
    int figures = 0;
    std::vector<std::string> complaints; ///< of figures that are further away than their errors say

    void add(const std::string& name, const Estimate& found, double expected, double error) {
        const double by = std::hypot(found.standard_error.value_or(0), error);
        const double away = std::abs(found.value - expected);
        if (!(away <= 5 * by + rounding)) {
            std::ostringstream words;
            words << std::setprecision(15) << name << " is " << found.value << ", by the reference "
                  << expected << " +- " << by;
            complaints.push_back(words.str());
        }
        // Of a figure that a few packets decide, the error is not known, nor is it where nothing varies.
        if (by < 1e-6 || by > 0.1 * expected || by > 0.1 * (1 - expected)) return;
        chi_squared += away * away / by / by;
        ++figures;
    }
    /// Of a clear first layer, the program counts all of its reflections as specular, the reference those
    /// above.
    void add(const Problem& problem, Totals found, const ReferenceTotals& expected) {
        const double surface =
            (problem.n_above - problem.layers[0].n) / (problem.n_above + problem.layers[0].n);
        found.reflectance.value += found.specular.value - surface * surface;
        const auto one = [&](const std::string& name, const Estimate& estimate, const Tally& tally) {
            add(name, estimate, expected.mean(tally), expected.error(tally));
        };
        one("reflectance", found.reflectance, expected.reflectance);
        one("transmittance", found.transmittance, expected.transmittance);
        for (std::size_t i = 0; i < expected.absorbed.size(); ++i)
            one("layer " + std::to_string(i + 1), found.absorbed_per_layer[i], expected.absorbed[i]);
    }
};

struct Choice {
    unsigned stacks = 30;
    std::uint64_t seed = 2026, steps = 200'000;
    double thickest = 300; ///< mus d where little is absorbed; packets take its square of steps
};
Choice& choice() {
    static Choice chosen;
    return chosen;
}

TEST_P(Stacks, MadeAtRandomAgreeWithAnIndependentProgram) {
    Comparison all;
    for (unsigned i = 0; i < choice().stacks; ++i) {
        const std::uint64_t seed = choice().seed * 1'000'003 + i;
        const Problem problem = random_stack(seed, choice().thickest);
        SCOPED_TRACE(problem.name);
        const KernelChoice kernel = i % 2 == 0 ? KernelChoice::producer : KernelChoice::consumer;
        const auto compare = [&](std::uint64_t steps, double most_packets) {
            const ReferenceTotals expected = refer(problem, steps, seed, most_packets);
            Comparison one;
            one.add(problem, totals(problem, expected.packets, kernel), expected);
            return one;
        };
        Comparison one = compare(choice().steps, usual_packets);
        // The error of what befalls a packet in ten thousand is not known of so few: it takes more.
        if (!one.complaints.empty()) one = compare(100 * choice().steps, 100 * usual_packets);
        for (const std::string& complaint : one.complaints) ADD_FAILURE() << complaint;
        all.chi_squared += one.chi_squared;
        all.figures += one.figures;
    }
    std::cout << "chi squared " << all.chi_squared << " of " << all.figures << " figures\n";
    // Figures of a stack add up to 1, so they are not independent: twice the spread of those that are.
    EXPECT_NEAR(all.chi_squared, all.figures, 10 * std::sqrt(2.0 * all.figures));
}

constexpr double all_g[] = {-1, -0.99999, -0.5, 0, 1e-7, 0.5, 0.9, 0.99, 0.9999, 0.999999, 1 - 1e-9, 1};

Optics optics_for(double g) {
    Problem problem;
    problem.layers = {layer(1, {1, 1, g}, 1)};
    return make_layers(problem, {})[0].optics[0];
}

// Over the steps of a call of a kernel, behind which its length is set right.
TEST(Scattering, KeepsTheLengthOfDirections) {
    std::mt19937_64 random(headrace::test::fixed_seed());
    for (const double g : all_g) {
        SCOPED_TRACE(g);
        const Optics optics = optics_for(g);
        Packet packet{};
        packet.uz = 1;
        for (int call = 0; call < 5'000; ++call) {
            for (unsigned step = 0; step < FLUORESCENCE_STEPS_A_CALL; ++step)
                scatter(&optics, &packet, static_cast<float>(static_cast<std::uint32_t>(random())),
                        static_cast<float>(random() % 65536) / 65536.0f, true);
            ASSERT_NEAR(std::hypot(double{packet.ux}, double{packet.uy}, double{packet.uz}), 1, 1e-5);
            make_unit_length(&packet);
        }
        if (g == 1) {
            EXPECT_EQ(packet.uz, 1);
        }
    }
}

TEST(Scattering, HasTheMeanCosine) {
    for (const double g : all_g) {
        constexpr std::uint32_t words = 200'000;
        const Optics optics = optics_for(g);
        double cosines = 0;
        for (std::uint32_t i = 0; i < words; ++i) { // evenly over all of them
            Packet packet{};
            packet.uz = 1;
            scatter(&optics, &packet, static_cast<float>((i + 0.5) / words * 0x1p32), 0.3f, true);
            cosines += double{packet.uz};
        }
        EXPECT_NEAR(cosines / words, g, 2e-5);
    }
}

} // namespace
} // namespace fluorescence::test

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    auto& chosen = fluorescence::test::choice();
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
        if (option == "--stacks") {
            chosen.stacks = static_cast<unsigned>(value);
            chosen.seed = std::random_device{}();
            chosen.steps = 3'000'000;
            chosen.thickest = 1e4;
        } else if (option == "--seed") {
            chosen.seed = value;
        } else if (option == "--steps") {
            chosen.steps = value;
        } else {
            std::cerr << option << " is not known: --stacks N, then --seed S, --steps M\n";
            return 2;
        }
    }
    std::cout << "stacks " << chosen.stacks << ", seed " << chosen.seed << '\n';
    return RUN_ALL_TESTS();
}
