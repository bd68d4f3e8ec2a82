// Heat on every device beside a serial reference in double precision, which does what the steps say cell by
// cell and treats edges by asking whether a neighbour is there.
#include "hotspot.kernels.hpp"
#include "simulate.hpp"

#include <core/scratch_folder.hpp>
#include <devices/devices_fixture.hpp>

#include "chip.hpp"
#include "saved.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace hotspot {
namespace {

using controller_program::Machine;
using headrace::Array;
using headrace::test::OnDevices;
using headrace::test::test_name;

/// `cells` after `steps` steps.
std::vector<double> reference(int size, std::vector<double> cells, const std::vector<float>& power,
                              int steps) {
    const Factors f = factors_of(size);
    for (int step = 0; step < steps; ++step) {
        std::vector<double> next = cells;
        for (int y = 0; y < size; ++y)
            for (int x = 0; x < size; ++x) {
                const int at = y * size + x;
                double flow = double{f.heat} * power[at] + double{f.sink} * (double{f.ambient} - cells[at]);
                const auto from = [&](bool is_there, int neighbour, double factor) {
                    if (is_there) flow += factor * (cells[neighbour] - cells[at]);
                };
                from(y > 0, at - size, f.down);
                from(y < size - 1, at + size, f.down);
                from(x > 0, at - 1, f.across);
                from(x < size - 1, at + 1, f.across);
                next[at] += flow;
            }
        cells = std::move(next);
    }
    return cells;
}

/// Neighbours 10 K apart, so that a cell taken from the wrong place shows.
struct Chip {
    explicit Chip(int n) : size(n), heat(cells()), power(cells()) {
        make_temperatures(heat);
        make_power(size, power);
        for (std::size_t i = 0; i < power.size(); i += 7)
            power[i] *= 100; // what make_power makes is even over units
    }
    [[nodiscard]] std::size_t cells() const {
        return static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    }
    [[nodiscard]] std::vector<double> after(int steps) const {
        return reference(size, {heat.begin(), heat.end()}, power, steps);
    }

    int size;
    std::vector<float> heat, power;
};

/// What every launch of a run has made.
std::vector<std::vector<float>> run(const std::string& devices, const Chip& chip, int iterations,
                                    bool asynchronous = true) {
    controller_program::CommonOptions options;
    options.asynchronous = asynchronous;
    options.devices = devices;
    Machine machine("test", options);
    const auto plane = headrace::grid(chip.size, chip.size);
    Array<float> power("power", plane, machine.device()), heat("heat", plane, machine.device()),
        spare("spare", plane, machine.device());
    std::ranges::copy(chip.power, power.fill().begin());
    std::ranges::copy(chip.heat, heat.fill().begin());
    std::vector<std::vector<float>> made;
    simulate(machine, power, heat, spare, iterations,
             [&](headrace::In<float> cells) { made.emplace_back(cells.begin(), cells.end()); });
    machine.wait_all();
    return made;
}

/// A temperature of some 330 K is a float with 1.5e-5 K to the next, and a step rounds some six times; errors
/// of steps do not grow, since a step takes means.
double tolerance(int steps) { return 1e-4 * steps + 1e-3; }

void expect_near(const std::vector<float>& got, const std::vector<double>& expected, int size, int steps) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], expected[i], tolerance(steps))
            << "cell " << i / static_cast<std::size_t>(size) << ", " << i % static_cast<std::size_t>(size)
            << " of " << size << " after " << steps;
}

TEST(HotspotCells, AreReadAcrossPiecesOfTheFile) {
    const headrace::test::ScratchFolder folder;
    std::string text;
    for (int i = 0; i < 400 * 400; ++i)
        text += "  " + std::to_string(300 + i % 7) + ".000000\t\r\n"; // 2.4 MB
    std::vector<float> cells(400 * 400);
    for (const std::string end : {"", "\n", "1"}) { // the last number may end with the file
        read_cells(folder.write("cells", text.substr(0, text.size() - 3) + end), cells);
        for (std::size_t i = 0; i < cells.size(); ++i)
            ASSERT_EQ(cells[i], 300 + static_cast<int>(i % 7)) << i;
    }
}

