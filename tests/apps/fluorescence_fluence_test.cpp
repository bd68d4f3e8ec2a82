// Fluence by the ways of packets: closed forms where nothing absorbs or nothing scatters, and what is
// absorbed where something does. On every device.
#include "photons_on_devices.hpp"
#include "reference_photons.hpp"
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace fluorescence::test {
namespace {

using std::numbers::pi;

class Fluence : public PhotonsOnDevices {
protected:
    Grids grids(const Problem& problem, std::uint64_t packets, GridChoice grid = GridChoice::rz,
                KernelChoice kernel = KernelChoice::producer) {
        Settings settings{kernel, grid, packets, seed_ + ++runs_};
        settings.fluence = true;
        return find(problem, settings).grids;
    }

private:
    std::uint64_t runs_ = 0;
};
INSTANTIATE_TEST_SUITE_P(On, Fluence, photon_devices(), headrace::test::by_list);

double area_of(const GridSpec& grid, std::size_t ring) {
    return 2 * pi * (static_cast<double>(ring) + 0.5) * grid.dr * grid.dr;
}

TEST_P(Fluence, OfABeamInAClearLayerIsItsIrradiance) {
    Problem problem;
    problem.layers = {layer(1, {}, 0.5)};
    problem.grid = {0.03, 0.01, 20, 4, 1, 0.02, 0.01, 5, 3};
    const Grids rz = grids(problem, 5'000), xyz = grids(problem, 5'000, GridChoice::xyz);
    ASSERT_EQ(rz.fluence[0].size(), 80u);
    ASSERT_EQ(xyz.fluence[0].size(), 300u);
    for (std::size_t z = 0; z < 20; ++z) { // the slab ends within the 17th
        const double expected = z < 16 ? 1 : z == 16 ? (0.5 - 0.48) / 0.03 : 0;
        for (std::size_t ring = 0; ring < 4; ++ring)
            EXPECT_NEAR(rz.fluence[0][z * 4 + ring] * area_of(problem.grid, ring), ring == 0 ? expected : 0,
                        1e-5);
        for (std::size_t place = 0; place < 15; ++place)
            EXPECT_NEAR(xyz.fluence[0][z * 15 + place] * 2e-4, place == 7 ? expected : 0, 1e-5);
    }
    EXPECT_EQ(std::accumulate(rz.fluence[1].begin(), rz.fluence[1].end(), 0.0), 0);
}

// A ray that leaves the axis: in each cell, as long as it is there.
TEST_P(Fluence, OfAnObliqueBeamIsTheLengthInEachCell) {
    Problem problem;
    problem.layers = {layer(1, {}, 0.5)};
    problem.source = {SourceKind::oblique, 0, 0, 35, 0};
    problem.grid = {0.03, 0.021, 20, 30, 1, 0.017, 0.01, 61, 3};
    const Grids rz = grids(problem, 2'000), xyz = grids(problem, 2'000, GridChoice::xyz);
    const double tangent = std::tan(35 * pi / 180), cosine = std::cos(35 * pi / 180);
    const auto length = [&](std::size_t z, double first, double last) { // between two x
        const double from = std::max(0.03 * static_cast<double>(z), first / tangent),
                     to = std::min({0.03 * static_cast<double>(z + 1), last / tangent, 0.5});
        return std::max(0.0, to - from) / cosine;
    };
    for (std::size_t z = 0; z < 20; ++z) {
        for (std::size_t ring = 0; ring < 30; ++ring) {
            const double inner = 0.021 * static_cast<double>(ring);
            EXPECT_NEAR(rz.fluence[0][z * 30 + ring] * area_of(problem.grid, ring) * 0.03,
                        length(z, inner, inner + 0.021), 3e-6)
                << z << ", " << ring;
        }
        for (std::size_t column = 0; column < 61; ++column) {
            const double left = 0.017 * (static_cast<double>(column) - 30.5);
            EXPECT_NEAR(xyz.fluence[0][(z * 3 + 1) * 61 + column] * 0.017 * 0.01 * 0.03,
                        length(z, std::max(left, 0.0), left + 0.017), 3e-6)
                << z << ", " << column;
        }
    }
}

// From a point: 1 / (4 pi distance^2), whichever way rays pass cells.
TEST_P(Fluence, OfAPointInAClearLayerFallsAsItsSphereGrows) {
    constexpr std::uint64_t packets = 100'000;
    Problem problem;
    problem.layers = {layer(1, {}, 2)};
    problem.source = {SourceKind::isotropic, 0, 1, 0, 0};
    problem.grid = {0.1, 0.1, 20, 8, 1, 0.1, 0.1, 16, 16};
    const Grids rz = grids(problem, packets), xyz = grids(problem, packets, GridChoice::xyz);
    constexpr int fine = 8;
    const auto part = [](std::size_t cell, int i) {
        return 0.1 * (static_cast<double>(cell) + (i + 0.5) / fine);
    };
    const auto expect = [&](double found, double expected, double volume) {
        const double ways = packets * expected * volume / 0.1; // as many as there are cells of its width
        EXPECT_NEAR(found, expected, expected * (6 / std::sqrt(ways) + 0.01));
    };
    for (const std::size_t z : {3, 8, 12, 19})
        for (const std::size_t ring : {3, 5, 7}) {
            double sum = 0, weights = 0;
            for (int i = 0; i < fine; ++i)
                for (int j = 0; j < fine; ++j) {
                    const double r = part(ring, j), down = part(z, i) - 1;
                    sum += r / (4 * pi * (r * r + down * down));
                    weights += r;
                }
            expect(rz.fluence[0][z * 8 + ring], sum / weights, area_of(problem.grid, ring) * 0.1);
        }
    for (const std::size_t z : {2, 10, 17})
        for (const auto& [y, x] : {std::pair<std::size_t, std::size_t>{1, 3}, {12, 4}, {11, 15}}) {
            double sum = 0;
            for (int i = 0; i < fine; ++i)
                for (int j = 0; j < fine; ++j)
                    for (int k = 0; k < fine; ++k) {
                        const double a = part(x, i) - 0.8, b = part(y, j) - 0.8, c = part(z, k) - 1;
                        sum += 1 / (4 * pi * (a * a + b * b + c * c)) / fine / fine / fine;
                    }
            expect(xyz.fluence[0][(z * 16 + y) * 16 + x], sum, 1e-3);
        }
}

TEST_P(Fluence, OfABeamInAnAbsorberFallsAsBeerSays) {
    constexpr std::uint64_t packets = 100'000;
    constexpr double mua = 4;
    Problem problem;
    problem.layers = {layer(1, {mua, 0, 0}, 0.6)};
    problem.grid = {0.05, 0.01, 12, 3, 1, {}, {}, {}, {}};
    const Grids found = grids(problem, packets);
    for (std::size_t z = 0; z < 12; ++z) {
        const double top = 0.05 * static_cast<double>(z), begins = std::exp(-mua * top);
        const double expected = begins * (1 - std::exp(-mua * 0.05)) / mua / 0.05;
        EXPECT_NEAR(found.fluence[0][z * 3] * area_of(problem.grid, 0), expected,
                    5.5 * std::sqrt(begins / packets));
    }
}

// The beam's own reflections in a clear first layer are among the specular ones, but light is there.
TEST_P(Fluence, OfClearLayersHasWhatGoesUpAndDown) {
    Problem problem;
    problem.layers = {layer(1.5, {}, 0.1), layer(3, {50, 0, 0}, 0.2), layer(3, {}, 0.1)};
    problem.n_below = 3;
    problem.grid = {0.05, 0.01, 8, 2, 1, {}, {}, {}, {}};
    for (const SourceKind kind : {SourceKind::pencil, SourceKind::disc}) {
        if (kind == SourceKind::disc) problem.source = {kind, 0.005, 0, 0, 0};
        const Grids found = grids(problem, 200'000, GridChoice::rz, KernelChoice::consumer);
        const double above = 1 / 25.0, below = 1 / 9.0, down = (1 - above) / (1 - above * below);
        const double area = area_of(problem.grid, 0);
        for (const std::size_t z : {0, 1})
            EXPECT_NEAR(found.fluence[0][z * 2] * area, down * (1 + below), 1e-5);
        const double passes = down * (1 - below) * std::exp(-50 * 0.2);
        for (const std::size_t z : {6, 7})
            EXPECT_NEAR(found.fluence[0][z * 2] * area, passes, 5.5 * std::sqrt(passes / 200'000));
    }
}

// A grid by depth alone: one ring, far larger than the tissue.
TEST_P(Fluence, ByDepthAloneIsThatOfAnyRing) {
    Problem problem;
    problem.layers = {layer(1.4, {2, 60, 0.8}, 0.1), layer(1.33, {0.7, 20, 0.3}, 0.2)};
    for (const GridChoice choice : {GridChoice::rz, GridChoice::xyz})
        for (const double size : {1e4, 1e12, 1e30}) {
            SCOPED_TRACE(size);
            problem.grid = {0.05, size, 6, 1, 1, {}, {}, 1, 1};
            const Grids found = grids(problem, 20'000, choice);
            for (std::size_t z = 0; z < 6; ++z) {
                const double absorbed = found.absorption[0][z];
                ASSERT_GT(absorbed, 0);
                EXPECT_NEAR(found.fluence[0][z] * (z < 2 ? 2 : 0.7) / absorbed, 1, 0.03) << z;
            }
        }
}

// In a clear space without end, ways are as long as cells, and through thin ones they would be nothing.
TEST(FluenceSums, AreRefusedWhereThinCellsWouldGetNothing) {
    Problem problem;
    problem.layers = {layer(1, {2, 60, 0.8}, 0.1), layer(1, {}, std::numeric_limits<double>::infinity())};
    Settings settings;
    settings.fluence = true;
    for (const double size : {0.05, 1e4, 1e12}) {
        problem.grid = {0.05, size, 6, 1, 1, {}, {}, {}, {}};
        if (size < 1e10) {
            EXPECT_GT(make_general(problem, settings).fluence_scale, 0);
            continue;
        }
        try {
            static_cast<void>(make_general(problem, settings));
            ADD_FAILURE() << size << " was taken";
        } catch (const headrace::Error& error) {
            EXPECT_TRUE(error.is_users_mistake());
            EXPECT_NE(error.message().find("too thin"), std::string::npos) << error.message();
        }
        settings.fluence = false;
        EXPECT_NO_THROW(static_cast<void>(make_general(problem, settings)));
    }
}

// By cells in which both are known to some percent.
TEST_P(Fluence, TimesMuaIsWhatIsAbsorbed) {
    Problem problem;
    problem.layers = {layer(1.4, {2, 60, 0.8}, 0.1), layer(1.33, {0.7, 20, 0.3}, 0.2)};
    problem.layers[1].fluorophore_mua = 0.5;
    problem.layers[1].quantum_yield = 1;
    problem.layers[1].emission = Optical{3, 30, 0.5, {}};
    problem.layers[0].emission = Optical{1, 30, 0.5, {}};
    problem.grid = {0.05, 0.05, 6, 6, 1, 0.1, 0.1, 6, 6};
    const double mua[2][2] = {{2, 0.7}, {1, 3}};
    constexpr std::size_t runs = 12;
    for (const GridChoice choice : {GridChoice::rz, GridChoice::xyz})
        for (const SourceSpec& source : {SourceSpec{SourceKind::fibre, 0.06, 0, 0, 0.8},
                                         SourceSpec{SourceKind::isotropic, 0, 0.12, 0, 0}}) {
            problem.source = source;
            std::vector<std::array<double, 72>> of_fluence(runs), of_absorption(runs);
            for (std::size_t run = 0; run < runs; ++run) {
                const Grids found = grids(problem, 1'500, choice);
                const std::size_t around = found.absorption[0].size() / 6, columns = 6;
                for (std::size_t i = 0; i < 2 * found.absorption[0].size(); ++i) {
                    const std::size_t wavelength = i / found.absorption[0].size(),
                                      cell = i % found.absorption[0].size();
                    const std::size_t z = cell / around, column = cell % columns,
                                      row = cell % around / columns;
                    // Beyond the grid, only what is absorbed counts.
                    if (column == 5 || (around > columns && (column == 0 || row == 0 || row == 5))) continue;
                    const std::size_t which = (wavelength * 6 + z) * 6 + column;
                    of_fluence[run][which] +=
                        found.fluence[wavelength][cell] * mua[wavelength][z < 2 ? 0 : 1];
                    of_absorption[run][which] += found.absorption[wavelength][cell];
                }
            }
            // Of few runs the spread is little known: cells are held to 8 standard errors.
            const auto furthest = [&](double factor) {
                double most = 0;
                for (std::size_t i = 0; i < 72; ++i) {
                    double sum = 0, squares = 0;
                    for (std::size_t run = 0; run < runs; ++run) {
                        const double away = factor * of_fluence[run][i] - of_absorption[run][i];
                        sum += away;
                        squares += away * away;
                    }
                    const double spread = std::sqrt(runs * (squares - sum * sum / runs) / (runs - 1));
                    if (sum != 0) most = std::max(most, std::abs(sum) / (spread + 1e-9));
                }
                return most;
            };
            EXPECT_LT(furthest(1), 8);
            for (const double wrong : {0.95, 1.05}) EXPECT_GT(furthest(wrong), 8); // cells would show it
            double all = 0, all_absorbed = 0;
            for (std::size_t run = 0; run < runs; ++run) {
                all += std::accumulate(of_fluence[run].begin(), of_fluence[run].end(), 0.0);
                all_absorbed += std::accumulate(of_absorption[run].begin(), of_absorption[run].end(), 0.0);
            }
            EXPECT_NEAR(all / all_absorbed, 1, 0.03);
        }
}

TEST(FluenceSums, AreTheSameOfBothKernels) {
    Problem problem;
    problem.layers = {layer(1.4, {2, 60, 0.8}, 0.1), layer(1.2, {}, 0.1), layer(1.33, {0.7, 20, 0.3}, 0.2)};
    problem.grid = {0.05, 0.05, 8, 6, 3, {}, {}, {}, {}};
    for (const GridChoice grid : {GridChoice::rz, GridChoice::xyz}) {
        Settings settings{KernelChoice::consumer, grid, 3'000, 7};
        const Found plain = simulate(problem, settings);
        settings.fluence = true;
        const Found a = simulate(problem, settings);
        settings.kernel = KernelChoice::producer;
        const Found b = simulate(problem, settings);
        EXPECT_EQ(a.grids.fluence[0], b.grids.fluence[0]);
        EXPECT_EQ(a.totals.reflectance.value, plain.totals.reflectance.value); // the same packets
        EXPECT_EQ(a.grids.absorption[0], plain.grids.absorption[0]);
        EXPECT_TRUE(plain.grids.fluence[0].empty());
    }
}

} // namespace
} // namespace fluorescence::test
