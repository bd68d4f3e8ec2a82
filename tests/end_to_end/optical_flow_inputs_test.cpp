// What headrace-optical-flow reads: deep and interlaced videos, pictures with numbers in their names, known
// flow.
#include "end_to_end/optical_flow_program.hpp"

namespace headrace::end_to_end {
namespace {

TEST_F(OpticalFlowProgram, TenBitsAndInterlacedVideosAreRead) {
    const std::string film = film_of(width, height, {.u = 1.5}, 3);
    std::string deep = "YUV4MPEG2 W120 H88 F25:1 It Cmono10\n"; // the same luma, to rounding
    for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t pixels = width * height;
        const std::size_t frame = film.size() - (3 - i) * (film.size() - film.find("FRAME")) / 3 + 6;
        deep += "FRAME Itii Xmany=" + std::string(200, 'x') + "\n";
        for (const unsigned char pixel : film.substr(frame, pixels)) {
            const int sample = (pixel * 1023 + 127) / 255;
            deep += {static_cast<char>(sample % 256), static_cast<char>(sample / 256)};
        }
    }
    folder_.write("film.y4m", film);
    folder_.write("deep.y4m", deep);
    const json eight = report_of(little + Options{"--input", "film.y4m", "--frames", "2"});
    const Outcome outcome = run(little + Options{"--input", "deep.y4m", "--report", "report.json"});
    expect_success(outcome);
    const json ten = json::parse(content("report.json"));
    EXPECT_NE(outcome.errors.find("deep.y4m: is interlaced (top field first)"), std::string::npos);
    const double norm = eight.at("norms").at(0);
    EXPECT_GT(norm, 50);                                   // 10560 vectors of about 1.5
    EXPECT_NEAR(ten.at("norms").at(0), norm, 0.01 * norm); // samples differ by an eighth of a 255th
}

/// Flow of (u, v) everywhere.
std::string flo_of(int width, int height, float u, float v) {
    std::string bytes = "PIEH";
    const auto append = [&bytes](const auto& value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    append(std::int32_t{width});
    append(std::int32_t{height});
    for (int i = 0; i < width * height; ++i) {
        append(u);
        append(v);
    }
    return bytes;
}

TEST_F(OpticalFlowProgram, TheTruthTellsHowFarTheFlowIsFromIt) {
    const std::string names = make_pictures({.u = 1.5, .v = -0.5}, 3);
    const Options work{"--input", names, "--levels", "3", "--iterations", "300", "--alpha", "0.1"};
    folder_.write("true.flo", flo_of(width, height, 1.5f, -0.5f));
    folder_.write("off.flo", flo_of(width, height, 4.5f, 3.5f)); // by 5 pixels
    std::string half = flo_of(width, height, 1e10f, 0);          // known in the first row alone
    half.replace(12, width * 8, flo_of(width, 1, 1.5f, -0.5f).substr(12));
    folder_.write("half.flo", half);
    for (const std::string devices : {"cpu", "opencl:pocl", test::two_private_cpus}) {
        SCOPED_TRACE(devices);
        const auto found = [&](const Options& truth) {
            return report_of(work + Options{"--devices", devices} + truth);
        };
        const json both = found({"--truth", "true.flo", "off.flo"});
        EXPECT_LT(both.at("end_point_errors").at(0), 0.15); // as README says of such a texture
        EXPECT_GT(both.at("end_point_errors").at(0), 0.001);
        EXPECT_NEAR(both.at("end_point_errors").at(1), 5, 0.15);
        EXPECT_EQ(both.at("shares_above_3_px"), (json{0.0, 1.0}));
        EXPECT_NEAR(both.at("end_point_error"), 2.5, 0.15);
        EXPECT_EQ(both.at("share_above_3_px"), 0.5);
        EXPECT_LT(found({"--truth", "half.flo"}).at("end_point_error"), 0.6); // at the picture's edge
    }
    EXPECT_FALSE(report_of(work).contains("end_point_error"));
    const Outcome table = run(work + Options{"--truth", "true.flo"});
    EXPECT_NE(table.output.find("end_point_error 0."), std::string::npos) << table.output;
    folder_.write("wide.flo", flo_of(width + 1, height, 0, 0));
    folder_.write("odd.flo", "PIEX" + std::string(100, ' '));
    folder_.write("short.flo", flo_of(width, height, 0, 0).substr(0, 1000));
    expect_refusal(work + Options{"--truth", "wide.flo"}, {"wide.flo", "121 x 88", "120 x 88"});
    expect_refusal(work + Options{"--truth", "odd.flo"}, {"odd.flo", "no .flo file"});
    expect_refusal(work + Options{"--truth", "short.flo"}, {"short.flo", "1000 bytes"});
    expect_refusal(work + Options{"--truth", "nowhere.flo"}, {"nowhere.flo"});
    expect_refusal(work + Options{"--truth", "true.flo,true.flo,true.flo"}, {"3 files", "2 pairs"});
    expect_refusal(work + Options{"--truth", "true.flo", "--report", "true.flo"}, {"true.flo"});
}

TEST_F(OpticalFlowProgram, PicturesMayHaveNumbersInTheirNames) {
    static_cast<void>(make_pictures({.u = 1.5}, 4));
    for (int i = 0; i < 4; ++i)
        std::filesystem::rename(folder_.path() / (std::to_string(i) + ".png"),
                                folder_.path() /
                                    ("f_00" + std::to_string(i + 8).insert(0, i < 2 ? "0" : "") + ".png"));
    const Options work = little + Options{"--longest", "2"};
    const json all =
        report_of(work + Options{"--input", "f_%04d.png", "--output", "c_%02d.png", "--output-dir", "out"});
    EXPECT_EQ(all.at("pairs"), 3);
    for (int pair = 0; pair < 3; ++pair)
        EXPECT_EQ(content("c_0" + std::to_string(pair) + ".png"),
                  content("out/flow_0000" + std::to_string(pair) + ".png"));
    EXPECT_EQ(report_of(work + Options{"--input", "f_%04d.png", "--start", "10"}).at("norms").at(0),
              all.at("norms").at(2));
    EXPECT_EQ(report_of(work + Options{"--input", "f_%04d.png", "--frames", "3"}).at("pairs"), 2);
    expect_refusal({"--input", "f_%04d.png", "--start", "7"}, {"f_0007.png", "no such file"});
    expect_refusal({"--input", "f_0008.png,f_0009.png", "--start", "7"}, {"--start 7"});
    expect_refusal({"--input", "g_%04d.png"}, {"g_%04d.png", "no such files"});
    expect_refusal({"--input", "f_%04d.png", "--output", "f_%04d.png"}, {"f_0008.png", "--output"});
    expect_refusal({"--input", "f_%04d.png", "--output", "c_%04d.jpg"}, {"c_0000.jpg", ".png"});
    std::filesystem::remove(folder_.path() / "f_0009.png");
    expect_refusal({"--input", "f_%04d.png"}, {"f_0009.png: is missing", "f_0010.png"});
    folder_.write("f_0009.jpg", "\xff\xd8\xff\xe0 no picture");
    expect_refusal({"--input", "f_0008.png,f_0009.jpg"}, {"f_0009.jpg", "JPEG is broken"});
}

TEST_F(OpticalFlowProgram, NothingIsReadBehindTheFirstPictureOfAPnm) {
    static_cast<void>(make_pictures({.u = 1.5}, 2, true));
    const json files = report_of(little + Options{"--input", "0.pgm,1.pgm"});
    std::string command = within_memory(2) +
                          "cat 0.pgm /dev/zero | \"" HEADRACE_OPTICAL_FLOW
                          "\" --devices cpu --quiet --report report.json --input /dev/stdin,1.pgm";
    for (const std::string& option : little) command += " " + option;
    const Outcome outcome = Program("/bin/sh", {"-c", command}, folder_.path()).wait();
    expect_success(outcome);
    EXPECT_EQ(json::parse(content("report.json")).at("norms"), files.at("norms"));
    expect_words(shell("cat /dev/zero | flow --input /dev/stdin,1.pgm"), {"/dev/stdin", "neither PNG"}, 2);
    folder_.write("huge.pgm", "P5 65535 65535 255 ");
    expect_refusal({"--input", "huge.pgm,1.pgm"}, {"huge.pgm", "0 of its 4294836225"});
}

} // namespace
} // namespace headrace::end_to_end
