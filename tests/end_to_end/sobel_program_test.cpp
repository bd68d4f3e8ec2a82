// headrace-sobel as a user runs it: files, pipes and memory on either side, and what can be wrong with them.
#include "end_to_end/one_program.hpp"

#include <devices/two_private_cpus.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace headrace::end_to_end {
namespace {

using Options = std::vector<std::string>;

class SobelProgram : public OneProgram {
protected:
    SobelProgram() : OneProgram(HEADRACE_SOBEL, "sobel") {}

    /// film.y4m of so many frames, each of `frame_bytes` with its header.
    void make_film(int frames) const {
        std::string film = "YUV4MPEG2 W64 H48 F25:1 Ip A1:1 C420mpeg2\n";
        std::uint32_t state = 1;
        for (int i = 0; i < frames; ++i) {
            film += "FRAME\n";
            for (std::size_t byte = 0; byte < frame_bytes - 6; ++byte)
                film.push_back(static_cast<char>((state = state * 1664525U + 1013904223U) >> 26));
        }
        folder_.write("film.y4m", film);
    }

    static constexpr std::size_t header_bytes = 42, frame_bytes = 6 + 64 * 48 * 3 / 2;
};

TEST_F(SobelProgram, FilesAndPipesGiveTheSame) {
    make_film(20);
    expect_success(run({"--input", "film.y4m", "--output", "file.y4m"}));
    const std::string edges = content("file.y4m");
    EXPECT_EQ(edges.size(), header_bytes + 20 * frame_bytes);
    EXPECT_EQ(edges.substr(0, header_bytes), content("film.y4m").substr(0, header_bytes));
    for (const char* command :
         {"cat film.y4m | sobel --input - --output - | cat >pipe.y4m",
          "sobel --input - --output - <film.y4m >pipe.y4m",
          "sobel --input film.y4m --output pipe.y4m --mode sync",
          "sobel --input film.y4m --output pipe.yuv && sobel --input film.y4m --output pipe.y4m "
          "--in-flight 2",
          "mkfifo in out; cat film.y4m >in & cat out >pipe.y4m & sobel --input in --output out; wait"}) {
        expect_success(shell(command));
        EXPECT_EQ(content("pipe.y4m"), edges) << command;
    }
    for (const char* mode : {"async", "sync"}) {
        expect_success(run({"--devices", test::two_private_cpus, "--input", "film.y4m", "--output",
                            "copies.y4m", "--mode", mode}));
        EXPECT_EQ(content("copies.y4m"), edges) << mode;
    }
}

/// The top field is black; the bottom one is black down to row 7 and white from row 9 on.
std::string combed_film(const std::string& interlacing, const std::string& parameters) {
    std::string film = "YUV4MPEG2 W16 H16 F25:1 " + interlacing + " Cmono\nFRAME" + parameters + "\n";
    for (int y = 0; y < 16; ++y) film.append(16, y % 2 == 1 && y > 8 ? '\x50' : '\0');
    return film;
}

TEST_F(SobelProgram, FieldsAreFilteredApart) {
    for (const std::string devices : {"cpu", test::two_private_cpus, "opencl:pocl"})
        for (const std::string interlacing : {"Ip", "It", "Ib", "Im"}) {
            SCOPED_TRACE(devices + " " + interlacing);
            const std::string film = combed_film(interlacing, " Itii Xparameter=" + std::string(300, 'x'));
            folder_.write("film.y4m", film);
            const Outcome outcome = run({"--devices", devices, "--input", "film.y4m", "--output", "out.y4m"});
            expect_success(outcome);
            const std::size_t first = film.size() - 16 * 16; // of the pixels
            std::string expected = film.substr(0, first);
            const bool has_fields = interlacing == "It" || interlacing == "Ib";
            for (int y = 0; y < 16; ++y) { // between rows 7 and 9 of the field; of whole frames, around row 8
                const bool is_edge = has_fields ? y == 7 || y == 9 : y == 8;
                expected += '\0' + std::string(14, is_edge ? '\xff' : '\0') + '\0';
            }
            EXPECT_EQ(content("out.y4m"), expected);
            EXPECT_EQ(outcome.errors.find("(Im)") != std::string::npos, interlacing == "Im");
        }
}

TEST_F(SobelProgram, TenBitsAreKept) {
    // Columns of 100 and of 600: a gradient of 4 * 500, cut at 1023.
    std::string film = "YUV4MPEG2 W8 H5 F25:1 Ip C420p10 XYSCSS=420P10\n";
    const std::size_t header = film.size();
    const auto add = [](std::string& bytes, int sample) {
        bytes += {static_cast<char>(sample % 256), static_cast<char>(sample / 256)};
    };
    std::string expected = film;
    for (int frame = 0; frame < 3; ++frame) {
        const int step = frame == 0 ? 500 : 100 * frame;
        film += "FRAME\n";
        expected += "FRAME\n";
        for (int y = 0; y < 5; ++y)
            for (int x = 0; x < 8; ++x) {
                add(film, x < 4 ? 100 : 100 + step);
                add(expected, y > 0 && y < 4 && (x == 3 || x == 4) ? std::min(4 * step, 1023) : 0);
            }
        for (int i = 0; i < 2 * 4 * 3; ++i) {
            add(film, 512);
            add(expected, 0);
        }
    }
    folder_.write("film.y4m", film);
    for (const std::string devices : {"cpu", test::two_private_cpus, "opencl:pocl"})
        for (const char* mode : {"async", "sync"}) {
            expect_success(
                run({"--devices", devices, "--input", "film.y4m", "--output", "out.y4m", "--mode", mode}));
            EXPECT_EQ(content("out.y4m"), expected) << devices;
        }
    folder_.write("film.y4m", film.substr(0, film.size() - 1));
    expect_refusal({"--input", "film.y4m", "--output", "out.y4m"}, {"film.y4m", "frame 3"}, 1);
    EXPECT_EQ(content("out.y4m").size(), header + 2 * (6 + 2 * (8 * 5 + 2 * 4 * 3)));
}

TEST_F(SobelProgram, PicturesMayHaveNumbersInTheirNames) {
    // Red steps up in the middle by 10 to 12, green is flat, blue steps by 100: gradients of 4 times as much,
    // cut.
    const auto ppm = [](const char* maximum, auto&& pixel) {
        std::string bytes = std::string("P6\n6 4\n") + maximum + "\n";
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 6; ++x) bytes += pixel(y, x);
        return bytes;
    };
    const auto file = [](const char* name, int number) { return name + std::to_string(number) + ".ppm"; };
    const auto edges = [&](int step) {
        return ppm("255", [&](int y, int x) {
            const bool is_edge = (y == 1 || y == 2) && (x == 2 || x == 3);
            return is_edge ? std::string{static_cast<char>(4 * step), '\0', '\xff'} : std::string(3, '\0');
        });
    };
    for (int number = 9; number < 12; ++number)
        folder_.write(
            file("in_", number), ppm("255", [&](int, int x) {
                return x < 3 ? std::string{5, 7, 0} : std::string{static_cast<char>(6 + number), 7, 100};
            }));
    for (const std::string devices : {"cpu", test::two_private_cpus, "opencl:pocl"}) {
        expect_success(run({"--devices", devices, "--input", "in_%d.ppm", "--output", "out_%d.ppm"}));
        for (int number = 9; number < 12; ++number)
            EXPECT_EQ(content(file("out_", number)), edges(1 + number));
    }
    expect_success(
        run({"--input", "out_%d.ppm", "--output", "png_%02d.png", "--start", "10", "--frames", "1"}));
    EXPECT_EQ(content("png_10.png").substr(1, 3), "PNG");
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "png_09.png"));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "png_11.png"));

    expect_refusal({"--input", "in_%d.ppm", "--output", "out.y4m"}, {"out.y4m", "edges_%04d.png"});
    expect_refusal({"--input", "in_%d.ppm", "--output", "out_%d.pgm"}, {"out_9.pgm", "RGB", ".ppm"});
    expect_refusal({"--input", "in_%d.ppm", "--output", "in_%d.ppm"}, {"in_9.ppm", "--output"});
    expect_refusal({"--input", "in_%d.ppm", "--output", "out_%d.ppm", "--start", "8"}, {"in_8.ppm"});
    folder_.write("deep_1.pgm", "P5 2 1 1023 \x01\x02\x03\x04");
    expect_refusal({"--input", "deep_%d.pgm", "--output", "o_%d.png"}, {"o_1.png", "8 bits", ".pgm"});
    expect_success(run({"--input", "deep_%d.pgm", "--output", "o_%d.pgm"}));
    EXPECT_EQ(content("o_1.pgm"), "P5\n2 1\n1023\n" + std::string(4, '\0'));
    const std::string row{0, 0, 15, 15};
    // Edges are cut at the brightest sample that the file declares, and all frames declare the same.
    folder_.write("dim_1.pgm", "P5 4 3 15 " + row + row + row);
    expect_success(run({"--input", "dim_%d.pgm", "--output", "e_%d.pgm"}));
    EXPECT_EQ(content("e_1.pgm"), "P5\n4 3\n15\n" + std::string(5, '\0') + "\x0f\x0f" + std::string(5, '\0'));
    folder_.write("dim_2.pgm", "P5 4 3 16 " + std::string(12, '\0'));
    expect_refusal({"--input", "dim_%d.pgm", "--output", "f_%d.pgm"}, {"dim_2.pgm", "up to 16", "up to 15"});
    make_film(1);
    expect_refusal({"--input", "film.y4m", "--output", "out_%d.png"}, {"out_0.png", ".y4m"});
    expect_refusal({"--input", "film.y4m", "--output", "o.y4m", "--start", "1"}, {"--start 1"});
    std::filesystem::remove(folder_.path() / "in_10.ppm");
    expect_refusal({"--input", "in_%d.ppm", "--output", "out_%d.ppm"}, {"in_10.ppm: is missing"});
    folder_.write("in_10.ppm", "P6 2 2 255 ");
    expect_refusal({"--input", "in_%d.ppm", "--output", "new_%d.ppm"}, {"in_10.ppm", "0 of its 12"});
    EXPECT_EQ(content("new_9.ppm"), edges(10));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "new_10.ppm"));
}

