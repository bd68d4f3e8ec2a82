// Photons on the processor, through the whole runtime: against known answers, closed forms, and an
// independent program in double precision on tissues made at random. What other devices make of it is in
// tests/end_to_end.
#include "core/seeds.hpp"
#include "photons_on_cpu.hpp"
#include "reference_photons.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace fluorescence::test {
namespace {

using headrace::test::fixed_seed;
using headrace::test::fresh_seed;

Problem slab(double n, Optical optical, double thickness) {
    Problem problem;
    problem.layers = {layer(n, optical, thickness)};
    return problem;
}

constexpr KernelChoice both_kernels[] = {KernelChoice::consumer, KernelChoice::producer};

/// Away by no more than chance allows: one comparison in some 10^6 fails.
void expect_near(const Estimate& found, double expected, double error = 0) {
    ASSERT_TRUE(found.standard_error);
    EXPECT_NEAR(found.value, expected, 5.5 * std::hypot(*found.standard_error, error) + 1e-7);
}

void expect_energy(const Totals& found, std::uint64_t photons) {
    // Exact but for the rounding of the weight that begins, and of these sums.
    EXPECT_NEAR(found.specular.value + found.reflectance.value + found.transmittance.value +
                    found.absorbed.value,
                1, 2e-9);
    const auto& light = found.fluorescence;
    EXPECT_NEAR(light.emitted.value,
                light.escaped_top.value + light.escaped_bottom.value + light.absorbed.value, 1e-12)
        << photons;
}

TEST(Photons, VanDeHulstsSlab) {
    for (const KernelChoice kernel : both_kernels) {
        const Totals found =
            simulate(slab(1, {10, 90, 0.75}, 0.02), {kernel, GridChoice::rz, 400'000, fixed_seed()}).totals;
        expect_near(found.reflectance, 0.09739);
        expect_near(found.transmittance, 0.66096);
        expect_energy(found, 400'000);
    }
}

TEST(Photons, GiovanellisHalfSpaces) {
    const Settings settings{KernelChoice::producer, GridChoice::rz, 200'000, fixed_seed()};
    const Totals mismatched = simulate(slab(1.5, {10, 90, 0}, 1e8), settings).totals;
    EXPECT_DOUBLE_EQ(mismatched.specular.value, 0.04);
    expect_near(mismatched.reflectance, 0.25992 - 0.04);
    const Totals matched = simulate(slab(1, {10, 90, 0}, 1e8), settings).totals;
    expect_near(matched.reflectance, 0.41494);
}

TEST(Photons, TheSampleOfMcmlsManual) {
    Problem problem;
    problem.layers = {layer(1.37, {1, 100, 0.9}, 0.1), layer(1.37, {1, 10, 0}, 0.1),
                      layer(1.37, {2, 10, 0.7}, 0.2)};
    const Totals found =
        simulate(problem, {KernelChoice::consumer, GridChoice::rz, 200'000, fixed_seed()}).totals;
    EXPECT_NEAR(found.specular.value, 0.024373, 1e-6);
    expect_near(found.reflectance, 0.23792, 0.00020);
    expect_near(found.absorbed, 0.64153, 0.00020);
    expect_near(found.transmittance, 0.09617, 0.00011);
}

// Without scattering the beam falls off as exp(-mua z); light from depth z leaves as half of E2(mua z').
TEST(Photons, AFluorescentAbsorberHasAClosedForm) {
    const double mua = 3, mua_out = 1.5, d = 0.4, yield = 0.6 * 2 / 3;
    Problem problem = slab(1, {mua, 0, 0}, d);
    problem.layers[0].emission = Optical{mua_out, 0, 0};
    problem.layers[0].fluorophore_mua = 2;
    problem.layers[0].quantum_yield = 0.6;
    const auto e2 = [](double x) { // integral over cosines c of exp(-x / c)
        constexpr int steps = 20'000;
        double sum = 0;
        for (int i = 0; i < steps; ++i) sum += std::exp(-x / ((i + 0.5) / steps));
        return sum / steps;
    };
    double top = 0, bottom = 0;
    constexpr int depths = 200;
    for (int i = 0; i < depths; ++i) {
        const double z = d * (i + 0.5) / depths, source = yield * mua * std::exp(-mua * z) * d / depths;
        top += source * e2(mua_out * z) / 2;
        bottom += source * e2(mua_out * (d - z)) / 2;
    }
    for (const KernelChoice kernel : both_kernels) {
        const Totals found = simulate(problem, {kernel, GridChoice::rz, 400'000, fixed_seed()}).totals;
        expect_near(found.transmittance, std::exp(-mua * d));
        expect_near(found.fluorescence.emitted, yield * (1 - std::exp(-mua * d)));
        expect_near(found.fluorescence.escaped_top, top, 2e-5 * top);
        expect_near(found.fluorescence.escaped_bottom, bottom, 2e-5 * bottom);
        expect_energy(found, 400'000);
    }
}

TEST(Photons, PacketsThatAreGivenToAnotherDeviceGoOnToTheLastBit) {
    // Few packets, which live long: soon there is nothing to give but what is under way.
    const Problem problem = slab(1, {3, 1e6, 0.9999}, 3);
    std::uint64_t given = 0;
    // On a busy machine both may happen to end together.
    for (int tries = 0; given == 0 && tries < 5; ++tries) {
        const Settings settings{KernelChoice::producer, GridChoice::rz, 50, fresh_seed()};
        const Found alone = simulate(problem, settings);
        const FoundByTwo shared = simulate_on_two(problem, settings);
        for (const headrace::DeviceReport& device : shared.report.devices) given += device.units_transferred;
        EXPECT_EQ(shared.totals.reflectance.value, alone.totals.reflectance.value);
        EXPECT_EQ(shared.totals.transmittance.value, alone.totals.transmittance.value);
        EXPECT_EQ(shared.grids.absorption[0], alone.grids.absorption[0]);
        EXPECT_EQ(shared.grids.escape[0][0], alone.grids.escape[0][0]);
        EXPECT_EQ(shared.grids.escape[0][1], alone.grids.escape[0][1]);
    }
    EXPECT_GT(given, 0u);
}

TEST(Photons, TissuesMadeAtRandomAgreeWithAnIndependentProgram) {
    const std::uint64_t seed = fixed_seed();
    std::mt19937_64 random(seed);
    const auto between = [&](double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random);
    };
    for (int round = 0; round < 6; ++round) {
        Problem problem;
        problem.n_above = between(1, 1.4);
        problem.n_below = between(1, 1.6);
        const int layers = 1 + round % 4;
        for (int i = 0; i < layers; ++i) {
            LayerSpec made = layer(between(1, 1.7), {between(0.1, 10), between(0, 60), between(-0.5, 0.95)},
                                   between(0.01, 0.2));
            made.emission = Optical{between(0.1, 5), between(0, 60), between(-0.2, 0.9)};
            made.fluorophore_mua = made.excitation.mua * between(0, 1);
            made.quantum_yield = between(0, 1);
            if (layers > 2 && i == 1)
                made.excitation = {0, 0, 0}, made.emission = {}, made.fluorophore_mua = 0;
            problem.layers.push_back(made);
        }
        SCOPED_TRACE("round " + std::to_string(round));
        const std::uint64_t photons = 40'000;
        const ReferenceTotals expected = follow(problem, photons, seed + 1 + static_cast<unsigned>(round));
        const auto [found, grids] =
            simulate(problem, {both_kernels[round % 2], GridChoice::rz, photons, seed});
        const auto compare = [&](const Estimate& estimate, const Tally& tally) {
            expect_near(estimate, expected.mean(tally), expected.error(tally));
        };
        compare(found.reflectance, expected.reflectance);
        compare(found.transmittance, expected.transmittance);
        compare(found.fluorescence.emitted, expected.emitted);
        compare(found.fluorescence.escaped_top, expected.escaped_top);
        compare(found.fluorescence.escaped_bottom, expected.escaped_bottom);
        compare(found.fluorescence.absorbed, expected.reabsorbed);
        for (std::size_t i = 0; i < expected.absorbed.size(); ++i)
            compare(found.absorbed_per_layer[i], expected.absorbed[i]);
        expect_energy(found, photons);
    }
}

// Of light from inside a slab of glass, what does not leave at once never does: it must not be followed for
// ever.
TEST(Photons, ThatGlassKeepsEndThere) {
    Problem problem = slab(1.5, {1, 0, 0}, 0.5);
    problem.layers[0].emission = Optical{0, 0, 0};
    problem.layers[0].fluorophore_mua = 1;
    problem.layers[0].quantum_yield = 1;
    for (const KernelChoice kernel : both_kernels) {
        const Totals found = simulate(problem, {kernel, GridChoice::rz, 50'000, fixed_seed()}).totals;
        const double kept = std::sqrt(1 - 1 / (1.5 * 1.5)); // the cosine of the critical angle
        expect_near(found.fluorescence.absorbed, kept * found.fluorescence.emitted.value);
        expect_near(found.fluorescence.escaped_top, found.fluorescence.escaped_bottom.value,
                    *found.fluorescence.escaped_bottom.standard_error);
        expect_energy(found, 50'000);
    }
}

// Nor does it within several clear layers, though each lets it into the next.
TEST(Photons, ThatPanesOfGlassKeepEndThere) {
    Problem problem = slab(1.5, {1, 0, 0}, 0.5);
    problem.layers[0].emission = Optical{0, 0, 0};
    problem.layers[0].fluorophore_mua = 1;
    problem.layers[0].quantum_yield = 1;
    problem.layers.push_back(layer(1.4, {0, 0, 0}, 0.1));
    problem.layers.push_back(layer(1.6, {0, 0, 0}, 0));
    for (const KernelChoice kernel : both_kernels) {
        const Totals found = simulate(problem, {kernel, GridChoice::rz, 50'000, fixed_seed()}).totals;
        const double kept = std::sqrt(1 - 1 / (1.5 * 1.5));
        expect_near(found.fluorescence.absorbed, kept * found.fluorescence.emitted.value);
        EXPECT_EQ(found.cut_off.value, 0);
        expect_energy(found, 50'000);
    }
}

// 1e-9 of its weight at each step is about one unit: rounded to the nearest it would be wrong by up to a
// half.
TEST(Photons, ThinAbsorbersGetTheirDue) {
    const auto per_mua = [](double mua) { // thin ones absorb in proportion
        const Settings settings{KernelChoice::consumer, GridChoice::rz, 200'000, fixed_seed()};
        const Estimate absorbed = simulate(slab(1, {mua, 100, 0}, 0.1), settings).totals.absorbed;
        return Estimate{absorbed.value / mua, absorbed.standard_error.value() / mua};
    };
    const Estimate usual = per_mua(1e-3);
    for (const double mua : {3e-8, 1.3e-7, 1e-4}) {
        SCOPED_TRACE(mua);
        expect_near(per_mua(mua), usual.value, *usual.standard_error);
    }
}

Problem fluorescent_tissue() {
    Problem problem;
    problem.layers = {layer(1.45, {16, 400, 0.8}, 0.01), layer(1.4, {3, 250, 0.8}, 0.1)};
    problem.layers[1].fluorophore_mua = 1;
    problem.layers[1].quantum_yield = 0.3;
    problem.grid = {0.005, 0.01, 22, 15, 7, {}, {}, {}, {}};
    return problem;
}

TEST(Photons, BothKernelsFindTheSameToTheLastBit) {
    const Problem problem = fluorescent_tissue();
    const std::uint64_t seed = fresh_seed();
    for (const GridChoice grid : {GridChoice::rz, GridChoice::xyz}) {
        const Found a = simulate(problem, {KernelChoice::consumer, grid, 5'000, seed});
        const Found b = simulate(problem, {KernelChoice::producer, grid, 5'000, seed});
        EXPECT_EQ(a.totals.reflectance.value, b.totals.reflectance.value);
        EXPECT_EQ(a.totals.reflectance.standard_error, b.totals.reflectance.standard_error);
        EXPECT_EQ(a.totals.fluorescence.escaped_top.value, b.totals.fluorescence.escaped_top.value);
        for (int wavelength = 0; wavelength < 2; ++wavelength) {
            EXPECT_EQ(a.grids.absorption[wavelength], b.grids.absorption[wavelength]);
            for (int side = 0; side < 2; ++side)
                EXPECT_EQ(a.grids.escape[wavelength][side], b.grids.escape[wavelength][side]);
        }
    }
}

TEST(Photons, GridsAddUpToTheTotals) {
    Problem problem = fluorescent_tissue();
    const Found rz = simulate(problem, {KernelChoice::consumer, GridChoice::rz, 5'000, 3});
    ASSERT_EQ(rz.grids.absorption_shape, (std::vector<std::size_t>{22, 15}));
    ASSERT_EQ(rz.grids.escape_shape, (std::vector<std::size_t>{15, 7}));
    double absorbed = 0;
    for (std::size_t i = 0; i < rz.grids.absorption[0].size(); ++i) {
        const double inner = 0.01 * static_cast<double>(i % 15), outer = inner + 0.01;
        absorbed += rz.grids.absorption[0][i] * 0.005 * std::numbers::pi * (outer * outer - inner * inner);
    }
    EXPECT_NEAR(absorbed, rz.totals.absorbed.value, 1e-9);

    problem.grid.dx = 0.02;
    problem.grid.ny = 9;
    const Found xyz = simulate(problem, {KernelChoice::consumer, GridChoice::xyz, 5'000, 3});
    ASSERT_EQ(xyz.grids.absorption_shape, (std::vector<std::size_t>{22, 9, 30}));
    const auto& cells = xyz.grids.absorption[1];
    EXPECT_NEAR(std::reduce(cells.begin(), cells.end()) * 0.005 * 0.01 * 0.02,
                xyz.totals.fluorescence.absorbed.value, 1e-9);
    const auto& top = xyz.grids.escape[0][0];
    EXPECT_NEAR(std::reduce(top.begin(), top.end()) * 0.01 * 0.02, xyz.totals.reflectance.value, 1e-9);
    EXPECT_EQ(rz.totals.reflectance.value, xyz.totals.reflectance.value); // the same packets
}

TEST(Photons, LighterFluorescentPacketsChangeNoMean) {
    const Problem problem = fluorescent_tissue();
    const std::uint64_t seed = fixed_seed();
    Settings settings{KernelChoice::consumer, GridChoice::rz, 20'000, seed, 1.0};
    const Totals heavy = simulate(problem, settings).totals;
    settings.emission_weight = 0.003;
    const Totals light = simulate(problem, settings).totals;
    expect_near(heavy.reflectance, light.reflectance.value, *light.reflectance.standard_error);
    expect_near(heavy.fluorescence.emitted, light.fluorescence.emitted.value,
                *light.fluorescence.emitted.standard_error);
    EXPECT_LT(*light.fluorescence.escaped_top.standard_error, *heavy.fluorescence.escaped_top.standard_error);
}

} // namespace
} // namespace fluorescence::test
