// Flow fields come out as vectors, colours and video; what cannot be written is named.
#include "flow_files.hpp"
#include "frame_source.hpp"
#include "program/png.hpp"
#include "truth.hpp"
#include <core/eventually.hpp>
#include <core/open_files.hpp>
#include <core/scratch_folder.hpp>
#include <core/seeds.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace optical_flow {
namespace {

using headrace::Error;
using headrace::ErrorKind;
using headrace::test::eventually;
using headrace::test::open_files;
using headrace::test::ScratchFolder;
using Bytes = std::vector<std::uint8_t>;
using Component = std::vector<float>;

std::string content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

struct Flow {
    Size size;
    Component u, v;
};
Flow random_flow(std::mt19937& random, Size size) {
    Flow flow{size, Component(size.pixels()), Component(size.pixels())};
    std::normal_distribution<float> any(0, 5);
    for (Component* component : {&flow.u, &flow.v})
        for (float& value : *component) value = any(random);
    return flow;
}

Bytes colour_of(float u, float v, float longest) {
    Bytes rgb(3);
    colour({&u, 1}, {&v, 1}, longest, rgb);
    return rgb;
}

Bytes decode(const std::string& png, Size size) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_memory(&image, png.data(), png.size()), 0) << image.message;
    image.format = PNG_FORMAT_RGB;
    EXPECT_EQ((Size{static_cast<int>(image.width), static_cast<int>(image.height)}), size);
    Bytes rgb(PNG_IMAGE_SIZE(image));
    EXPECT_NE(png_image_finish_read(&image, nullptr, rgb.data(), 0, nullptr), 0) << image.message;
    return rgb;
}

TEST(FlowFiles, FloHasTheseBytes) {
    const float u[] = {1, -2}, v[] = {0.5f, 1e10f};
    const unsigned char expected[] = {'P', 'I', 'E',  'H',  2,    0,    0,    0,    1, 0, 0, 0, //
                                      0,   0,   0x80, 0x3f, 0,    0,    0,    0x3f,             // 1, 0.5
                                      0,   0,   0,    0xc0, 0xf9, 0x02, 0x15, 0x50};            // -2, 1e10
    EXPECT_EQ(encode_flo({2, 1}, u, v),
              std::string(reinterpret_cast<const char*>(expected), sizeof expected));
}

TEST(FlowFiles, FloKeepsEveryBit) {
    std::mt19937 random(headrace::test::fresh_seed());
    Flow flow = random_flow(random, {211, 97});
    flow.u[5] = std::numeric_limits<float>::quiet_NaN();
    const std::string bytes = encode_flo(flow.size, flow.u, flow.v);
    ASSERT_EQ(bytes.size(), 12 + 8 * flow.size.pixels());
    for (std::size_t i = 0; i < flow.size.pixels(); ++i) {
        ASSERT_EQ(std::memcmp(&bytes[12 + 8 * i], &flow.u[i], 4), 0) << i;
        ASSERT_EQ(std::memcmp(&bytes[16 + 8 * i], &flow.v[i], 4), 0) << i;
    }
}

/// The true flow (1, 2), but for two pixels; the one that was found is off by 0, 3, 5 and 4e9 in turns.
TEST(FlowTruth, HasEndPointErrorsOfKnownPixels) {
    const Size size{4, 2};
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const std::vector<float> true_u{1, 1, 1, 1, 1e10f, nan, 1, -2e9f}, true_v{2, 2, 2, 2, 2, 2, inf, 2};
    const std::vector<float> u{1, 4, 4, 4e9f, 1, 1, 1, 1}, v{2, 2, 6, 2, 2, 2, 2, 2};
    const std::string flo = encode_flo(size, true_u, true_v);
    const EndPointErrors found = end_point_errors("true.flo", flo, size, u, v);
    EXPECT_EQ(found.known, 4U);
    EXPECT_EQ(found.large, 2U) << "3 is not above 3";
    EXPECT_NEAR(found.mean(), (0 + 3 + 5 + 4e9) / 4, 1);
    EXPECT_EQ(found.share_of_large(), 0.5);
    const auto refused = [&](const std::string& bytes, Size frames, const std::string& words) {
        const std::vector<float> any(frames.pixels());
        try {
            static_cast<void>(end_point_errors("true.flo", bytes, frames, any, any));
            ADD_FAILURE() << words;
        } catch (const headrace::Error& error) {
            EXPECT_TRUE(error.is_users_mistake());
            EXPECT_NE(error.message().find("true.flo: " + words), std::string::npos) << error.message();
        }
    };
    refused("", size, "is no .flo file");
    refused("PIEX" + flo.substr(4), size, "is no .flo file");
    refused(flo.substr(0, 11), size, "ends within its header");
    refused(flo, {2, 4}, "is flow of 4 x 2 pixels; frames have 2 x 4");
    refused(flo.substr(0, flo.size() - 1), size, "has 75 bytes; flow of its size has 76");
    refused(flo + "x", size, "has 77 bytes");
    refused(encode_flo(size, std::vector<float>(8, 1e10f), true_v), size, "knows no pixel's flow");
}