TEST_F(SobelProgram, PicturesKeepTheirMaximum) {
    // A step in the middle: a gradient of 4 times as much, cut at the maximum.
    const auto pgm = [](int maximum, int left, int right) {
        std::string bytes = "P5\n6 4\n" + std::to_string(maximum) + "\n";
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 6; ++x) {
                const bool is_edge = (y == 1 || y == 2) && (x == 2 || x == 3);
                const int sample = left >= 0 ? (x < 3 ? left : right) : is_edge ? right : 0;
                if (maximum > 255) bytes += static_cast<char>(sample / 256);
                bytes += static_cast<char>(sample % 256);
            }
        return bytes;
    };
    for (const auto& [maximum, step] :
         {std::pair{15, 2}, {15, 5}, {100, 20}, {100, 60}, {1000, 200}, {1000, 700}}) {
        folder_.write("in_1.pgm", pgm(maximum, 1, 1 + step));
        for (const std::string devices : {"cpu", test::two_private_cpus, "opencl:pocl"}) {
            expect_success(run({"--devices", devices, "--input", "in_%d.pgm", "--output", "out_%d.pgm"}));
            EXPECT_EQ(content("out_1.pgm"), pgm(maximum, -1, std::min(4 * step, maximum)))
                << maximum << ' ' << step << ' ' << devices;
        }
    }
    folder_.write("in_1.pgm", pgm(100, 1, 50));
    expect_refusal({"--input", "in_%d.pgm", "--output", "o_%d.png"}, {"o_1.png", "up to 100", ".pgm"});
    folder_.write("in_2.pgm", pgm(200, 1, 50));
    expect_refusal({"--input", "in_%d.pgm", "--output", "o_%d.pgm"}, {"in_2.pgm", "up to 200", "in_1.pgm"});
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "o_2.pgm"));
}

