// Results as MCML and ParaView read them, and as people look at them: every number is where it belongs, and
// they add up.
#include "photons_on_cpu.hpp"
#include "plot.hpp"
#include "result_files.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numbers>
#include <sstream>

namespace fluorescence {
namespace {

using std::numbers::pi;
using test::simulate;

Problem two_layers() {
    Problem problem;
    problem.name = "two.mco";
    problem.layers.resize(2);
    problem.layers[0] = {1.37, {1, 100, 0.9}, 0.1, {}, 0.5, 0.8};
    problem.layers[1] = {1.4, {2, 10, 0.7}, 0.2, {}, 0, 0};
    problem.grid = {0.02, 0.03, 15, 12, 9, 0.05, {}, 7, 5};
    return problem;
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
    const std::string text = mco_of(problem, settings, totals, grids, 3.5);
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
    }
    const auto cells = section(text, "A_rz");
    ASSERT_EQ(cells.size(), 12u * 15u);
    EXPECT_NEAR(cells[3 * 15 + 7], grids.absorption[0][7 * 12 + 3], printed * cells[3 * 15 + 7]);
    const auto input = section(text, "InParm");
    EXPECT_EQ(input.front(), 20'000);
}

// What MCML 1.2.2 writes for this input, but for the numbers that it finds. Its readers count lines.
TEST(McmlsResults, HaveMcmlsLines) {
    const Problem problem = two_layers();
    const Settings settings{KernelChoice::consumer, GridChoice::rz, 20'000, 4};
    const auto [totals, grids] = simulate(problem, settings);
    std::istringstream text(mco_of(problem, settings, totals, grids, 3.5));
    std::vector<std::string> lines{""}; // numbered from 1
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    const char* const head[] = {"A1 \t# Version number of the file format.",
                                "",
                                "####",
                                "# Data categories include: ",
                                "# InParm, RAT, ",
                                "# A_l, A_z, Rd_r, Rd_a, Tt_r, Tt_a, ",
                                "# A_rz, Rd_ra, Tt_ra ",
                                "####",
                                "",
                                "# User time:     3.50 sec =     0.00 hr.   Simulation time of this run.",
                                "",
                                "InParm \t\t\t# Input parameters. cm is used.",
                                "two.mco \tA\t\t# output file name, ASCII.",
                                "20000 \t\t\t# No. of photons",
                                "0.02\t0.03\t\t# dz, dr [cm]",
                                "15\t12\t9\t# No. of dz, dr, da.",
                                "",
                                "2\t\t\t\t\t# Number of layers",
                                "#n\tmua\tmus\tg\td\t# One line for each layer",
                                "1\t\t\t\t\t# n for medium above",
                                "1.37\t1\t100\t0.9\t0.1\t# layer 1",
                                "1.4\t2\t10\t0.7\t0.2\t# layer 2",
                                "1\t\t\t\t\t# n for medium below",
                                "",
                                "RAT #Reflectance, absorption, transmission. "};
    for (std::size_t i = 0; i < std::size(head); ++i) EXPECT_EQ(lines.at(i + 1), head[i]) << i + 1;
    const auto at = [&](const std::string& line) {
        return static_cast<std::size_t>(std::ranges::find(lines, line) - lines.begin());
    };
    EXPECT_TRUE(lines.at(26).ends_with(" \t#Specular reflectance [-]")) << lines.at(26);
    EXPECT_TRUE(lines.at(29).ends_with(" \t#Transmittance [-]")) << lines.at(29);
    EXPECT_EQ(lines.at(31), "A_l #Absorption as a function of layer. [-]");
    EXPECT_EQ(lines.at(32).size(), 12u);
    EXPECT_EQ(lines.at(35), "A_z #A[0], [1],..A[nz-1]. [1/cm]");
    EXPECT_EQ(lines.at(52), "Rd_r #Rd[0], [1],..Rd[nr-1]. [1/cm2]");
    EXPECT_EQ(lines.at(66), "Rd_a #Rd[0], [1],..Rd[na-1]. [sr-1]");
    EXPECT_EQ(lines.at(77), "Tt_r #Tt[0], [1],..Tt[nr-1]. [1/cm2]");
    EXPECT_EQ(lines.at(91), "Tt_a #Tt[0], [1],..Tt[na-1]. [sr-1]");
    // Six lines before each table; the last line of numbers ends it, or an empty one if that is full.
    EXPECT_EQ(lines.at(102), "# A[r][z]. [1/cm3]");
    EXPECT_EQ(lines.at(103), "# A[0][0], [0][1],..[0][nz-1]");
    EXPECT_EQ(lines.at(106), "# A[nr-1][0], [nr-1][1],..[nr-1][nz-1]");
    EXPECT_EQ(at("A_rz"), 107u);
    EXPECT_EQ(lines.at(108).size(), 5u * 13u);
    EXPECT_EQ(lines.at(144), "");
    EXPECT_EQ(lines.at(145), "# Rd[r][angle]. [1/(cm2sr)].");
    EXPECT_EQ(at("Rd_ra"), 150u);
    EXPECT_EQ(lines.at(173), "# Tt[r][angle]. [1/(cm2sr)].");
    EXPECT_EQ(at("Tt_ra"), 178u);
    EXPECT_EQ(lines.size() - 1, 200u);
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

/// A picture's pixels, three bytes each.
struct Picture {
    int width = 0, height = 0;
    std::vector<unsigned char> pixels{};

    [[nodiscard]] int brightness(double x, double y) const { // parts of the picture
        const auto at = static_cast<std::size_t>(y * height) * static_cast<std::size_t>(width) +
                        static_cast<std::size_t>(x * width);
        return pixels[3 * at] + pixels[3 * at + 1] + pixels[3 * at + 2];
    }
};
Picture decode(const std::string& png) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_memory(&image, png.data(), png.size()), 0) << image.message;
    image.format = PNG_FORMAT_RGB;
    Picture picture{static_cast<int>(image.width), static_cast<int>(image.height)};
    picture.pixels.resize(PNG_IMAGE_SIZE(image));
    EXPECT_NE(png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr), 0) << image.message;
    return picture;
}

TEST(Plots, ShowWhereTheLightIs) {
    Problem problem = two_layers();
    const Settings settings{KernelChoice::producer, GridChoice::rz, 20'000, 4};
    const Picture both = decode(plot_of(problem, settings, simulate(problem, settings).grids));
    problem.layers[0].quantum_yield = 0;
    problem.layers[1].excitation.mua = 0; // nothing is known of its lower two thirds
    const Picture one = decode(plot_of(problem, settings, simulate(problem, settings).grids));
    EXPECT_EQ(both.width, one.width);
    EXPECT_EQ(both.height, 2 * one.height); // the fluorescent light's below
    const int beam = one.brightness(0.1, 0.12), beside = one.brightness(0.6, 0.2),
              grey = one.brightness(0.3, 0.8);
    EXPECT_GT(beam, beside + 100);
    EXPECT_EQ(grey, 3 * 204);
    EXPECT_EQ(one.brightness(0.7, 0.8), grey);
}

TEST(Plots, ShowThreeDimensionsAcrossTheBeam) {
    const Problem problem = two_layers();
    const Settings settings{KernelChoice::producer, GridChoice::xyz, 20'000, 4};
    const Picture picture = decode(plot_of(problem, settings, simulate(problem, settings).grids));
    const double middle = (80 + 320) / 850.0; // seven columns: the beam goes into the fourth
    EXPECT_GT(picture.brightness(middle, 0.06), picture.brightness(middle - 0.3, 0.06) + 100);
    EXPECT_GT(picture.brightness(middle, 0.06), picture.brightness(middle + 0.3, 0.06) + 100);
}

TEST(Plots, EvenOfNothingCanBeDrawn) {
    Problem problem = two_layers();
    for (LayerSpec& layer : problem.layers) layer = {1.0, {0, 0, 0}, 0.1, {}, 0, 0};
    const Settings settings{KernelChoice::producer, GridChoice::rz, 10, 4};
    const Picture picture = decode(plot_of(problem, settings, simulate(problem, settings).grids));
    EXPECT_EQ(picture.brightness(0.3, 0.5), 3 * 204);
}

} // namespace
} // namespace fluorescence