TEST(FlowColours, AreThoseOfTheWheel) {
    EXPECT_EQ(colour_of(1, 0, 1), (Bytes{255, 0, 0})); // right: red
    EXPECT_EQ(colour_of(1, -0.0f, 1), (Bytes{255, 0, 0}));
    EXPECT_EQ(colour_of(0, 1, 1), (Bytes{255, 234, 0}));  // down: 13.75 of 15 steps to yellow
    EXPECT_EQ(colour_of(-1, 0, 1), (Bytes{0, 197, 255})); // left: 2.5 of 11 steps from cyan to blue
    EXPECT_EQ(colour_of(0, -1, 1), (Bytes{103, 0, 255})); // up: 5.25 of 13 steps from blue to magenta
    EXPECT_EQ(colour_of(0, 0, 1), (Bytes{255, 255, 255}));
    EXPECT_EQ(colour_of(0.5f, 0, 1), (Bytes{255, 128, 128}));
    EXPECT_EQ(colour_of(3, 0, 1), (Bytes{191, 0, 0})); // too long: dimmed by 0.75
    // Where the pure colours are, at as many steps as the paper has.
    for (const auto& [steps, pure] : {std::pair(15, Bytes{255, 255, 0}),
                                      {21, {0, 255, 0}},
                                      {25, {0, 255, 255}},
                                      {36, {0, 0, 255}},
                                      {49, {255, 0, 255}}}) {
        const double angle = 2 * 3.14159265358979 * steps / 55;
        const Bytes found =
            colour_of(static_cast<float>(8 * std::cos(angle)), static_cast<float>(8 * std::sin(angle)), 8);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], pure[i], 1) << steps;
    }
}

TEST(FlowColours, HaveNoJumpAllAround) {
    constexpr int steps = 1000;
    Bytes before = colour_of(1, 0, 2);
    for (int i = 1; i <= steps; ++i) {
        const double angle = 2 * 3.14159265358979 * i / steps;
        const Bytes now =
            colour_of(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)), 2);
        for (std::size_t c = 0; c < 3; ++c) ASSERT_LE(std::abs(now[c] - before[c]), 3) << i;
        before = now;
    }
    EXPECT_EQ(before, colour_of(1, 0, 2));
}

TEST(FlowColours, OfUnknownFlowAreBlackAndDoNotCount) {
    const float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();
    for (const float unknown : {nan, infinity, -infinity, 1.1e9f}) {
        EXPECT_EQ(colour_of(unknown, 0, 1), (Bytes{0, 0, 0}));
        EXPECT_EQ(colour_of(0, unknown, 0), (Bytes{0, 0, 0}));
        const float u[] = {0, unknown, 4, 2}, v[] = {unknown, 0, 0, 0};
        Bytes rgb(12);
        colour(u, v, 0, rgb); // the longest is 4
        EXPECT_EQ(rgb, (Bytes{0, 0, 0, 0, 0, 0, 255, 0, 0, 255, 128, 128}));
    }
    EXPECT_EQ(colour_of(0, 0, 0), (Bytes{255, 255, 255})); // nothing moves
    EXPECT_EQ(colour_of(1e9f, 0, 0), (Bytes{255, 0, 0}));
}

TEST(FlowColours, GoIntoAPngAsTheyAre) {
    std::mt19937 random(headrace::test::fresh_seed());
    for (const float longest : {0.0f, 4.0f}) {
        const Flow flow = random_flow(random, {203, 119});
        Bytes rgb(3 * flow.size.pixels());
        colour(flow.u, flow.v, longest, rgb);
        EXPECT_EQ(decode(encode_png(flow.size, flow.u, flow.v, longest), flow.size), rgb);
    }
}