TEST_F(SobelProgram, FilmsMayHavePerCentSignsInTheirNames) {
    make_film(2);
    expect_success(run({"--input", "film.y4m", "--output", "plain.y4m"}));
    for (const char* name : {"take%201.y4m", "50%done.y4m", "a%", "%d%d"}) {
        std::filesystem::copy_file(folder_.path() / "film.y4m", folder_.path() / name);
        const std::string output = std::string("edges_") + name;
        expect_success(run({"--input", name, "--output", output}));
        EXPECT_EQ(content(output), content("plain.y4m")) << name;
    }
    expect_refusal({"--input", "absent%s.png", "--output", "o.y4m"}, {"absent%s.png", "%04d"});
}

TEST_F(SobelProgram, AShellsPipesAreFilms) {
    make_film(3);
    expect_success(run({"--input", "film.y4m", "--output", "file.y4m"}));
    expect_success(shell("bash -c '\"" HEADRACE_SOBEL "\" --devices cpu --input <(cat film.y4m) --output "
                         ">(cat >pipe.y4m) && wait $!'"));
    EXPECT_EQ(content("pipe.y4m"), content("file.y4m"));
}

TEST_F(SobelProgram, RawFramesAreTheSameWithoutHeaders) {
    make_film(3);
    std::string raw;
    for (std::size_t i = 0; i < 3; ++i)
        raw += content("film.y4m").substr(header_bytes + i * frame_bytes + 6, frame_bytes - 6);
    folder_.write("film.yuv", raw);
    const Options size{"--width", "64", "--height", "48"};
    const auto with_size = [&](Options options) {
        options.insert(options.end(), size.begin(), size.end());
        return options;
    };
    expect_success(run({"--input", "film.y4m", "--output", "from_y4m.yuv"}));
    expect_success(run(with_size({"--input", "film.yuv", "--output", "from_raw.yuv"})));
    EXPECT_EQ(content("from_raw.yuv"), content("from_y4m.yuv"));
    EXPECT_EQ(content("from_raw.yuv").size(), raw.size());
    expect_success(run(with_size({"--input", "film.yuv", "--output", "out.y4m"})));
    expect_success(run({"--input", "film.y4m", "--output", "again.y4m"}));
    EXPECT_EQ(content("out.y4m").substr(content("out.y4m").find('\n')),
              content("again.y4m").substr(content("again.y4m").find('\n')));
}

