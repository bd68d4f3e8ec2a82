// Sources: closed forms of what enters, where it begins and where it goes; light in layers against an
// independent program. On every device.
#include "photons_on_devices.hpp"
#include "reference_photons.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace fluorescence::test {
namespace {

using std::numbers::pi;

using Sources = PhotonsOnDevices;
INSTANTIATE_TEST_SUITE_P(On, Sources, photon_devices(), headrace::test::by_list);

Problem lit_by(const SourceSpec& source, std::vector<LayerSpec> layers) {
    Problem problem;
    problem.layers = std::move(layers);
    problem.source = source;
    return problem;
}
SourceSpec source(SourceKind kind, double radius = 0, double depth = 0, double angle = 0,
                  double aperture = 0) {
    return {kind, radius, depth, angle, aperture};
}

/// Parts of a grid's rings, of all angles, of what escapes on one side.
std::vector<double> by_ring(const Problem& problem, const std::vector<double>& escape) {
    const GridSpec& grid = problem.grid;
    std::vector<double> rings(static_cast<std::size_t>(grid.nr));
    const double step = pi / 2 / grid.na;
    for (std::size_t i = 0; i < escape.size(); ++i) {
        const auto ring = i / static_cast<std::size_t>(grid.na),
                   angle = i % static_cast<std::size_t>(grid.na);
        const double middle = (static_cast<double>(angle) + 0.5) * step;
        rings[ring] += escape[i] * 2 * pi * (static_cast<double>(ring) + 0.5) * grid.dr * grid.dr * 4 * pi *
                       std::sin(middle) * std::cos(middle) * std::sin(step / 2);
    }
    return rings;
}
/// Parts by angle, of all rings.
std::vector<double> by_angle(const Problem& problem, const std::vector<double>& escape) {
    const GridSpec& grid = problem.grid;
    std::vector<double> angles(static_cast<std::size_t>(grid.na));
    const double step = pi / 2 / grid.na;
    for (std::size_t i = 0; i < escape.size(); ++i) {
        const auto ring = i / angles.size(), angle = i % angles.size();
        const double middle = (static_cast<double>(angle) + 0.5) * step;
        angles[angle] += escape[i] * 2 * pi * (static_cast<double>(ring) + 0.5) * grid.dr * grid.dr * 4 * pi *
                         std::sin(middle) * std::cos(middle) * std::sin(step / 2);
    }
    return angles;
}

/// Of packets that each count or do not, of which a few may do against all chance.
void expect_part(double found, double part, std::uint64_t packets, double whole = 1) {
    const double error = std::sqrt(part * (1 - part) / static_cast<double>(packets));
    EXPECT_NEAR(found, whole * part, whole * (5.5 * error + 4.0 / static_cast<double>(packets)));
}

TEST_P(Sources, BeamsHaveTheirProfile) {
    constexpr std::uint64_t packets = 100'000;
    constexpr double radius = 0.075; // not the edge of a ring, at which floats may fall on either side
    for (const SourceKind kind : {SourceKind::gaussian, SourceKind::disc}) {
        Problem problem = lit_by(source(kind, radius), {layer(1, {}, 0.3)});
        problem.grid = {0.1, 0.01, 3, 12, 1, {}, {}, {}, {}};
        const Found found = find(problem, {KernelChoice::producer, GridChoice::rz, packets, seed_});
        EXPECT_NEAR(found.totals.transmittance.value, 1, 1e-9);
        const auto rings = by_ring(problem, found.grids.escape[0][1]);
        const auto within = [&](double r) {
            if (kind == SourceKind::disc) return std::min(1.0, r * r / radius / radius);
            return 1 - std::exp(-2 * r * r / radius / radius);
        };
        for (std::size_t i = 0; i + 1 < rings.size(); ++i) {
            const double inner = 0.01 * static_cast<double>(i);
            expect_part(rings[i], within(inner + 0.01) - within(inner), packets);
        }
    }
}

// Of an isotropic source, the share that comes as far as a plane is half of E2.
TEST_P(Sources, AnIsotropicOneInAnAbsorberHasAClosedForm) {
    const auto half_e2 = [](double x) {
        constexpr int steps = 20'000;
        double sum = 0;
        for (int i = 0; i < steps; ++i) sum += std::exp(-x / ((i + 0.5) / steps));
        return sum / steps / 2;
    };
    // Within the second of three layers, on the surface, and on a boundary.
    for (const double depth : {0.25, 0.0, 0.1, 0.499}) {
        SCOPED_TRACE(depth);
        const Problem problem =
            lit_by(source(SourceKind::isotropic, 0, depth),
                   {layer(1, {1, 0, 0}, 0.1), layer(1, {4, 0, 0}, 0.3), layer(1, {2, 0, 0}, 0.1)});
        const auto thickness = [](double z) { // optical, from the surface
            return std::min(z, 0.1) * 1 + std::clamp(z - 0.1, 0.0, 0.3) * 4 + std::max(0.0, z - 0.4) * 2;
        };
        const Totals found = totals(problem, 100'000);
        EXPECT_EQ(found.specular.value, 0);
        expect_near(found.reflectance, half_e2(thickness(depth)));
        expect_near(found.transmittance, half_e2(thickness(0.5) - thickness(depth)));
    }
}

// In glass, what does not come to a surface steeply enough stays.
TEST_P(Sources, AnIsotropicOneInGlassLeavesThroughItsCone) {
    const Totals found = totals(lit_by(source(SourceKind::isotropic, 0, 0.2), {layer(1.5, {}, 0.5)}), 50'000);
    expect_near(found.absorbed, std::sqrt(1 - 1 / (1.5 * 1.5)));
}

TEST_P(Sources, ObliqueOnesReflectByFresnelAndGoTheirWay) {
    constexpr std::uint64_t packets = 20'000;
    const auto fresnel = [](double n, double angle) { // of light from air, in terms of tangents and sines
        const double in = angle * pi / 180, out = std::asin(std::sin(in) / n);
        const double s = std::sin(in - out) / std::sin(in + out), p = std::tan(in - out) / std::tan(in + out);
        return (s * s + p * p) / 2;
    };
    for (const double angle : {10.0, 45.0, 54.4623222, 80.0}) {
        SCOPED_TRACE(angle);
        // Below is the same medium: what has entered leaves.
        Problem problem = lit_by(source(SourceKind::oblique, 0, 0, angle), {layer(1.4, {}, 0.3)});
        problem.n_below = 1.4;
        problem.grid = {0.1, 0.001, 3, 1000, 1, 0.01, 0.01, 100, 3};
        const Found found = find(problem, {KernelChoice::consumer, GridChoice::xyz, packets, seed_});
        EXPECT_NEAR(found.totals.specular.value, fresnel(1.4, angle), 1e-9);
        const double out = std::asin(std::sin(angle * pi / 180) / 1.4), x = 0.3 * std::tan(out);
        const auto column = static_cast<std::size_t>((x + 0.5) / 0.01);
        EXPECT_NEAR(found.grids.escape[0][1][100 + column] * 1e-4, 1 - fresnel(1.4, angle), 1e-6);
    }
    Problem water = lit_by(source(SourceKind::oblique, 0, 0, 60), {layer(1, {1, 1, 0}, 1)});
    water.n_above = 1.33;
    EXPECT_EQ(totals(water, 1000).specular.value, 1); // totally
    Problem absorber = lit_by(source(SourceKind::oblique, 0, 0, 60), {layer(1, {2, 0, 0}, 0.3)});
    expect_near(totals(absorber, 100'000).transmittance, std::exp(-2 * 0.3 / 0.5)); // twice the way
}

// The same light to each part of the cone: as many rays for each square of a sine.
TEST_P(Sources, FibresFillTheirCone) {
    constexpr std::uint64_t packets = 100'000;
    constexpr double aperture = 0.5;
    const auto check = [&](Problem problem, double n_fibre) {
        problem.grid = {0.1, 0.1, 3, 20, 60, {}, {}, {}, {}};
        const Found found = find(problem, {KernelChoice::producer, GridChoice::rz, packets, seed_});
        const double n = problem.layers[0].n;
        const auto enters =
            [&](double square) { // of the rays below a square of n times the sine, in parts of all
                constexpr int steps = 2'000;
                double sum = 0;
                for (int i = 0; i < steps; ++i) {
                    const double s = square * (i + 0.5) / steps;
                    const double in = std::asin(std::sqrt(s) / n_fibre), out = std::asin(std::sqrt(s) / n);
                    const double rs = std::sin(in - out) / std::sin(in + out),
                                 rp = std::tan(in - out) / std::tan(in + out);
                    sum += n_fibre == n ? 1 : 1 - (rs * rs + rp * rp) / 2;
                }
                return sum / steps * square / aperture / aperture;
            };
        const double all = enters(aperture * aperture);
        EXPECT_NEAR(found.totals.specular.value, 1 - all, 1e-6);
        const auto angles = by_angle(problem, found.grids.escape[0][1]);
        double sum = 0;
        for (std::size_t i = 0; i < angles.size(); ++i) {
            sum += angles[i];
            const double sine = n * std::sin(pi / 2 * static_cast<double>(i + 1) / 60);
            const double part = sine > aperture ? 1 : enters(sine * sine) / all;
            expect_part(sum, part, packets, all);
        }
    };
    Problem outside = lit_by(source(SourceKind::fibre, 0.02, 0, 0, aperture), {layer(1.4, {}, 0.2)});
    outside.n_below = 1.4;
    check(outside, 1);
    outside.n_above = 1.46; // a fibre's own glass
    check(outside, 1.46);
    Problem within = lit_by(source(SourceKind::fibre, 0.02, 0.1, 0, aperture), {layer(1.4, {}, 0.2)});
    within.n_below = 1.4;
    check(within, 1.4);
}

TEST_P(Sources, InLayersAgreeWithAnIndependentProgram) {
    constexpr std::uint64_t packets = 20'000;
    int round = 0;
    for (const SourceSpec& from :
         {source(SourceKind::pencil), source(SourceKind::gaussian, 0.05), source(SourceKind::disc, 0.08),
          source(SourceKind::isotropic, 0, 0.07), source(SourceKind::isotropic, 0, 0.02),
          source(SourceKind::oblique, 0, 0, 60), source(SourceKind::fibre, 0.03, 0, 0, 0.9),
          source(SourceKind::fibre, 0.03, 0.06, 0, 0.4)}) {
        SCOPED_TRACE(round);
        Problem problem = lit_by(from, {layer(1.4, {1, 40, 0.8}, 0.05), layer(1.33, {0.5, 20, 0.5}, 0.1)});
        problem.layers[0].excitation.phase = {
            round % 2 == 0 ? PhaseKind::modified_henyey_greenstein : PhaseKind::henyey_greenstein, 0.9, {}};
        problem.n_above = round % 3 == 0 ? 1.0 : 1.1;
        problem.grid = {0.05, 0.05, 3, 2, 1, {}, {}, {}, {}};
        const ReferenceTotals expected = follow(problem, packets, seed_);
        const Found found = find(problem, {++round % 2 != 0 ? KernelChoice::producer : KernelChoice::consumer,
                                           GridChoice::rz, packets, seed_});
        const auto one = [&](const Estimate& estimate, const Tally& tally) {
            expect_near(estimate, expected.mean(tally), expected.error(tally));
        };
        one(found.totals.reflectance, expected.reflectance);
        one(found.totals.transmittance, expected.transmittance);
        one(found.totals.absorbed_per_layer[0], expected.absorbed[0]);
        one(found.totals.absorbed_per_layer[1], expected.absorbed[1]);
        const double near = by_ring(problem, found.grids.escape[0][0])[0];
        EXPECT_NEAR(near, expected.mean(expected.reflected_near),
                    5.5 * std::numbers::sqrt2 * expected.error(expected.reflected_near));
    }
}

// Packets begin below a clear first layer, whose reflections are the beam's, wherever they begin.
TEST_P(Sources, BeamsPassAClearFirstLayerAsAPencilDoes) {
    Problem problem =
        lit_by(source(SourceKind::disc, 0.1), {layer(1.5, {}, 0.1), layer(1.33, {1, 10, 0.5}, 0.2)});
    const Totals disc = totals(problem, 20'000);
    problem.source = {};
    const Totals pencil = totals(problem, 20'000);
    EXPECT_EQ(disc.specular.value, pencil.specular.value);
    EXPECT_EQ(disc.transmittance.value, pencil.transmittance.value); // the same packets, aside
}

} // namespace
} // namespace fluorescence::test