/// Flow has noise, and noise is what a picture's bytes are spent on.
TEST(FlowColours, TakeFewBytes) {
    std::mt19937 random(6);
    std::normal_distribution<float> noise(0, 0.02f);
    constexpr Size size{320, 240};
    Flow flow{size, Component(size.pixels()), Component(size.pixels())};
    for (std::size_t i = 0; i < size.pixels(); ++i) {
        const auto x = static_cast<float>(i % 320), y = static_cast<float>(i / 320);
        flow.u[i] = std::sin(x / 40) + noise(random);
        flow.v[i] = std::cos(y / 30) + noise(random);
    }
    Bytes rgb(3 * size.pixels());
    colour(flow.u, flow.v, 2, rgb);
    const program::PngImage picture{.width = 320, .height = 240, .channels = 3, .pixels = rgb, .fast = true};
    EXPECT_LT(encode_png(size, flow.u, flow.v, 2).size(), program::encode_png(picture).size() * 2 / 3);
    const Component still(size.pixels());
    EXPECT_LT(encode_png(size, still, still, 2).size(), 3 * size.pixels() / 100) << "where nothing moves";
}

TEST(FlowSinks, AFolderHasTwoFilesForEachPair) {
    const ScratchFolder scratch;
    std::mt19937 random(4);
    const auto folder = scratch.path() / "new" / "flow";
    FlowFolder sink(folder, {16, 9}, 3);
    for (const std::int64_t pair : {0, 7, 123456}) {
        const Flow flow = random_flow(random, {16, 9});
        sink.write(pair, flow.u, flow.v);
        const std::string name = pair == 0 ? "flow_00000" : pair == 7 ? "flow_00007" : "flow_123456";
        EXPECT_EQ(content(folder / (name + ".flo")), encode_flo(flow.size, flow.u, flow.v));
        EXPECT_EQ(content(folder / (name + ".png")), encode_png(flow.size, flow.u, flow.v, 3));
    }
    sink.close();
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 6);
    FlowFolder again(folder, {16, 9}, 3); // one that is there is no mistake
}

TEST(FlowSinks, PairsAreWrittenBesideEachOtherAndAppearInTheirOrder) {
    const ScratchFolder scratch;
    const std::filesystem::path pipe = scratch.path() / "flow_00002.flo";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0); // the pair waits there for a reader
    const auto is_there = [&](int pair) {
        return std::filesystem::exists(scratch.path() / ("flow_0000" + std::to_string(pair) + ".png"));
    };
    std::deque<headrace::HostLane> lanes(3);
    std::mt19937 random(7);
    constexpr Size size{16, 9};
    {
        FlowFolder sink(scratch.path(), size, 3, {&lanes[0], &lanes[1], &lanes[2]});
        const auto write = [&](int pair) {
            const Flow flow = random_flow(random, size); // which goes before it is written
            sink.write(pair, flow.u, flow.v);
            return flow;
        };
        std::vector<Flow> flows;
        for (int pair = 0; pair < 5; ++pair) flows.push_back(write(pair)); // 2, 3 and 4 have the lanes
        EXPECT_TRUE(is_there(0) && is_there(1)) << "else their lanes were not free";
        // Both files of 3 and of 4 and the picture of 2, each without a name until it is its turn.
        EXPECT_TRUE(eventually(
            [&] { return open_files(scratch.path()) == 5 || is_there(2) || is_there(3) || is_there(4); }));
        EXPECT_FALSE(is_there(2) || is_there(3) || is_there(4));
        EXPECT_EQ(content(pipe), encode_flo(size, flows[2].u, flows[2].v));
        sink.wait();
        for (std::size_t pair = 0; pair < 5; ++pair)
            EXPECT_EQ(content(scratch.path() / ("flow_0000" + std::to_string(pair) + ".png")),
                      encode_png(size, flows[pair].u, flows[pair].v, 3));
        static_cast<void>(write(5));
    }
    EXPECT_TRUE(is_there(5)) << "who leaves without waiting loses nothing";
    EXPECT_EQ(scratch.files(), 12u);
}