TEST_F(SobelProgram, MemoryOnEitherSideGivesTheSameInEveryMode) {
    std::vector<std::string> sums;
    for (const char* output : {"memory:6", "memory:20"})
        for (const char* input : {"memory:6", "copied:6"})
            for (const auto& [mode, devices] :
                 {std::pair{"async", "cpu"}, {"sync", "cpu"}, {"async", test::two_private_cpus}}) {
                expect_success(
                    run({"--devices", devices, "--input", input, "--output", output, "--frames", "6",
                         "--width", "101", "--height", "57", "--mode", mode, "--report", "report.json"}));
                const auto report = nlohmann::json::parse(content("report.json"));
                EXPECT_EQ(report.at("frames"), 6);
                EXPECT_EQ(report.at("mode"), mode);
                EXPECT_GT(report.at("seconds"), 0);
                sums.push_back(report.at("checksum").dump());
            }
    EXPECT_EQ(std::count(sums.begin(), sums.end(), sums.front()), static_cast<std::ptrdiff_t>(sums.size()));
    expect_success(run({"--input", "memory:6", "--output", "a.yuv", "--width", "101", "--height", "57"}));
    expect_success(run({"--input", "copied:6", "--output", "b.yuv", "--width", "101", "--height", "57"}));
    EXPECT_EQ(content("a.yuv"), content("b.yuv"));
    EXPECT_EQ(content("a.yuv").size(), 6U * (101 * 57 + 2 * 51 * 29));
}

TEST_F(SobelProgram, StandardOutputHoldsTheStreamAlone) {
    make_film(2);
    const Outcome outcome = run({"--input", "film.y4m", "--output", "-"});
    expect_success(outcome);
    EXPECT_EQ(outcome.output.size(), header_bytes + 2 * frame_bytes);
    EXPECT_NE(outcome.errors.find("frames 2"), std::string::npos) << "no report";
}

