// headrace-optical-flow as a user runs it: pictures and videos in, flow and colours out, however pairs are
// divided among devices, and what can be wrong with what it is given.
#include "end_to_end/optical_flow_program.hpp"

namespace headrace::end_to_end {
namespace {

// ---- what comes out

struct Moving {
    const char* name;
    Motion motion;
    bool pgm = false;
};
// NOLINTNEXTLINE(readability-identifier-naming): gtest's
void PrintTo(const Moving& what, std::ostream* to) { *to << what.name; }

class OpticalFlowOf : public OpticalFlowProgram, public testing::WithParamInterface<Moving> {};

constexpr Point centre{59.5, 43.5};
INSTANTIATE_TEST_SUITE_P(Motions, OpticalFlowOf,
                         testing::Values(Moving{"Translation", {.u = 1.5, .v = 0.75}},
                                         Moving{"TranslationOfBytes", {.u = 1.5, .v = 0.75}, true},
                                         Moving{"FarTranslation", {.u = -6, .v = 4.5}},
                                         Moving{"Rotation", {.radians = 0.03, .middle = centre}},
                                         Moving{"Zoom", {.factor = 1.03, .middle = centre}}),
                         [](const auto& each) { return std::string(each.param.name); });

// Where nothing comes in from beyond the edge, errors are 0.04 to 0.08 pixels: between pixels, frames are
// sampled linearly, which makes them flatter than they are.
TEST_P(OpticalFlowOf, AKnownMotionIsFound) {
    constexpr double most = 0.1; // pixels
    constexpr int border = 20;
    const Motion& motion = GetParam().motion;
    const json report =
        report_of({"--input", make_pictures(motion, 3, GetParam().pgm), "--levels", "3", "--warps", "3",
                   "--iterations", "300", "--alpha", "0.1", "--output-dir", "out"});
    EXPECT_EQ(files_in("out"), files_of(2));
    EXPECT_EQ(report.at("pairs"), 2);
    for (std::size_t pair = 0; pair < 2; ++pair) {
        const std::string name = "out/flow_0000" + std::to_string(pair);
        const Field found(content(name + ".flo"));
        ASSERT_EQ(found.width, width);
        ASSERT_EQ(found.height, height);
        EXPECT_NEAR(report.at("norms").at(pair).get<double>() / found.norm(), 1, 1e-6);
        /// With the true motion's u and v times these.
        const auto error = [&](double uu, double uv, double vu, double vv) {
            const auto forth = [&](Point from) {
                const Point to = motion.forth(from);
                const double u = to.x - from.x, v = to.y - from.y;
                return Point{from.x + uu * u + uv * v, from.y + vu * u + vv * v};
            };
            return found.error(forth, border);
        };
        EXPECT_LT(error(1, 0, 0, 1), most);
        EXPECT_GT(error(0, 1, 1, 0), 5 * most) << "u and v are the other's";
        EXPECT_GT(error(-1, 0, 0, -1), 5 * most);
        EXPECT_GT(error(-1, 0, 0, 1), 5 * most);
        EXPECT_GT(error(1, 0, 0, -1), 5 * most);
        const std::string png = content(name + ".png");
        ASSERT_GT(png.size(), 24U);
        EXPECT_EQ(png.substr(0, 4), "\x89PNG");
        EXPECT_EQ(png.substr(16, 8), std::string("\0\0\0\x78\0\0\0\x58", 8)) << "120 x 88";
    }
}

TEST_F(OpticalFlowProgram, GeneratedFramesGoForthAndBack) {
    const json report = report_of({"--input", "memory:8", "--width", "160", "--height", "120", "--alpha",
                                   "0.01", "--levels", "3", "--iterations", "100", "--output-dir", "out"});
    EXPECT_EQ(report.at("pairs"), 7);
    for (int pair = 0; pair < 7; ++pair) {
        const int sign = pair < 3 || pair == 6 ? 1 : -1; // four frames: 0 1 2 3 2 1 0 1
        const Field found(content("out/flow_0000" + std::to_string(pair) + ".flo"));
        const double error = found.error(
            [&](Point from) {
                return Point{from.x + sign * 1.5, from.y + sign * 0.75};
            },
            16);
        EXPECT_LT(error, 0.2) << pair; // half of the texture is finer than levels can follow
    }
}

TEST_F(OpticalFlowProgram, WhatDoesNotMoveHasNoFlow) {
    static_cast<void>(make_pictures({.u = 1}, 2));
    EXPECT_EQ(report_of(little + Options{"--input", "0.png,0.png,0.png"}).at("norms"), (json{0.0, 0.0}));
    EXPECT_EQ(report_of({"--input", "0.png,1.png", "--iterations", "0"}).at("norms"), json::array({0.0}));
}

TEST_F(OpticalFlowProgram, FilesAndPipesGiveTheSame) {
    const Options work = little + Options{"--longest", "2"};
    folder_.write("film.y4m", film_of(width, height, {.u = 1.5}, 5));
    expect_success(run(work + Options{"--input", "film.y4m", "--output", "file.y4m"}));
    const std::string colours = content("file.y4m");
    ASSERT_EQ(colours.size(), film_header + 4 * colour_bytes);
    EXPECT_EQ(colours.substr(0, film_header), "YUV4MPEG2 W120 H88 F25:1 Ip A0:0 C444 XCOLORRANGE=FULL\n");
    // To the right is red: little blue, much red.
    constexpr std::size_t plane = std::size_t{width} * height, pixel = plane / 2 + width / 2;
    for (std::size_t frame = 0; frame < 4; ++frame) {
        const auto at = [&](std::size_t component) {
            return static_cast<unsigned char>(
                colours[film_header + frame * colour_bytes + 6 + component * plane + pixel]);
        };
        EXPECT_LT(at(1), 118) << frame;
        EXPECT_GT(at(2), 158) << frame;
    }
    const std::string options = "--levels 3 --warps 2 --iterations 40 --longest 2 ";
    for (const char* command :
         {"cat film.y4m | flow --input - --output - $with | cat >pipe.y4m",
          "flow --input - --output - $with <film.y4m >pipe.y4m",
          "bash -c '\"" HEADRACE_OPTICAL_FLOW "\" --devices cpu --input <(cat film.y4m) --output "
          ">(cat >pipe.y4m) '\"$with\"' && wait $!'",
          "flow --input film.y4m --output pipe.y4m --mode sync $with",
          "flow --input film.y4m --output pipe.y4m --in-flight 7 $with",
          "flow --input film.y4m --output pipe.y4m --frames 99 --output-dir out $with",
          "mkfifo in.y4m out.y4m; cat film.y4m >in.y4m & cat out.y4m >pipe.y4m & flow --input "
          "in.y4m --output out.y4m $with; "
          "wait"}) {
        expect_success(shell("with='" + options + "'; " + command));
        EXPECT_EQ(content("pipe.y4m"), colours) << command;
        std::filesystem::remove(folder_.path() / "pipe.y4m");
    }
    EXPECT_EQ(files_in("out"), files_of(4));
}

TEST_F(OpticalFlowProgram, StandardOutputHoldsTheStreamAlone) {
    folder_.write("film.y4m", film_of(width, height, {.u = 1}, 3));
    const Outcome outcome = run(little + Options{"--input", "film.y4m", "--output", "-"});
    expect_success(outcome);
    EXPECT_EQ(outcome.output.size(), film_header + 2 * colour_bytes);
    EXPECT_NE(outcome.errors.find("pairs"), std::string::npos) << "no report";
}

TEST_F(OpticalFlowProgram, EndsAfterSoManyFrames) {
    folder_.write("film.y4m", film_of(width, height, {.u = 1.5, .v = 0.75}, 9));
    const json all = report_of(little + Options{"--input", "film.y4m"});
    EXPECT_EQ(all.at("pairs"), 8);
    EXPECT_EQ(all.at("width"), width);
    EXPECT_EQ(all.at("height"), height);
    EXPECT_GT(all.at("seconds_per_pair"), 0);
    EXPECT_NEAR(all.at("seconds_per_pair").get<double>() * 8 / all.at("seconds").get<double>(), 1, 1e-6);
    ASSERT_EQ(all.at("norms").size(), 8U);
    for (const int frames : {2, 3, 8, 9, 10}) {
        const json some =
            report_of(little + Options{"--input", "film.y4m", "--frames", std::to_string(frames)});
        const std::size_t pairs = static_cast<std::size_t>(std::min(frames, 9)) - 1;
        EXPECT_EQ(some.at("pairs"), pairs);
        ASSERT_EQ(some.at("norms").size(), pairs);
        for (std::size_t i = 0; i < pairs; ++i) EXPECT_EQ(some.at("norms").at(i), all.at("norms").at(i));
    }
}

TEST_F(OpticalFlowProgram, OddSizesHaveFlowFiles) {
    for (const char* size : {"1x1", "7x5", "5x7", "1x9", "2x1", "33x17"})
        for (const char* levels : {"1", "3", "16"}) {
            SCOPED_TRACE(std::string(size) + ", levels " + levels);
            const std::string text = size, w = text.substr(0, text.find('x')), h = text.substr(w.size() + 1);
            const json report =
                report_of({"--input", "memory:3", "--width", w, "--height", h, "--levels", levels, "--warps",
                           "2", "--iterations", "9", "--output-dir", "out", "--output", "out.y4m"});
            EXPECT_EQ(report.at("pairs"), 2);
            const Field found(content("out/flow_00001.flo"));
            EXPECT_EQ(std::to_string(found.width) + "x" + std::to_string(found.height), text);
            EXPECT_TRUE(std::isfinite(found.norm()));
        }
}

// ---- who does it

TEST_F(OpticalFlowProgram, AnyDivisionOfTheWorkFindsTheSame) {
    HEADRACE_SKIP_WITHOUT("cpu,opencl:pocl");
    const test::EnvironmentVariable kept("HEADRACE_CALIBRATIONS", (folder_.path() / "kept.json").string());
    const Options work{"--input",  "memory:7", "--width",      "101", "--height",    "57",
                       "--levels", "3",        "--warps",      "2",   "--alpha",     "0.01",
                       "--filter", "exact",    "--iterations", "24",  "--in-flight", "3"};
    const Options both{"--devices", "cpu,opencl:pocl"};
    const json expected = report_of(work).at("norms");
    ASSERT_EQ(expected.size(), 6U);
    EXPECT_GT(expected.at(0), 10);
    const auto expect_same = [&](const Options& how) {
        SCOPED_TRACE(json(how).dump());
        json report = report_of(work + how);
        const json& found = report.at("norms");
        EXPECT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
            EXPECT_NEAR(found.at(i).get<double>() / expected.at(i).get<double>(), 1, 1e-4) << i;
        return report;
    };
    expect_same({"--devices", "opencl:pocl"});
    expect_same({"--mode", "sync"});
    const Options copies{"--devices", test::two_private_cpus};
    expect_same(copies + Options{"--cut", "0:0,1;1:2,1"});
    expect_same(copies + Options{"--cut", "0:2,0,8;1:2,1", "--mode", "sync"});
    expect_same(copies + Options{"--map", "whole"});
    const json cut = expect_same(both + Options{"--cut", "0:0,1;1:2,1"});
    const std::string parts = cut.at("parts");
    EXPECT_TRUE(parts.starts_with("cpu: ")) << parts;
    EXPECT_NE(parts.find("; opencl:"), std::string::npos) << parts;
    EXPECT_EQ(cut.at("part_seconds").size(), 2U);
    EXPECT_EQ(cut.at("mapping"), "parts");
    EXPECT_NE(cut.at("part_times").get<std::string>().find("; opencl:"), std::string::npos);
    for (const json& device : cut.at("devices")) EXPECT_GT(device.at("requests"), 0);
    expect_same(both + Options{"--cut", "1:1,0;0:2,1"});
    expect_same(both + Options{"--cut", "0:2,0,8;1:2,1", "--mode", "sync"});
    const json whole = expect_same(both + Options{"--map", "whole"});
    EXPECT_FALSE(whole.contains("parts"));
    const auto expect_shares = [&](const json& report, std::size_t devices) {
        SCOPED_TRACE(report.dump());
        EXPECT_EQ(report.at("mapping"), "whole");
        const auto pairs = report.at("share_items").get<std::vector<double>>();
        EXPECT_EQ(pairs.size(), devices);
        EXPECT_EQ(std::accumulate(pairs.begin(), pairs.end(), 0.0), 6);
        EXPECT_EQ(report.at("share_seconds").size(), devices);
        EXPECT_TRUE(report.at("shares").get<std::string>().starts_with("cpu: "));
    };
    expect_shares(whole, 2);
    const json first = expect_same(both + Options{"--map", "first"});
    expect_shares(first, 1);
    EXPECT_GT(first.at("share_seconds").at(0), 0);

    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "kept.json")) << "nobody asked for measurements";
    EXPECT_TRUE(expect_same(both + Options{"--map", "parts"}).contains("parts"));
    // Of each device, pieces of which each was measured once; and what items took while the stream ran.
    const auto measured = [this] {
        json pieces;
        const json entries = json::parse(content("kept.json")).at("entries");
        for (const json& entry : entries)
            if (std::string(entry.at("kernel")).ends_with(", in a stream"))
                EXPECT_TRUE(entry.contains("seconds")) << entry;
            else
                pieces.push_back(entry);
        return pieces;
    };
    const json pieces = measured();
    EXPECT_GE(pieces.size(), 2U * 3 * 2 * 3);
    for (const json& entry : pieces) EXPECT_EQ(entry.at("units_per_second").size(), 1U) << entry;
    const json second = expect_same(both + Options{"--map", "auto"});
    EXPECT_EQ(measured(), pieces) << "what is known was measured again";
    EXPECT_GT(second.at("speed_up"), 0);
    if (second.at("mapping") == "whole") {
        expect_shares(second, 2);
        for (const json& seconds : second.at("share_seconds_predicted")) EXPECT_GT(seconds, 0);
    } else {
        EXPECT_EQ(second.at("mapping"), "parts");
        EXPECT_TRUE(second.contains("fill_seconds") && second.contains("drain_seconds"));
    }
    EXPECT_GE(second.at("expected_speed_up"), 1);
}