TEST(FlowSinks, OfPairsBesideEachOtherNoneAppearsBehindOneThatFailed) {
    const ScratchFolder scratch;
    std::filesystem::create_directories(scratch.path() / "flow_00002.png" / "in the way");
    std::filesystem::create_directories(scratch.path() / "flow_00003.flo" / "in the way");
    std::deque<headrace::HostLane> lanes(4);
    FlowFolder sink(scratch.path(), {1, 1}, 0, {&lanes[0], &lanes[1], &lanes[2], &lanes[3]});
    const float zero = 0;
    try {
        for (int pair = 0; pair < 6; ++pair) sink.write(pair, {&zero, 1}, {&zero, 1});
        sink.wait();
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("flow_00002.png"), std::string::npos) << error.what();
    }
    EXPECT_THROW(sink.wait(), Error);
    EXPECT_TRUE(std::filesystem::exists(scratch.path() / "flow_00001.png"));
    EXPECT_TRUE(std::filesystem::is_regular_file(scratch.path() / "flow_00002.flo"));
    for (const char* later : {"flow_00003.png", "flow_00004.flo", "flow_00005.png"})
        EXPECT_FALSE(std::filesystem::exists(scratch.path() / later)) << later;
    EXPECT_EQ(scratch.files(), 7u) << "half of a file";
}

TEST(FlowSinks, SayWhichFileCannotBeWritten) {
    const ScratchFolder scratch;
    const auto said = [](const auto& work) {
        try {
            work();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::io);
            return std::string(error.what());
        }
        return std::string("no error");
    };
    const std::string file = scratch.write("file", "");
    const auto names = [](const std::string& text, const std::string& name) {
        EXPECT_NE(text.find(name), std::string::npos) << text;
    };
    names(said([&] { FlowFolder(file, {1, 1}, 0); }), file);
    names(said([&] { FlowFolder(file + "/below", {1, 1}, 0); }), file);
    FlowFolder sink(scratch.path(), {1, 1}, 0);
    const float zero = 0;
    std::filesystem::create_directories(scratch.path() / "flow_00003.png" / "in the way");
    names(said([&] { sink.write(3, {&zero, 1}, {&zero, 1}); }), "flow_00003.png");
    std::filesystem::create_directories(scratch.path() / "flow_00004.flo" / "in the way");
    names(said([&] { sink.write(4, {&zero, 1}, {&zero, 1}); }), "flow_00004.flo");
    if (::access("/dev/full", W_OK) == 0) {
        FlowVideo video("/dev/full", {1, 1}, 0, "0:0");
        names(said([&] { video.write(0, {&zero, 1}, {&zero, 1}); }), "/dev/full");
    }
    try {
        FlowVideo(scratch.path() / "nowhere" / "a.y4m", {1, 1}, 0, "0:0");
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_TRUE(error.is_users_mistake());
    }
}

TEST(FlowSinks, AVideoHasTheColours) {
    const ScratchFolder scratch;
    const std::string file = scratch.path() / "flow.y4m";
    std::mt19937 random(5);
    constexpr Size size{67, 41};
    std::vector<Bytes> colours;
    FlowVideo sink(file, size, 6, "30000:1001");
    for (std::int64_t pair = 0; pair < 3; ++pair) {
        const Flow flow = random_flow(random, size);
        colour(flow.u, flow.v, 6, colours.emplace_back(3 * size.pixels()));
        sink.write(pair, flow.u, flow.v);
    }
    sink.close();

    video::StreamSource source(file, nullptr);
    EXPECT_EQ(source.format().planes.plane[2].columns, size.width); // 4:4:4
    EXPECT_NE(source.format().y4m.find("XCOLORRANGE=FULL"), std::string::npos);
    EXPECT_EQ(source.format().rate, "30000:1001");
    video::FrameHeader header;
    Bytes yuv(source.format().planes.bytes());
    for (const Bytes& rgb : colours) {
        ASSERT_TRUE(source.read(header, yuv));
        for (std::size_t i = 0; i < size.pixels(); ++i) {
            const double y = yuv[i], cb = yuv[size.pixels() + i] - 128.0,
                         cr = yuv[2 * size.pixels() + i] - 128.0;
            // Back again; half a step in each of the three becomes up to 0.5 * (1 + 1.772).
            ASSERT_NEAR(y + 1.402 * cr, rgb[3 * i], 1.4);
            ASSERT_NEAR(y - 0.344136 * cb - 0.714136 * cr, rgb[3 * i + 1], 1.4);
            ASSERT_NEAR(y + 1.772 * cb, rgb[3 * i + 2], 1.4);
        }
    }
    EXPECT_FALSE(source.read(header, yuv));

    const auto frames = open_frames({file}, {}); // ours can be read again
    EXPECT_EQ(frames->rate(), "30000:1001");
    Component brightness(size.pixels());
    for (std::size_t i = 0; i < colours.size(); ++i) EXPECT_TRUE(frames->read(brightness));
    EXPECT_FALSE(frames->read(brightness));
}

} // namespace
} // namespace optical_flow
