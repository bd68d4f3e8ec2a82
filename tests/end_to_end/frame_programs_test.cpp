// headrace-hotspot and headrace-mandelbrot as a user runs them: reports, files, and what can be got wrong.
#include "end_to_end/program.hpp"

#include <devices/two_private_cpus.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace headrace::end_to_end {
namespace {

using nlohmann::json;
using Options = std::vector<std::string>;

class FramePrograms : public testing::Test {
protected:
    Outcome run(const char* program, Options options) const {
        options.push_back("--quiet");
        return Program(program, options, folder_.path()).wait();
    }
    json report(const char* program, Options options) const {
        options.insert(options.end(), {"--report", "report.json"});
        const Outcome outcome = run(program, options);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        EXPECT_TRUE(outcome.output.empty()) << outcome.output;
        return json::parse(std::ifstream(folder_.path() / "report.json"));
    }
    /// One line on stderr with each of `words`, exit code 2, and nothing left behind.
    void expect_refusal(const char* program, const Options& options,
                        std::initializer_list<const char*> words) const {
        const std::vector<std::string> before = folder_.list();
        const Outcome outcome = run(program, options);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
        EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
        for (const char* word : words)
            EXPECT_NE(outcome.errors.find(word), std::string::npos) << outcome.errors;
        EXPECT_EQ(folder_.list(), before);
    }
    [[nodiscard]] std::string content(const std::string& file) const {
        std::ifstream stream(folder_.path() / file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    Scratch folder_;
};

const Options on_cpu{"--devices", "cpu"}, on_copies{"--devices", test::two_private_cpus};
Options operator+(Options a, const Options& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

TEST_F(FramePrograms, HotspotGoesOnFromItsOwnFileAndIsTheSameOnCopies) {
    folder_.write("power", [] {
        std::string text;
        for (int i = 0; i < 33 * 33; ++i) text += std::to_string(1e-3 * (i % 7)) + "\n";
        return text;
    }());
    const Options chip = on_cpu + Options{"--size", "33", "--power", "power"};
    report(HEADRACE_HOTSPOT, chip + Options{"--iterations", "20", "--out", "whole"});
    report(HEADRACE_HOTSPOT, on_copies + Options{"--size", "33", "--power", "power", "--iterations", "20",
                                                 "--out", "on copies"});
    EXPECT_EQ(content("on copies"), content("whole"));
    report(HEADRACE_HOTSPOT, chip + Options{"--iterations", "9", "--out", "half"});
    report(HEADRACE_HOTSPOT, chip + Options{"--iterations", "11", "--temperatures", "half", "--out", "both"});
    std::ifstream whole(folder_.path() / "whole"), both(folder_.path() / "both");
    int cells = 0;
    for (double a = 0, b = 0; whole >> a && both >> b; ++cells) ASSERT_NEAR(a, b, 1e-3) << cells;
    EXPECT_EQ(cells, 33 * 33);
}

TEST_F(FramePrograms, HotspotReportsWhatModesAgreeOn) {
    const Options chip = on_cpu + Options{"--size", "301", "--iterations", "37"};
    const json asynchronous = report(HEADRACE_HOTSPOT, chip + Options{"--mode", "async", "--out", "async"});
    const json synchronous = report(HEADRACE_HOTSPOT, chip + Options{"--mode", "sync", "--out", "sync"});
    EXPECT_EQ(asynchronous.at("checksum"), synchronous.at("checksum"));
    EXPECT_EQ(content("async"), content("sync"));
    EXPECT_GT(double(asynchronous.at("checksum")), 300);
    EXPECT_LT(double(asynchronous.at("checksum")), double(asynchronous.at("hottest")));
    EXPECT_GT(double(asynchronous.at("seconds")), 0);
    EXPECT_EQ(asynchronous.at("mode"), "async");
    EXPECT_EQ(synchronous.at("mode"), "sync");
}

TEST_F(FramePrograms, HotspotStaysFiniteWhereRodiniasStepsDoNot) {
    const json found = report(HEADRACE_HOTSPOT, on_cpu + Options{"--size", "1700", "--iterations", "120"});
    EXPECT_GT(double(found.at("checksum")), 320);
    EXPECT_LT(double(found.at("hottest")), 345);
}

TEST_F(FramePrograms, HotspotRefusesWhatDoesNotFit) {
    folder_.write("short", "1 2 3");
    folder_.write("words", "1 2 3 hot");
    expect_refusal(HEADRACE_HOTSPOT, on_cpu + Options{"--size", "2", "--temperatures", "short"},
                   {"short", "4 of 4"});
    expect_refusal(HEADRACE_HOTSPOT, on_cpu + Options{"--size", "2", "--power", "words"}, {"words", "hot"});
    expect_refusal(HEADRACE_HOTSPOT, on_cpu + Options{"--power", "nowhere"}, {"nowhere"});
    expect_refusal(HEADRACE_HOTSPOT, on_cpu + Options{"--size", "0"}, {"--size 0"});
    expect_refusal(HEADRACE_HOTSPOT, on_cpu + Options{"--iterations", "many"}, {"--iterations many"});
    expect_refusal(HEADRACE_HOTSPOT, on_cpu + Options{"--out", "no/folder"}, {"no"});
    expect_refusal(HEADRACE_HOTSPOT, {"--devices", "cuda:99"}, {"cuda:99"});
}

TEST_F(FramePrograms, HotspotSaysWhatIsBeyondFloat) {
    const auto chip = [](const char* temperatures, const char* power) {
        return Options{"--size", "2", "--temperatures", temperatures, "--power", power, "--out", "out"};
    };
    folder_.write("nan", "1 2 nan 4");
    folder_.write("hot", "3e38 -3e38 3e38 3e38");
    folder_.write("warm", "300 300 300 300");
    for (const Options& devices : {on_cpu, on_copies}) {
        expect_refusal(HEADRACE_HOTSPOT, devices + chip("nan", "warm"), {"nan: number 3 of 4 is nan"});
        expect_refusal(HEADRACE_HOTSPOT, devices + chip("warm", "nan"), {"nan: number 3 of 4 is nan"});
        expect_refusal(HEADRACE_HOTSPOT, devices + chip("hot", "warm"),
                       {"row 1, column 1", "beyond float32"});
    }
}

TEST_F(FramePrograms, HotspotReadsPipes) {
    folder_.write("warm", "300 301 302 303");
    const Options chip = on_cpu + Options{"--size", "2", "--temperatures"};
    report(HEADRACE_HOTSPOT, chip + Options{"warm", "--out", "from file"});
    const Outcome outcome =
        Program("/bin/sh",
                {"-c", "cat warm | '" HEADRACE_HOTSPOT "' --devices cpu --size 2 --temperatures /dev/stdin "
                       "--out piped --quiet"},
                folder_.path())
            .wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(content("piped"), content("from file"));
    EXPECT_FALSE(content("piped").empty());
}

/// Two GiB of address space are enough for programs, and too few for what never ends.
TEST_F(FramePrograms, HotspotTakesLittleMemoryForWhatNeverEnds) {
    for (const auto& [input, size, words] : {std::array{"</dev/zero", "4096", "more than 1000 bytes"},
                                             {"yes '' |", "64", "more than 266240 bytes"},
                                             {"yes 300 |", "64", "number 4097 of 4096 is there too"}}) {
        const std::string before = input[0] == '<' ? "" : input, after = input[0] == '<' ? input : "";
        const Outcome outcome =
            Program("/bin/sh",
                    {"-c", before + " (" + within_memory(2) +
                               "exec '" HEADRACE_HOTSPOT
                               "' --devices cpu --temperatures /dev/stdin --quiet --size " +
                               size + ") " + after},
                    folder_.path())
                .wait();
        EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
        EXPECT_NE(outcome.errors.find(words), std::string::npos) << outcome.errors;
    }
}

TEST_F(FramePrograms, MandelbrotWritesTheSameFramesInBothModesAndOnCopies) {
    const auto zoom = [&](const Options& devices, const char* mode, const char* folder) {
        std::filesystem::create_directory(folder_.path() / folder);
        const json found =
            report(HEADRACE_MANDELBROT, devices + Options{"--mode", mode, "--width", "65", "--height", "41",
                                                          "--frames", "12", "--threshold", "200", "--x1",
                                                          "-2", "--target=-0.75,0.1", "--out", folder});
        ASSERT_EQ(found.at("mean_steps").size(), 12u);
        double steps = 0;
        for (const double mean : found.at("mean_steps")) steps += mean * 65 * 41;
        EXPECT_NEAR(found.at("checksum"), steps, 1e-6 * steps);
        EXPECT_LT(double(found.at("share_inside").at(0)), 0.5);
        EXPECT_GT(double(found.at("left_early").at(0)), 65 * 41 / 4);
    };
    zoom(on_cpu, "sync", "sync");
    zoom(on_cpu, "async", "async");
    zoom(on_copies, "async", "copies");
    for (int frame = 0; frame < 12; ++frame) {
        const std::string name =
            "/frame_000" + std::string(frame < 10 ? "0" : "") + std::to_string(frame) + ".png";
        const std::string bytes = content("sync" + name);
        EXPECT_EQ(bytes.substr(1, 3), "PNG") << name;
        EXPECT_EQ(bytes, content("async" + name)) << name;
        EXPECT_EQ(bytes, content("copies" + name)) << name;
    }
    EXPECT_NE(content("sync/frame_00000.png"), content("sync/frame_00011.png"));
}

// Pixels of frame n are 2^-n * 4 / 64 apart, near -0.75: further than 2^-52 * 0.75 up to n = 48.
TEST_F(FramePrograms, MandelbrotZoomsAsDeepAsDoublesReach) {
    const Options zoom =
        on_cpu + Options{"--width", "64", "--height", "64", "--zoom", "0.5", "--target", "-0.75,0.1",
                         "--y1",    "-2", "--y2",     "2",  "--x1",   "-2",  "--x2",     "2"};
    report(HEADRACE_MANDELBROT, zoom + Options{"--frames", "49"});
    expect_refusal(HEADRACE_MANDELBROT, zoom + Options{"--frames", "60"}, {"frame 49", "--frames 49"});
}

TEST_F(FramePrograms, MandelbrotRefusesWhatItCannotDo) {
    expect_refusal(HEADRACE_MANDELBROT, on_cpu + Options{"--out", "nowhere"}, {"nowhere"});
    expect_refusal(HEADRACE_MANDELBROT, on_cpu + Options{"--target", "1"}, {"--target 1", "X,Y"});
    expect_refusal(HEADRACE_MANDELBROT, on_cpu + Options{"--target", "1,b"}, {"--target b"});
    expect_refusal(HEADRACE_MANDELBROT, on_cpu + Options{"--zoom", "1"}, {"--zoom 1"});
    expect_refusal(HEADRACE_MANDELBROT, on_cpu + Options{"--zoom", "nan"}, {"--zoom nan"});
    expect_refusal(HEADRACE_MANDELBROT, on_cpu + Options{"--target", "inf,0"}, {"--target inf"});
    expect_refusal(HEADRACE_MANDELBROT, on_cpu + Options{"--x1", "1", "--x2", "1"}, {"frame 0", "--x1"});
    expect_refusal(HEADRACE_MANDELBROT, on_cpu + Options{"--frames", "0"}, {"--frames 0"});
    expect_refusal(HEADRACE_MANDELBROT, on_cpu + Options{"--mode", "fast"}, {"--mode fast"});
}

} // namespace
} // namespace headrace::end_to_end