TEST_F(OpticalFlowProgram, AGanttChartShowsPairsAndHowWellTheyWereDivided) {
    HEADRACE_SKIP_WITHOUT("cpu,opencl:pocl");
    const test::EnvironmentVariable kept("HEADRACE_CALIBRATIONS", (folder_.path() / "kept.json").string());
    const Options work = little + Options{"--input", "memory:5", "--width",   "320",       "--height",
                                          "240",     "--gantt",  "chart.svg", "--devices", "cpu,opencl:pocl"};
    const auto expect = [&](const Options& how, std::initializer_list<std::string> words) {
        SCOPED_TRACE(json(how).dump());
        static_cast<void>(report_of(work + how));
        const std::string chart = content("chart.svg");
        for (const std::string& word : words) EXPECT_NE(chart.find(word), std::string::npos) << word;
    };
    expect({"--cut", "0:1,1;1:2,1"}, {">4 items in ", "no S, since what pieces take is not known"});
    static_cast<void>(report_of(work + Options{"--map", "parts"}));
    expect({"--cut", "0:1,1;1:2,1"}, {">part 1 of 2 of item 0", ">part 1 of 2 of item 3",
                                      ">part 2 of 2 of item 0", ">part 2 of 2 of item 3", ">4 items in ",
                                      ": S = ", ", Se = ", ", efficiency ", "; filled in ", ", drained in "});
    expect({"--map", "whole"},
           {">whole item 0", ">whole item 3", ">4 items in ", ": S = ", ", Se = ", ", efficiency "});
}