class HotspotOn : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Every, HotspotOn, headrace::test::every_device(), test_name);

TEST_P(HotspotOn, HandsOverTheReferenceAfterEveryLaunch) {
    for (const auto& [size, iterations] :
         {std::pair{1, 5}, {2, 9}, {3, 4}, {5, 12}, {57, 10}, {65, 3}, {129, 7}}) {
        const Chip chip(size);
        const auto made = run(GetParam(), chip, iterations);
        ASSERT_EQ(made.size(), static_cast<std::size_t>((iterations + fused - 1) / fused));
        for (std::size_t i = 0; i < made.size(); ++i) {
            const int steps = std::min(iterations, fused * static_cast<int>(i + 1));
            expect_near(made[i], chip.after(steps), size, steps);
        }
    }
}

TEST_P(HotspotOn, IsRightWhereBlocksMeet) {
    const Chip chip(531); // more than a block of the CPU's, 57 squares of CUDA's, and no multiple of either
    expect_near(run(GetParam(), chip, 4).back(), chip.after(4), chip.size, 4);
}

TEST_P(HotspotOn, IsTheSameToTheBitInBothModes) {
    const Chip chip(113);
    EXPECT_EQ(run(GetParam(), chip, 41, false), run(GetParam(), chip, 41, true));
}

class HotspotInBands : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Every, HotspotInBands,
                         testing::Values("cpu,opencl:pocl", "cpu,cuda:0", "cuda:0,opencl:pocl",
                                         "cuda:0,cuda:1"),
                         test_name);

TEST_P(HotspotInBands, ExchangesWhatLiesBetweenThem) {
    for (const int size : {2, 7, 100, 131}) {
        const Chip chip(size);
        const auto made = run(GetParam(), chip, 18);
        expect_near(made.back(), chip.after(18), size, 18);
        expect_near(made[1], chip.after(8), size, 8);
    }
}

TEST(HotspotKernel, IsRightWhereNoSpecialOneIs) {
    for (const auto& [size, steps] : {std::pair{1, 4}, {3, 2}, {23, 4}, {23, 1}}) {
        const Chip chip(size);
        std::vector<float> after(chip.cells());
        const headrace::Shape shape{static_cast<std::int64_t>(chip.cells()), size, size, size};
        const Hotspot kernel{{chip.power.data(), shape},
                             {chip.heat.data(), shape},
                             {after.data(), shape},
                             size,
                             steps,
                             factors_of(size)};
        for (int y = 0; y < size; ++y)
            for (int x = 0; x < size; ++x) kernel(headrace::Index<2>{y, x});
        expect_near(after, chip.after(steps), size, steps);
    }
}

TEST(HotspotChip, KeepsItsHeatButForTheSinkAndThePower) {
    const Chip chip(64);
    const Factors f = factors_of(chip.size);
    const auto mean = [&](const auto& cells) { return std::reduce(cells.begin(), cells.end(), 0.0) / 4096; };
    const double power = mean(chip.power), before = mean(chip.heat);
    // Summed over the chip, what neighbours exchange is nothing.
    const double expected = before + f.heat * power + f.sink * (f.ambient - before);
    EXPECT_NEAR(mean(chip.after(1)), expected, 1e-9 * expected);
    EXPECT_NEAR(mean(run("cpu", chip, 1).back()), expected, 1e-4);
}

TEST(HotspotChip, HasRodiniasFactorsUntilStepsWouldOvershoot) {
    // By hand from hotspot.cu: step 0.001 / (3e6 / (0.5 * 0.0005 * 1.75e6)), a cell of 1024 on 0.016 m.
    const double cell = 0.016 / 1024,
                 share = 0.001 / (3e6 / (0.5 * 0.0005 * 1.75e6)) / (0.5 * 1.75e6 * 0.0005 * cell * cell);
    const Factors f = factors_of(1024);
    EXPECT_NEAR(f.heat, share, 1e-6 * share);
    EXPECT_NEAR(f.across, share / (1 / (2 * 100 * 0.0005)), 1e-6);
    EXPECT_NEAR(f.sink, share / (0.0005 / (100 * cell * cell)), 1e-9);
    EXPECT_EQ(f.ambient, 80);
    for (const int size : {1, 1024, 1314, 1315, 2500, 15000, 32768}) {
        const Factors g = factors_of(size);
        EXPECT_LE(2 * (g.across + g.down) + g.sink, 0.9001) << size;
        EXPECT_EQ(g.across, g.down);
    }
    EXPECT_LT(2 * (factors_of(1314).across + factors_of(1314).down), 0.9);
}

