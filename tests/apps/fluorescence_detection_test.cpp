// Detectors and time gates: closed forms in clear layers, an independent program in others. On every device.
#include "photons_on_devices.hpp"
#include "reference_photons.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace fluorescence::test {
namespace {

constexpr double ps_per_cm = 33.3564095198152; // 1 / c

using Detection = PhotonsOnDevices;
INSTANTIATE_TEST_SUITE_P(On, Detection, photon_devices(), headrace::test::by_list);

/// Of packets that each count or do not, of which a few may do against all chance.
void expect_part(double found, double part, std::uint64_t packets, double whole = 1) {
    EXPECT_NEAR(found, whole * part,
                whole * (5.5 * std::sqrt(part * (1 - part) / static_cast<double>(packets)) +
                         4.0 / static_cast<double>(packets)));
}

// n d / c behind a clear slab, and twice that more for each time that light goes back and forth.
TEST_P(Detection, TheTimeThroughAClearSlabIsItsOwn) {
    constexpr std::uint64_t packets = 50'000;
    constexpr double n = 1.5, d = 0.4, step = 7, r = 1 / 25.0;
    Problem problem;
    problem.layers = {layer(n, {}, d)};
    problem.time = {step, 20};
    const Totals found = totals(problem, packets);
    ASSERT_EQ(found.gates[0].size(), 40u);
    std::vector<double> expected(40);
    for (int passes = 1; passes < 12; ++passes) { // after each of them, all but r leaves
        const double gate = passes * n * d * ps_per_cm / step;
        if (gate < 20)
            expected[static_cast<std::size_t>(gate) + (passes % 2 == 1 ? 20 : 0)] +=
                (1 - r) * std::pow(r, passes - 1) * (1 - r);
    }
    for (std::size_t gate = 0; gate < 40; ++gate) expect_part(found.gates[0][gate], expected[gate], packets);
    EXPECT_EQ(found.gates[1], std::vector<double>(40));
}

TEST_P(Detection, LaterLightIsInNoGate) {
    Problem problem;
    problem.layers = {layer(1, {}, 0.4)};
    problem.time = {1, 13};
    const Totals late = totals(problem, 1'000);
    EXPECT_EQ(late.gates[0], std::vector<double>(26));
    problem.time.gates = 14; // 13.34 ps
    EXPECT_NEAR(totals(problem, 1'000).gates[0][27], 1, 1e-9);
}

TEST_P(Detection, APointInAClearLayerIsSeenAsItsConeSays) {
    constexpr std::uint64_t packets = 100'000;
    constexpr double depth = 0.3;
    Problem problem;
    problem.layers = {layer(1.4, {}, 0.1), layer(1.4, {}, 0.9)};
    problem.n_above = problem.n_below = 1.4;
    problem.source = {SourceKind::isotropic, 0, depth, 0, 0};
    const double infinity = std::numeric_limits<double>::infinity();
    problem.detectors = {{0, 0, 0.2, infinity, false},
                         {0, 0, 0.2, 0.5, false},
                         {0, 0, 10, 0.8, false},
                         {0, 0, 0.35, infinity, true},
                         {3, 1, 0.5, 0.3, false}};
    const Totals found = totals(problem, packets, KernelChoice::consumer);
    const auto& detectors = found.detectors[0];
    ASSERT_EQ(detectors.size(), 5u);
    const auto expect_cone = [&](const Detected& detector, double cosine, double away, double in_first,
                                 double in_second) {
        const double part = (1 - cosine) / 2;
        expect_part(detector.part.value, part, packets);
        expect_part(static_cast<double>(detector.packets) / packets, part, packets);
        // The mean of 1 / cosine within the cone.
        const double longer = -std::log(cosine) / (1 - cosine), error = 6 / std::sqrt(part * packets);
        ASSERT_EQ(detector.path_per_layer.size(), 2u);
        EXPECT_NEAR(detector.path_per_layer[0], in_first * longer,
                    in_first * longer * error * (1 / cosine - 1));
        EXPECT_NEAR(detector.path_per_layer[1], in_second * longer,
                    in_second * longer * error * (1 / cosine - 1));
        EXPECT_NEAR(away, in_first + in_second, 1e-12);
        EXPECT_EQ(detector.cut, 0u);
    };
    const auto by_radius = [](double r, double away) { return away / std::hypot(r, away); };
    const auto by_aperture = [](double aperture) { return std::sqrt(1 - aperture * aperture / 1.96); };
    expect_cone(detectors[0], by_radius(0.2, depth), depth, 0.1, 0.2);
    expect_cone(detectors[1], by_aperture(0.5), depth, 0.1, 0.2);
    expect_cone(detectors[2], by_aperture(0.8), depth, 0.1, 0.2);
    expect_cone(detectors[3], by_radius(0.35, 0.7), 0.7, 0, 0.7);
    EXPECT_EQ(detectors[4].packets, 0u); // too flat for it
    EXPECT_TRUE(detectors[4].path_per_layer.empty());
}

// Light that goes up and down in a clear first layer has been there as often as it has.
TEST_P(Detection, AClearFirstLayerIsPassedMoreThanOnce) {
    constexpr std::uint64_t packets = 100'000;
    Problem problem;
    problem.layers = {layer(3, {}, 0.1), layer(1, {10, 0, 0}, 0.01)};
    problem.detectors = {{0, 0, 1, 1, true}};
    problem.time = {5, 50};
    const Totals found = totals(problem, packets);
    const double again = 1 / 16.0, passes = std::exp(-0.1); // 1/4 at either surface
    const double mean = 0.1 * (1 + 2 * again / (1 - again));
    ASSERT_EQ(found.detectors[0][0].path_per_layer.size(), 2u);
    const double spread = 0.2 * std::sqrt(again) / (1 - again);
    EXPECT_NEAR(found.detectors[0][0].path_per_layer[0], mean, 6 * spread / std::sqrt(passes * packets));
    EXPECT_NEAR(found.detectors[0][0].path_per_layer[1], 0.01, 1e-6);
    for (int ups = 0; ups < 4; ++ups) {
        const double time = (3 * 0.1 * (1 + 2 * ups) + 0.01) * ps_per_cm;
        const auto gate = static_cast<std::size_t>(time / 5);
        const double part = (1 - again) * std::pow(again, ups) * passes;
        expect_part(found.gates[0][50 + gate] / (1 - found.specular.value), part, packets);
        EXPECT_EQ(found.gates[0][100 + gate], found.gates[0][50 + gate]);
    }
}

TEST_P(Detection, InLayersAgreesWithAnIndependentProgram) {
    constexpr std::uint64_t packets = 40'000;
    Problem problem;
    problem.layers = {layer(1.4, {0.3, 60, 0.8, {}}, 0.05), layer(1.33, {}, 0.02),
                      layer(1.37, {0.5, 40, 0.5, {}}, 0.3)};
    problem.layers[0].excitation.phase = {PhaseKind::modified_henyey_greenstein, 0.9, {}};
    problem.time = {3, 12};
    int round = 0;
    for (const DetectorSpec& detector :
         {DetectorSpec{0.1, 0.05, 0.1, 0.7, false}, DetectorSpec{0, 0, 0.3, 2, false}}) {
        problem.detectors = {detector};
        problem.source = {round == 0 ? SourceKind::gaussian : SourceKind::oblique, 0.05, 0, 40, 0};
        const ReferenceTotals expected = follow(problem, packets, seed_);
        const Totals found =
            totals(problem, packets, ++round == 1 ? KernelChoice::producer : KernelChoice::consumer);
        // Both have about the same error.
        const auto one = [&](double value, const Tally& tally) {
            EXPECT_NEAR(value, expected.mean(tally), 5.5 * std::numbers::sqrt2 * expected.error(tally));
        };
        const Detected& detected = found.detectors[0][0];
        one(detected.part.value, expected.detected);
        ASSERT_EQ(detected.path_per_layer.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i)
            one(detected.path_per_layer[i] * detected.part.value, expected.paths[i]);
        double sum = 0;
        for (std::size_t gate = 0; gate < 12; ++gate) {
            one(found.gates[0][gate], expected.reflected_in_gate[gate]);
            EXPECT_LE(found.gates[0][24 + gate], found.gates[0][gate]);
            sum += found.gates[0][gate];
        }
        EXPECT_LT(sum, found.reflectance.value);
        EXPECT_GT(sum, 0.5 * found.reflectance.value);
    }
}

TEST(DetectionSums, AreTheSameOfBothKernels) {
    Problem problem;
    problem.layers = {layer(1.4, {2, 60, 0.8}, 0.1), layer(1.33, {0.7, 20, 0.3}, 0.2)};
    problem.layers[1].fluorophore_mua = 0.5;
    problem.layers[1].quantum_yield = 1;
    Settings settings{KernelChoice::consumer, GridChoice::rz, 5'000, 7};
    const Totals plain = simulate(problem, settings).totals;
    problem.detectors = {{0.1, 0, 0.2, 1, false}};
    problem.time = {10, 30};
    const Totals a = simulate(problem, settings).totals;
    settings.kernel = KernelChoice::producer;
    const Totals b = simulate(problem, settings).totals;
    EXPECT_EQ(a.reflectance.value, plain.reflectance.value); // the same packets
    for (int wavelength = 0; wavelength < 2; ++wavelength) {
        EXPECT_GT(a.detectors[wavelength][0].packets, 0u);
        EXPECT_EQ(a.detectors[wavelength][0].packets, b.detectors[wavelength][0].packets);
        EXPECT_EQ(a.detectors[wavelength][0].path_per_layer, b.detectors[wavelength][0].path_per_layer);
        EXPECT_EQ(a.gates[wavelength], b.gates[wavelength]);
    }
}

} // namespace
} // namespace fluorescence::test