TEST_F(OpticalFlowProgram, MemoryDoesNotGrowWithTheStream) {
    if (test::under_address_sanitizer) GTEST_SKIP() << "the sanitizer keeps what was freed";
    const auto peak = [&](const char* frames, const Options& how) {
        const Outcome outcome = run(how + Options{"--input", std::string("memory:") + frames, "--width", "16",
                                                  "--height", "12", "--levels", "2", "--warps", "1",
                                                  "--iterations", "2", "--quiet", "--report", "report.json"});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        EXPECT_EQ(json::parse(content("report.json")).at("norms").size() + 1, std::stoul(frames));
        return outcome.peak_memory;
    };
    constexpr std::size_t mebibyte = 1 << 20;
    for (const Options& how : {Options{}, Options{"--cut", "0:1,0"}, Options{"--mode", "sync"}}) {
        const std::size_t some = peak("1000", how), many = peak("10000", how);
        EXPECT_GT(some, mebibyte);
        EXPECT_LT(many, some + 4 * mebibyte) << json(how); // norms and their text are some 300 KB
    }
}

// ---- what can be wrong

TEST_F(OpticalFlowProgram, ABrokenFrameIsAFailureAfterThePairsBefore) {
    const std::string names = make_pictures({.u = 1}, 5);
    const std::string broken = content("3.png");
    const auto expect_two_pairs = [&](std::initializer_list<const char*> words) {
        for (const char* mode : {"async", "sync"}) {
            std::filesystem::remove_all(folder_.path() / "out");
            expect_refusal(little + Options{"--input", names, "--output-dir", "out", "--output", "out.y4m",
                                            "--mode", mode},
                           words);
            EXPECT_EQ(files_in("out"), files_of(2));
            EXPECT_EQ(content("out.y4m").size(), colour_header + 2 * colour_bytes);
        }
    };
    folder_.write("3.png", broken.substr(0, broken.size() / 2));
    expect_two_pairs({"3.png", "broken"});
    folder_.write("3.png", "no picture");
    expect_two_pairs({"3.png", "PNG"});
    folder_.write("3.png", png_of(width + 1, height, moved(width + 1, height, {}, 0)));
    expect_two_pairs({"3.png", "121 x 88", "120 x 88"});
}