class HotspotFiles : public testing::Test {
protected:
    [[nodiscard]] std::string refusal(const std::string& text, std::size_t cells) const {
        const auto file = folder_.write("temp_3", text);
        std::vector<float> read(cells);
        try {
            read_cells(file, read);
        } catch (const headrace::Error& error) {
            EXPECT_TRUE(error.is_users_mistake());
            EXPECT_NE(error.message().find("temp_3"), std::string::npos) << error.message();
            return error.message();
        }
        return "";
    }
    headrace::test::ScratchFolder folder_;
};

TEST_F(HotspotFiles, AreReadAsTheyWereWritten) {
    const std::vector<float> cells{323.829346f, 0, 1e-6f, -4.5f, 3.4e38f, 1.0f / 3, 1e-45f};
    std::vector<float> read(cells.size());
    read_cells(folder_.write("cells", text_of(cells)), read);
    EXPECT_EQ(read, cells);
    read_cells(folder_.write("cells", " 1\t2\r\n3.5e0   4 5 6 7"), read);
    EXPECT_EQ(read, (std::vector<float>{1, 2, 3.5f, 4, 5, 6, 7}));
    read_cells(folder_.write("cells", "+1 -2 +3.5E+00 1e-60 -1e-999 0.5e0 .25"), read);
    EXPECT_EQ(read, (std::vector<float>{1, -2, 3.5f, 0, 0, 0.5f, 0.25f}));
}

TEST_F(HotspotFiles, AreRefusedByName) {
    EXPECT_NE(refusal("1 2 3", 4).find("number 4 of 4 is missing"), std::string::npos);
    EXPECT_NE(refusal("1 2 3 4 5", 4).find("--size"), std::string::npos);
    EXPECT_NE(refusal("", 1).find("number 1 of 1"), std::string::npos);
    for (const char* bad : {"1 2 x 4", "1 2 3x 4", "1 2 0x3 4", "1 2 +-3 4", "1 2 3e 4", "1,2,3,4"})
        EXPECT_NE(refusal(bad, 4).find("is no number"), std::string::npos) << bad;
    for (const char* word : {"nan", "inf", "-inf", "1e99", "-1e999", "3.5e38"})
        EXPECT_NE(refusal("1 2 " + std::string(word) + " 4", 4)
                      .find("number 3 of 4 is " + std::string(word) + ", which is no finite float32"),
                  std::string::npos)
            << word;
    EXPECT_NE(refusal(std::string(10'000, ' '), 4).find("more than 4352 bytes"), std::string::npos);
    std::vector<float> read(1);
    EXPECT_THROW(read_cells(folder_.path() / "nowhere", read), headrace::Error);
    EXPECT_THROW(read_cells(folder_.path(), read), headrace::Error);
}

TEST(HotspotSaved, HoldsWhatItTookWhateverTheSizeAndTheAddress) {
    for (const std::size_t size : {1, 3, 4, 1000, 65536, 65537, 200003}) {
        std::vector<float> cells(size + 3);
        std::iota(cells.begin(), cells.end(), 1.0f);
        for (std::size_t offset = 0; offset < 4; ++offset) {
            Saved saved(size, 3);
            saved.take(cells.data() + offset);
            ASSERT_TRUE(std::equal(saved.cells().begin(), saved.cells().end(),
                                   cells.begin() + static_cast<std::ptrdiff_t>(offset)))
                << size << " from " << offset;
        }
    }
}

} // namespace
} // namespace hotspot
