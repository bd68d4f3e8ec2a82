// Phase functions: moments of what is drawn against closed forms, light in layers against an independent
// program on every device, and the tables that say them.
#include "photons_on_devices.hpp"
#include "reference_photons.hpp"
#include "scattering.h"
#include <headrace/core/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace fluorescence::test {
namespace {

using headrace::Error;
using ::testing::HasSubstr;

Phase phase_of(PhaseKind kind, double part = 1, std::vector<PhaseRow> table = {}) {
    return {kind, part, std::move(table)};
}

/// A density that its cosine gives, by rows of equal distance.
std::vector<PhaseRow> table_of(const auto& density, int pieces) {
    std::vector<PhaseRow> rows;
    for (int i = 0; i <= pieces; ++i) {
        const double cosine = -1 + 2.0 * i / pieces;
        rows.push_back({cosine, density(cosine)});
    }
    return rows;
}

/// Means of the cosine and its square, of what is drawn by words evenly over all of them.
std::array<double, 2> moments_of(const Optical& optical) {
    Problem problem;
    problem.layers = {layer(1, optical, 1)};
    const Optics optics = make_layers(problem, {})[0].optics[0];
    const std::vector<PhaseNode> nodes = make_phases(problem);
    constexpr std::uint32_t words = 200'000;
    std::array<double, 2> moments{};
    for (std::uint32_t i = 0; i < words; ++i) {
        Packet packet{};
        packet.uz = 1;
        const auto word = static_cast<std::uint32_t>((i + 0.5) / words * 0x1p32);
        scatter_by_phase(nodes, &optics, &packet, word, 0.3f, true);
        const double cosine = packet.uz;
        EXPECT_NEAR(std::hypot(double{packet.ux}, double{packet.uy}, cosine), 1, 1e-5);
        moments[0] += cosine / words;
        moments[1] += cosine * cosine / words;
    }
    return moments;
}

void expect_moments(const Phase& phase, double g, double first, double second) {
    const auto moments = moments_of({1, 1, g, phase});
    EXPECT_NEAR(moments[0], first, 2e-5);
    EXPECT_NEAR(moments[1], second, 2e-5);
}

TEST(PhaseFunctions, HaveTheirMoments) {
    for (const double g : {-0.7, 0.0, 0.5, 0.95}) {
        SCOPED_TRACE(g);
        const double second = (1 + 2 * g * g) / 3; // of Henyey and Greenstein's
        expect_moments({}, g, g, second);
        for (const double part : {0.0, 0.3, 0.9, 1.0})
            expect_moments(phase_of(PhaseKind::modified_henyey_greenstein, part), g, part * g,
                           part * second + (1 - part) * 3 / 5);
    }
    expect_moments(phase_of(PhaseKind::rayleigh), 0, 0, 2 / 5.0);
}

TEST(PhaseFunctions, OfTablesHaveTheirMoments) {
    const auto tabulated = [](std::vector<PhaseRow> rows) {
        return phase_of(PhaseKind::tabulated, 1, std::move(rows));
    };
    expect_moments(tabulated({{-1, 3}, {1, 3}}), 0, 0, 1 / 3.0);
    expect_moments(tabulated({{-1, 0}, {1, 7}}), 0, 1 / 3.0, 1 / 3.0); // (1 + cosine) / 2
    expect_moments(tabulated({{-1, 0}, {0, 0}, {0.5, 1}, {1, 0}}), 0, 0.5, 0.25 + 1 / 24.0); // a triangle
    expect_moments(tabulated({{-1, 2}, {-0.5, 0}, {0.5, 0}, {1, 2}}), 0, 0, 17 / 24.0);
    expect_moments(tabulated(table_of([](double cosine) { return 1 + cosine * cosine; }, 2'000)), 0, 0,
                   2 / 5.0);
    for (const double unit : {1e-300, 1e-320, 1e300}) { // p may have any
        SCOPED_TRACE(unit);
        expect_moments(tabulated({{-1, unit}, {1, 2 * unit}}), 0, 1 / 9.0, 1 / 3.0);
    }
    expect_moments(tabulated({{-1, 0}, {0, 0}, {1e-30, 1}, {2e-30, 0}, {1, 0}}), 0, 0, 0); // to the side
    // A peak far narrower than a float can tell from straight on.
    const double width = 1e-9;
    const auto peak = moments_of({1, 1, 0, tabulated({{-1, 0}, {1 - width, 0}, {1, 1}})});
    EXPECT_NEAR(peak[0], 1, 1e-9);
}

TEST(PhaseFunctions, RayleighsIsTheOneOfItsTable) {
    const Problem problem = [] {
        Problem made;
        made.layers = {layer(1, {1, 1, 0, phase_of(PhaseKind::rayleigh)}, 1)};
        made.layers.push_back(layer(
            1,
            {1, 1, 0, phase_of(PhaseKind::tabulated, 1, table_of([](double c) { return 1 + c * c; }, 4'000))},
            1));
        return made;
    }();
    const auto layers = make_layers(problem, {});
    const auto nodes = make_phases(problem);
    for (std::uint32_t i = 0; i < 1000; ++i) {
        Packet packets[2]{};
        for (int which = 0; which < 2; ++which) {
            packets[which].uz = 1;
            // The table begins straight on, the formula straight back.
            const std::uint32_t word = 4'294'967 * i;
            scatter_by_phase(nodes, &layers[which].optics[0], &packets[which], which == 0 ? ~word : word, 0,
                             true);
        }
        EXPECT_NEAR(packets[0].uz, packets[1].uz, 1e-5) << i;
    }
}

using Phases = PhotonsOnDevices;
INSTANTIATE_TEST_SUITE_P(On, Phases, photon_devices(), headrace::test::by_list);

TEST_P(Phases, InLayersAgreeWithAnIndependentProgram) {
    const auto peaked = table_of([](double c) { return std::exp(6 * c) + 3 * (c + 1) * (c < -0.5); }, 100);
    const Phase modified = phase_of(PhaseKind::modified_henyey_greenstein, 0.8),
                rayleigh = phase_of(PhaseKind::rayleigh),
                tabulated = phase_of(PhaseKind::tabulated, 1, peaked);
    const auto stack = [&](double n, const Phase& a, const Phase& b) {
        Problem problem;
        problem.layers = {layer(n, {0.5, 60, 0.9, a}, 0.05), layer(1.4, {2, 30, 0, b}, 0.1)};
        problem.layers[1].fluorophore_mua = 1;
        problem.layers[1].quantum_yield = 0.5;
        problem.layers[1].emission = Optical{0.5, 20, 0.7, a};
        return problem;
    };
    int round = 0;
    for (const Problem& problem : {stack(1, rayleigh, rayleigh), stack(1.4, modified, tabulated),
                                   stack(1.3, tabulated, modified), stack(1.4, {}, tabulated)}) {
        SCOPED_TRACE(round);
        constexpr std::uint64_t packets = 10'000;
        const ReferenceTotals expected = follow(problem, packets, seed_);
        const Totals found =
            totals(problem, packets, ++round % 2 != 0 ? KernelChoice::producer : KernelChoice::consumer);
        const auto one = [&](const Estimate& estimate, const Tally& tally) {
            expect_near(estimate, expected.mean(tally), expected.error(tally));
        };
        one(found.reflectance, expected.reflectance);
        one(found.transmittance, expected.transmittance);
        one(found.absorbed_per_layer[0], expected.absorbed[0]);
        one(found.absorbed_per_layer[1], expected.absorbed[1]);
        one(found.fluorescence.escaped_top, expected.escaped_top);
        one(found.fluorescence.escaped_bottom, expected.escaped_bottom);
    }
}

// Where light is scattered once at most: into the upper half, by the phase function itself.
TEST_P(Phases, StrongAbsorbersShowThem) {
    constexpr double mua = 1e3;
    Problem problem;
    problem.layers = {layer(1, {mua, 1, 0, phase_of(PhaseKind::tabulated, 1, {{-1, 1}, {0, 0}, {1, 0}})}, 1)};
    // Scattered back with density 2 c at cosine c, light leaves with a chance of c / (1 + c), from any depth.
    double expected = 0;
    constexpr int steps = 100'000;
    for (int i = 0; i < steps; ++i) {
        const double c = (i + 0.5) / steps;
        expected += 2 * c * c / (1 + c) / steps;
    }
    const Totals found = totals(problem, 400'000);
    expect_near(found.reflectance, expected / (mua + 1), 2e-3 * expected / mua);
}

TEST(PhaseTables, AreReadAsPeopleWriteThem) {
    const auto rows = [](const std::string& text) {
        std::string all;
        for (const PhaseRow& row : parse_phase_csv(text, "p.csv"))
            all += std::to_string(row.cosine).substr(0, 5) + ":" + std::to_string(row.density).substr(0, 3) +
                   " ";
        return all;
    };
    const std::string expected = "-1.00:1.0 0.500:2.0 1.000:3.0 ";
    EXPECT_EQ(rows("cos_theta, p\n-1, 1\n0.5, 2\n1, 3\n"), expected);
    EXPECT_EQ(rows("\xef\xbb\xbf\"cos_theta\";\"p\"\r\n# of Mie\r\n\r\n-1;1\r\n.5;2.0e0\r\n+1;3"), expected);
    EXPECT_EQ(rows("p,cos_theta\n3,1\n2,0.5 # here\n1,-1\n"), expected);
    EXPECT_EQ(rows("-1 1\n0.5\t2\n1.0000001 3"), expected);
    EXPECT_EQ(rows("-0.5,1\n0.5,2\n"), "-1.00:1.0 -0.50:1.0 0.500:2.0 1.000:2.0 "); // middles of bins
}

TEST(PhaseTables, SayWhichLineIsWrong) {
    const auto refuses = [](const std::string& text, std::initializer_list<const char*> words) {
        SCOPED_TRACE(text);
        try {
            static_cast<void>(parse_phase_csv(text, "p.csv"));
            ADD_FAILURE() << "was taken";
        } catch (const Error& error) {
            EXPECT_TRUE(error.is_users_mistake());
            EXPECT_THAT(error.message(), HasSubstr("p.csv: "));
            for (const char* word : words) EXPECT_THAT(error.message(), HasSubstr(word));
        }
    };
    refuses("", {"fewer than two rows"});
    refuses("cos_theta,p\n-1,1\n", {"fewer than two rows"});
    refuses("theta,p\n0,1\n", {"line 1", "cos_theta and p"});
    refuses("-1,1\n0,x\n", {"line 2", "'x' is no number"});
    refuses("-1,1\n0,1,2\n", {"line 2", "3 fields"});
    refuses("-1,1\n2,1\n", {"line 2", "from -1 to 1"});
    refuses("-1,1\nnan,1\n", {"line 2", "from -1 to 1"});
    refuses("-1,-1\n1,1\n", {"line 1", "p must be"});
    refuses("-1,inf\n1,1\n", {"line 1", "p must be"});
    refuses("-1,1\n0,1\n0,2\n1,1\n", {"line 3", "rise"});
    refuses("-1,1\n0.5,1\n0,2\n1,1\n", {"line 3", "rise"});
    refuses("-1,0\n0,0\n1e-310,1\n1,0\n", {"line 3", "rise"});
    refuses("-1,0\n1,0\n", {"only p = 0"});
    refuses("-1,1\n0,1\n0.4,1\n", {"do not reach"});
}

} // namespace
} // namespace fluorescence::test