TEST_F(OpticalFlowProgram, OfSeveralFailuresThatOfTheFirstPairIsTold) {
    const std::string names = make_pictures({.u = 1}, 5);
    folder_.write("3.png", "no picture");
    std::filesystem::create_directories(folder_.path() / "out" / "flow_00001.png" / "in the way");
    for (const char* mode : {"async", "sync"}) {
        expect_refusal(little + Options{"--input", names, "--output-dir", "out", "--mode", mode},
                       {"out/flow_00001.png", "writing"}, 1);
        EXPECT_EQ(files_in("out"), files_of(2));
    }
}

TEST_F(OpticalFlowProgram, ABrokenFrameIsTheSameFailureWherePairsAreDivided) {
    HEADRACE_SKIP_WITHOUT("cpu,opencl:pocl");
    const std::string names = make_pictures({.u = 1}, 7);
    folder_.write("5.png", "no picture");
    for (const Options& how :
         {Options{"--cut", "0:1,1;1:2,1"}, Options{"--map", "whole"},
          Options{"--map", "whole", "--at-once", "2"}, Options{"--map", "parts"}, Options{"--map", "auto"}}) {
        SCOPED_TRACE(json(how).dump());
        std::filesystem::remove_all(folder_.path() / "out");
        expect_refusal(little + how +
                           Options{"--devices", "cpu,opencl:pocl", "--input", names, "--output-dir", "out"},
                       {"5.png", "PNG"});
        EXPECT_EQ(files_in("out"), files_of(4));
    }
}

