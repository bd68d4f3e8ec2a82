// Results as MCML and ParaView read them: every number is where it belongs, and they add up.
#include "result_files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <sstream>

namespace fluorescence {
namespace {

using std::numbers::pi;

Problem two_layers() {
    Problem problem;
    problem.name = "two.mco";
    problem.layers.resize(2);
    problem.layers[0] = {1.37, {1, 100, 0.9}, 0.1, {}, 0.5, 0.8};
    problem.layers[1] = {1.4, {2, 10, 0.7}, 0.2, {}, 0, 0};
    problem.grid = {0.02, 0.03, 15, 12, 9, 0.05, {}, 7, 5};
    return problem;
}

struct Results {
    Totals totals;
    Grids grids;
};

Results simulate(const Problem& problem, const Settings& settings) {
    headrace::Runtime runtime({.devices = "cpu"});
    const Simulation simulation(problem, settings);
    runtime.submit(simulation.job()).wait();
    return {simulation.totals(), simulation.grids()};
}

/// The numbers that follow the line that begins with `name`, up to a line that has none.
std::vector<double> section(const std::string& text, const std::string& name) {
    std::istringstream stream(text.substr(text.find("\n" + name) + 1));
    std::string line;
    std::getline(stream, line);
    EXPECT_TRUE(line.starts_with(name)) << line;
    std::vector<double> numbers;
    while (std::getline(stream, line) && !line.empty()) {
        std::istringstream words(line.substr(0, line.find('#')));
        for (double number = 0; words >> number;) numbers.push_back(number);
    }
    return numbers;
}

constexpr double printed = 1e-4; // of four digits

TEST(McmlsResults, AddUpToTheTotals) {
    const Problem problem = two_layers();
    const Settings settings{KernelChoice::consumer, GridChoice::rz, 20'000, 4};
    const auto [totals, grids] = simulate(problem, settings);
    const std::string text = mco_of(problem, settings, totals, grids);
    EXPECT_TRUE(text.starts_with("A1 "));
    const auto rat = section(text, "RAT");
    ASSERT_EQ(rat.size(), 4u);
    EXPECT_NEAR(rat[0] + rat[1] + rat[2] + rat[3], 1, 1e-5);
    EXPECT_NEAR(rat[1], totals.reflectance.value, 1e-6);

    const auto near = [](double found, double expected) { EXPECT_NEAR(found, expected, printed * expected); };
    const auto layers = section(text, "A_l");
    ASSERT_EQ(layers.size(), 2u);
    near(layers[0] + layers[1], totals.absorbed.value);
    const auto depths = section(text, "A_z");
    ASSERT_EQ(depths.size(), 15u);
    double sum = 0;
    for (const double depth : depths) sum += depth * problem.grid.dz;
    near(sum, totals.absorbed.value);
    const auto area = [](std::size_t r) { return 2 * pi * (static_cast<double>(r) + 0.5) * 0.03 * 0.03; };
    const auto cone = [](std::size_t a) {
        const double step = pi / 18;
        return 2 * pi *
               (std::cos(static_cast<double>(a) * step) - std::cos(static_cast<double>(a + 1) * step));
    };
    for (const auto& [letters, total] :
         {std::pair("Rd", totals.reflectance.value), std::pair("Tt", totals.transmittance.value)}) {
        const auto radii = section(text, std::string(letters) + "_r ");
        const auto angles = section(text, std::string(letters) + "_a ");
        ASSERT_EQ(radii.size(), 12u);
        ASSERT_EQ(angles.size(), 9u);
        double by_radius = 0, by_angle = 0;
        for (std::size_t r = 0; r < 12; ++r) by_radius += radii[r] * area(r);
        for (std::size_t a = 0; a < 9; ++a) by_angle += angles[a] * cone(a);
        near(by_radius, total);
        near(by_angle, total);
        EXPECT_EQ(section(text, std::string(letters) + "_ra").size(), 12u * 9u);
    }
    const auto cells = section(text, "A_rz");
    ASSERT_EQ(cells.size(), 12u * 15u);
    EXPECT_NEAR(cells[3 * 15 + 7], grids.absorption[0][7 * 12 + 3], printed * cells[3 * 15 + 7]);
    const auto input = section(text, "InParm");
    EXPECT_EQ(input.front(), 20'000);
}

/// The grid called `name`, by its offset in the appended data.
std::vector<double> appended(const std::string& text, const std::string& name) {
    const std::size_t at = text.find("Name=\"" + name + "\"");
    EXPECT_NE(at, std::string::npos);
    const std::size_t offset = std::stoull(text.substr(text.find("offset=\"", at) + 8));
    const char* data = text.data() + text.find("\n_") + 2 + offset;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, data, sizeof bytes);
    std::vector<double> numbers(bytes / sizeof(double));
    std::memcpy(numbers.data(), data + sizeof bytes, bytes);
    return numbers;
}

TEST(ParaViewsResults, HaveBothGridsAndTheirPlaces) {
    const Problem problem = two_layers();
    for (const GridChoice grid : {GridChoice::rz, GridChoice::xyz}) {
        const Settings settings{KernelChoice::producer, grid, 3'000, 4};
        const Grids grids = simulate(problem, settings).grids;
        const std::string text = vti_of(problem, settings, grids);
        EXPECT_EQ(appended(text, "absorption"), grids.absorption[0]);
        EXPECT_EQ(appended(text, "emission_absorption"), grids.absorption[1]);
        const bool is_xyz = grid == GridChoice::xyz;
        EXPECT_NE(
            text.find(is_xyz ? "WholeExtent=\"0 7 0 5 0 15\" Origin=\"-0.175 -0.075 0\" "
                               "Spacing=\"0.05 0.03 0.02\""
                             : "WholeExtent=\"0 12 0 0 0 15\" Origin=\"0 0 0\" Spacing=\"0.03 0.03 0.02\""),
            std::string::npos)
            << text.substr(0, 400);
        EXPECT_TRUE(text.ends_with("\n</AppendedData>\n</VTKFile>\n"));
    }
}

} // namespace
} // namespace fluorescence