TEST_F(SobelProgram, AShortStreamIsAFailureAfterItsWholeFrames) {
    make_film(10);
    expect_success(run({"--input", "film.y4m", "--output", "whole.y4m"}));
    for (const std::size_t frames : {0, 1, 4, 9}) {
        const std::size_t length = header_bytes + frames * frame_bytes + 1000;
        folder_.write("short.y4m", content("film.y4m").substr(0, length));
        for (const char* mode : {"async", "sync"}) {
            const std::string which = "frame " + std::to_string(frames + 1);
            expect_refusal({"--input", "short.y4m", "--output", "out.y4m", "--mode", mode},
                           {"short.y4m", which.c_str()}, 1);
            EXPECT_EQ(content("out.y4m"),
                      content("whole.y4m").substr(0, header_bytes + frames * frame_bytes));
        }
    }
}

TEST_F(SobelProgram, AReaderThatLeavesIsAFailureWithWords) {
    const Outcome outcome =
        shell("(sobel --input memory:4 --frames 100000000 --output - --width 320 --height 240 "
              "2>errors; echo $? >code) | head -c 500000 >part.y4m; cat errors >&2");
    EXPECT_EQ(content("code"), "1\n");
    EXPECT_EQ(content("part.y4m").size(), 500000U);
    expect_words(outcome, {"standard output", "reads"}, 0);
}

TEST_F(SobelProgram, AHeaderWithoutFramesIsAFilmWithoutFrames) {
    make_film(0);
    expect_success(run({"--input", "film.y4m", "--output", "out.y4m"}));
    EXPECT_EQ(content("out.y4m"), content("film.y4m"));
}

TEST_F(SobelProgram, InputsThatCannotBeUsedLeaveTheOutputAlone) {
    make_film(2);
    folder_.write("out.y4m", "what was here");
    folder_.write("empty.y4m", "");
    folder_.write("noise.y4m", "RIFF\1\2\3AVI \n");
    folder_.write("odd.y4m", "YUV4MPEG2 W64 H48 CRGB24\nFRAME\n");
    folder_.write("huge.y4m", "YUV4MPEG2 W99999999 H48\nFRAME\n");
    folder_.write("large.y4m", "YUV4MPEG2 W65535 H65535 C444\nFRAME\n");
    const auto refuse = [&](const char* input, std::initializer_list<const char*> words) {
        expect_refusal({"--input", input, "--output", "out.y4m", "--in-flight", "1024"}, words);
    };
    refuse("nowhere.y4m", {"nowhere.y4m"});
    refuse(".", {"directory"});
    refuse("empty.y4m", {"empty.y4m", "empty"});
    refuse("noise.y4m", {"noise.y4m", "YUV4MPEG2", "--width"});
    refuse("odd.y4m", {"odd.y4m", "CRGB24"});
    refuse("huge.y4m", {"huge.y4m", "99999999"});
    refuse("large.y4m", {"GB"});
    refuse("out.y4m", {"out.y4m"});
    EXPECT_EQ(content("out.y4m"), "what was here");
    expect_refusal({"--input", "film.y4m", "--output", "film.y4m"}, {"film.y4m", "is read"});
    EXPECT_EQ(content("film.y4m").size(), header_bytes + 2 * frame_bytes);
}

TEST_F(SobelProgram, OptionsThatCannotBeUsedSaySo) {
    make_film(2);
    expect_refusal({"--output", "out.y4m"}, {"--input"});
    expect_refusal({"--input", "film.y4m"}, {"--output"});
    expect_refusal({"--input", "film.y4m", "--output", "nowhere/out.y4m"}, {"nowhere/out.y4m"});
    expect_refusal({"--input", "film.y4m", "--output", "."}, {"directory"});
    for (const char* count : {"memory:0", "memory:", "memory:x", "copied:-1", "memory:9999999"}) {
        expect_refusal({"--input", count, "--output", "out.y4m"}, {"--input"});
        expect_refusal({"--input", "film.y4m", "--output", count}, {"--output"});
    }
    expect_refusal({"--input", "film.y4m", "--output", "out.y4m", "--width", "64"}, {"64 x 0"});
    expect_refusal({"--input", "film.y4m", "--output", "out.y4m", "--frames", "-1"}, {"--frames"});
    expect_refusal({"--input", "film.y4m", "--output", "out.y4m", "--in-flight", "1"}, {"--in-flight"});
    expect_refusal({"--input", "film.y4m", "--output", "out.y4m", "--mode", "fast"}, {"--mode"});
}

} // namespace
} // namespace headrace::end_to_end