TEST_F(OpticalFlowProgram, AShortVideoIsAFailureAfterItsWholeFrames) {
    const std::string film = film_of(width, height, {.u = 1}, 4);
    const std::size_t header = film.find('\n') + 1, frame = (film.size() - header) / 4;
    folder_.write("short.y4m", film.substr(0, header + 3 * frame + 1000));
    expect_refusal(little + Options{"--input", "short.y4m", "--output", "out.y4m"}, {"short.y4m", "frame 4"},
                   1);
    EXPECT_EQ(content("out.y4m").size(), film_header + 2 * colour_bytes);
    folder_.write("short.y4m", film.substr(0, header + 1000));
    expect_refusal(little + Options{"--input", "short.y4m"}, {"short.y4m", "frame 1"}, 1);
    folder_.write("short.y4m", film.substr(0, header));
    expect_refusal(little + Options{"--input", "short.y4m"}, {"--input", "frame"});
}

TEST_F(OpticalFlowProgram, OneFrameHasNoFlow) {
    static_cast<void>(make_pictures({.u = 1}, 2));
    folder_.write("film.y4m", film_of(width, height, {.u = 1}, 1));
    for (const char* input : {"0.png", "memory:1", "film.y4m"})
        for (const char* mode : {"async", "sync"})
            expect_refusal({"--input", input, "--mode", mode}, {"--input", "two frames"});
    folder_.write("kept.y4m", "precious");
    expect_refusal({"--input", "film.y4m", "--output", "kept.y4m"}, {"--input", "two frames"});
    EXPECT_EQ(content("kept.y4m"), "precious");
    expect_refusal({"--input", "0.png,1.png", "--frames", "1"}, {"--frames", "one frame"});
}

TEST_F(OpticalFlowProgram, WhatIsReadIsNotOverwritten) {
    std::filesystem::create_directory(folder_.path() / "out");
    std::string names;
    for (const char* name : {"out/flow_00000.png", "out/flow_00001.png"}) {
        folder_.write(name, png_of(width, height, moved(width, height, {.u = 1}, 0)));
        names += (names.empty() ? "" : ",") + std::string(name);
    }
    const std::string before = content("out/flow_00000.png");
    expect_refusal(little + Options{"--input", names, "--output-dir", "out"},
                   {"out/flow_00000.png", "--output-dir"});
    EXPECT_EQ(content("out/flow_00000.png"), before);
    expect_success(run(little + Options{"--input", names, "--output-dir", "elsewhere"}));
}

TEST_F(OpticalFlowProgram, PicturesMayBeListedInAnyWay) {
    const std::string names = make_pictures({.u = 1}, 4);
    const json expected = report_of(little + Options{"--input", names}).at("norms");
    EXPECT_EQ(expected.size(), 3U);
    for (const Options& input :
         {Options{"--input", "0.png", "1.png", "2.png", "3.png"},
          Options{"--input", "0.png,1.png", "--input", "2.png", "3.png"},
          Options{"--input", "0.png", "--longest", "2", "--input", "1.png,2.png", "--input", "3.png"}})
        EXPECT_EQ(report_of(little + input).at("norms"), expected) << json(input);
    expect_success(shell("flow --levels 3 --warps 2 --iterations 40 --input *.png --output-dir out"));
    EXPECT_EQ(files_in("out"), files_of(3));
}

TEST_F(OpticalFlowProgram, InputsThatCannotBeUsedSaySo) {
    static_cast<void>(make_pictures({.u = 1}, 2));
    expect_refusal({"--input", "0.png,1.png,.."}, {"..: cannot be read", "directory"});
    folder_.write("noise.y4m", "RIFF\1\2\3AVI \n");
    folder_.write("deep.y4m", "YUV4MPEG2 W64 H48 C420p11\nFRAME\n");
    folder_.write("empty.png", "");
    expect_refusal({}, {"--input"});
    expect_refusal({"--input", "nowhere.y4m"}, {"nowhere.y4m"});
    expect_refusal({"--input", "0.png,nowhere.png"}, {"nowhere.png"});
    folder_.write("film.y4m", film_of(width, height, {.u = 1}, 3));
    expect_refusal({"--input", "0.png,film.y4m"}, {"film.y4m: is a film", "pictures"});
    expect_refusal({"--input", "film.y4m", "0.png"}, {"film.y4m: is a film", "pictures"});
    expect_refusal({"--input", "0.png", "nowhere.y4m"}, {"nowhere.y4m: is a film", "pictures"});
    expect_refusal({"--input", "0.png,,1.png"}, {"comma"});
    expect_refusal({"--input", "noise.y4m"}, {"noise.y4m", "YUV4MPEG2"});
    expect_refusal({"--input", "deep.y4m"}, {"deep.y4m", "C420p11"});
    expect_refusal({"--input", "-"}, {"standard input", "empty"});
    expect_refusal({"--input", "empty.png,0.png"}, {"empty.png", "is empty"});
    expect_refusal({"--input", "."}, {"directory"});
    for (const char* count : {"memory:0", "memory:", "memory:x", "memory:-1"})
        expect_refusal({"--input", count}, {"memory:"});
}

TEST_F(OpticalFlowProgram, OptionsThatCannotBeUsedSaySo) {
    folder_.write("out.y4m", "what was here");
    const auto refuse = [&](const char* option, const char* value, std::initializer_list<const char*> words) {
        SCOPED_TRACE(std::string(option) + " " + value);
        expect_refusal({"--input", "memory:3", "--width", "32", "--height", "24", "--warps", "2",
                        "--iterations", "20", "--levels", "3", "--output", "out.y4m", option, value},
                       words);
        EXPECT_EQ(content("out.y4m"), "what was here");
    };
    refuse("--cut", "0:3,0", {"--cut", "0, the coarsest, to 2"});
    refuse("--cut", "0:2,2", {"--cut", "warps are 0 to 1"});
    refuse("--cut", "0:2,1,7", {"--cut", "level 2", "8, 16, 20"});
    refuse("--cut", "0:2", {"--cut", "0:2", "DEVICE:LEVEL,WARP"});
    refuse("--cut", "zero", {"--cut", "zero"});
    refuse("--cut", "0:-1,0", {"--cut", "-1"});
    refuse("--cut", "1:2,1", {"--cut", "device 1", "--devices"});
    refuse("--cut", "0:0,1", {"--cut", "nobody's", "DEVICE:2,1"});
    refuse("--cut", "0:0,1;0:2,1", {"--cut", "device 0", "two parts"});
    refuse("--map", "best", {"--map", "auto"});
    refuse("--filter", "cubic", {"--filter", "hardware"});
    refuse("--alpha", "0", {"--alpha"});
    refuse("--alpha", "nan", {"--alpha"});
    refuse("--longest", "-1", {"--longest"});
    refuse("--frames", "-1", {"--frames"});
    refuse("--in-flight", "-1", {"--in-flight"});
    refuse("--devices", "abacus", {"abacus"});
    HEADRACE_SKIP_WITHOUT("cpu,opencl:pocl");
    expect_refusal(
        {"--input", "memory:3", "--devices", "cpu,opencl:pocl", "--levels", "3", "--cut", "0:2,0;1:0,1"},
        {"--cut", "device 1", "nothing"});
}

TEST_F(OpticalFlowProgram, OutputsThatCannotBeWrittenSaySo) {
    folder_.write("film.y4m", film_of(width, height, {.u = 1}, 3));
    const std::string film = content("film.y4m");
    const Options work = little + Options{"--input", "film.y4m"};
    expect_refusal(work + Options{"--output-dir", "film.y4m"}, {"film.y4m", "folder"}, 1);
    expect_refusal(work + Options{"--output-dir", "film.y4m/out"}, {"film.y4m/out", "folder"}, 1);
    expect_refusal(work + Options{"--output-dir", "/proc/self"}, {"/proc/self/flow_00000.flo", "writing"}, 1);
    expect_refusal(work + Options{"--output", "nowhere/out.y4m"}, {"nowhere/out.y4m"});
    expect_refusal(work + Options{"--report", "nowhere/out.json"}, {"nowhere/out.json"});
    expect_refusal(work + Options{"--output", "/dev/full"}, {"/dev/full", "writing", "space"}, 1);
    expect_refusal(work + Options{"--output", "film.y4m"}, {"film.y4m", "is read"});
    EXPECT_EQ(content("film.y4m"), film);

    std::filesystem::create_directories(folder_.path() / "out" / "flow_00001.png" / "in the way");
    expect_refusal(work + Options{"--output-dir", "out"}, {"out/flow_00001.png", "writing"}, 1);
    EXPECT_EQ(files_in("out"), files_of(2)) << "half a file";
}

/// A limit for files stands in for a disk that has no room left.
TEST_F(OpticalFlowProgram, ADiskThatFillsIsAFailureAfterThePairsBefore) {
    const auto room = colour_header + 3 * colour_bytes + colour_bytes / 2;
    const Outcome outcome = shell("trap '' XFSZ; ulimit -f " + std::to_string(room / 512) + // blocks
                                  "; flow --input memory:9 --width 120 --height 88 --levels 2 --warps 1 "
                                  "--iterations 4 --output out.y4m --output-dir out");
    expect_words(outcome, {"out.y4m", "writing", "large"}, 1);
    const std::size_t written = content("out.y4m").size();
    EXPECT_GE(written, colour_header + 3 * colour_bytes);
    EXPECT_LE(written, room);
    EXPECT_EQ(files_in("out"), files_of(4)) << "the pair that the video has no room for has its files";
}

TEST_F(OpticalFlowProgram, AReaderThatLeavesIsAFailureWithWords) {
    for (const char* frames : {"0", "200000"}) {
        const Outcome outcome =
            shell("(flow --input memory:200000 --output - --width 320 --height 240 --levels 2 --warps 1 "
                  "--iterations 1 2>errors; echo $? >code) | head -c " +
                  std::string(frames) + " >part.y4m; cat errors >&2");
        EXPECT_EQ(content("code"), "1\n");
        EXPECT_EQ(content("part.y4m").size(), std::stoul(frames));
        expect_words(outcome, {"standard output", "reads"}, 0);
    }
}

} // namespace
} // namespace headrace::end_to_end
