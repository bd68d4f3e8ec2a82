// Frames come in as brightness, whatever they are stored as; files that are broken say so.
#include "frame_source.hpp"
#include "generated_frames.hpp"
#include <core/scratch_folder.hpp>
#include <core/seeds.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace optical_flow {
namespace {

using headrace::Error;
using headrace::ErrorKind;
using headrace::test::ScratchFolder;
using Bytes = std::vector<std::uint8_t>;
using Frame = std::vector<float>;

constexpr Size no_size{};

/// Frames that can be read before there are no more or something is broken, and the error then.
struct Found {
    Size size;
    std::vector<Frame> frames{};
    std::optional<Error> error{};

    [[nodiscard]] bool says(const std::string& word) const {
        return error && std::string(error->what()).find(word) != std::string::npos;
    }
};
Found read_all(const std::string& input, Size generated = no_size) {
    Found found;
    try {
        const auto source = open_frames(input_names({input}), generated);
        found.size = source->size();
        Frame frame(found.size.pixels());
        while (source->read(frame)) found.frames.push_back(frame);
    } catch (const Error& error) {
        found.error = error;
    }
    return found;
}

// ---- pictures of every kind

/// Samples with one or two bytes each, and what they look like.
struct Picture {
    Size size;
    int channels = 1; ///< of colour; transparency comes behind them
    bool is_transparent = false;
    int maximum = 255;
    std::vector<int> samples{};

    [[nodiscard]] int per_pixel() const { return channels + (is_transparent ? 1 : 0); }
    [[nodiscard]] Frame brightness() const {
        Frame frame;
        for (std::size_t i = 0; i < samples.size(); i += static_cast<std::size_t>(per_pixel())) {
            const int* const at = &samples[i];
            const double grey = channels == 1 ? at[0] : 0.299 * at[0] + 0.587 * at[1] + 0.114 * at[2];
            frame.push_back(static_cast<float>(grey / maximum));
        }
        return frame;
    }
    [[nodiscard]] Bytes bytes() const {
        Bytes all;
        for (const int sample : samples) {
            if (maximum > 255) all.push_back(static_cast<std::uint8_t>(sample >> 8));
            all.push_back(static_cast<std::uint8_t>(sample));
        }
        return all;
    }
    [[nodiscard]] std::string pnm() const {
        const Bytes all = bytes();
        return (channels == 1 ? "P5\n" : "P6\n") + std::to_string(size.width) + " " +
               std::to_string(size.height) + "\n" + std::to_string(maximum) + "\n" +
               std::string(all.begin(), all.end());
    }
};

Picture random_picture(std::mt19937& random, Size size, int channels, int maximum, bool transparent = false) {
    Picture picture{size, channels, transparent, maximum};
    std::uniform_int_distribution<int> any(0, maximum);
    picture.samples.resize(size.pixels() * static_cast<std::size_t>(picture.per_pixel()));
    for (int& sample : picture.samples) sample = any(random);
    picture.samples.front() = maximum;
    return picture;
}

/// `rows`: as PNG has them, of `bits` a sample.
std::string encode(Size size, int bits, int type, Bytes rows, bool interlaced = false,
                   const std::vector<png_color>& palette = {}) {
    std::string bytes;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(
        png, &bytes,
        [](png_structp to, png_bytep from, std::size_t count) {
            static_cast<std::string*>(png_get_io_ptr(to))->append(reinterpret_cast<char*>(from), count);
        },
        nullptr);
    png_set_IHDR(png, info, static_cast<png_uint_32>(size.width), static_cast<png_uint_32>(size.height), bits,
                 type, interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (!palette.empty()) {
        png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
        const png_byte alpha[] = {7, 0};
        png_set_tRNS(png, info, alpha, 2, nullptr);
    }
    png_set_gAMA(png, info, 0.7); // of no consequence
    png_write_info(png, info);
    const std::size_t stride = png_get_rowbytes(png, info);
    EXPECT_EQ(rows.size(), stride * static_cast<std::size_t>(size.height));
    std::vector<png_bytep> lines;
    for (std::size_t y = 0; y < static_cast<std::size_t>(size.height); ++y)
        lines.push_back(rows.data() + y * stride);
    png_write_image(png, lines.data());
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return bytes;
}
std::string encode(const Picture& picture, bool interlaced = false) {
    const int type = (picture.channels == 3 ? PNG_COLOR_MASK_COLOR : 0) |
                     (picture.is_transparent ? PNG_COLOR_MASK_ALPHA : 0);
    return encode(picture.size, picture.maximum > 255 ? 16 : 8, type, picture.bytes(), interlaced);
}

void expect_near(const Frame& found, const Frame& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], 4e-7) << "pixel " << i; // a few roundings near 1, of 2^-24 each
        ASSERT_LE(found[i], 1.0f);
    }
}

TEST(OpticalFlowFrames, ArePngsOfEveryDepthAndColour) {
    const ScratchFolder folder;
    std::mt19937 random(headrace::test::fresh_seed());
    for (const int maximum : {255, 65535})
        for (const int channels : {1, 3})
            for (const bool transparent : {false, true})
                for (const bool interlaced : {false, true}) {
                    SCOPED_TRACE(std::to_string(maximum) + ", channels " + std::to_string(channels) +
                                 (transparent ? " and alpha" : "") + (interlaced ? ", interlaced" : ""));
                    const Picture picture = random_picture(random, {37, 23}, channels, maximum, transparent);
                    const Found found = read_all(folder.write("a.png", encode(picture, interlaced)));
                    ASSERT_FALSE(found.error) << found.error->what();
                    EXPECT_EQ(found.size, picture.size);
                    ASSERT_EQ(found.frames.size(), 1u);
                    expect_near(found.frames[0], picture.brightness());
                }
}

TEST(OpticalFlowFrames, SixteenBitsAreKept) {
    const ScratchFolder folder;
    Picture ramp{{256, 256}, 1, false, 65535};
    for (int i = 0; i < 65536; ++i) ramp.samples.push_back(i);
    for (const std::string& bytes : {encode(ramp), ramp.pnm()}) {
        const Found found = read_all(folder.write("ramp", bytes));
        ASSERT_EQ(found.frames.size(), 1u);
        for (std::size_t i = 0; i < 65536; ++i)
            ASSERT_EQ(found.frames[0][i], static_cast<float>(i) / 65535.0f) << i;
    }
}

TEST(OpticalFlowFrames, PngsOfFewBitsAndOfPalettesAreAsBright) {
    const ScratchFolder folder;
    for (const int bits : {1, 2, 4}) {
        const Found found =
            read_all(folder.write("few.png", encode({8 / bits, 1}, bits, 0, {0b10'01'00'11})));
        ASSERT_EQ(found.frames.size(), 1u) << bits;
        for (int i = 0; i < 8 / bits; ++i) {
            const int most = (1 << bits) - 1, value = 0b10'01'00'11 >> (8 - bits * (i + 1)) & most;
            EXPECT_EQ(found.frames[0][static_cast<std::size_t>(i)],
                      static_cast<float>(value) / static_cast<float>(most));
        }
    }
    const std::vector<png_color> palette{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {51, 51, 51}};
    for (const int bits : {2, 8}) {
        const Bytes row = bits == 2 ? Bytes{0b00'01'10'11} : Bytes{0, 1, 2, 3};
        const Found found = read_all(
            folder.write("palette.png", encode({4, 1}, bits, PNG_COLOR_TYPE_PALETTE, row, false, palette)));
        ASSERT_EQ(found.frames.size(), 1u) << bits;
        expect_near(found.frames[0], {0.299f, 0.587f, 0.114f, 0.2f});
    }
}

TEST(OpticalFlowFrames, ArePgmAndPpmOfEveryMaximum) {
    const ScratchFolder folder;
    std::mt19937 random(headrace::test::fresh_seed());
    for (const int maximum : {1, 100, 255, 256, 1000, 65535})
        for (const int channels : {1, 3}) {
            SCOPED_TRACE(std::to_string(maximum) + ", channels " + std::to_string(channels));
            const Picture picture = random_picture(random, {31, 17}, channels, maximum);
            const Found found = read_all(folder.write("a.pnm", picture.pnm()));
            ASSERT_FALSE(found.error) << found.error->what();
            ASSERT_EQ(found.frames.size(), 1u);
            expect_near(found.frames[0], picture.brightness());
        }
}

TEST(OpticalFlowFrames, PnmHeadersMayHaveCommentsAndAnyBlanks) {
    const ScratchFolder folder;
    for (const char* header : {"P5 2 1 255 ", "P5\n# a film\n2 1\n255\n", "P5#x\r2\t\t1 # 3 3\n#\n#\n255\n",
                               "P5\v2\f1\r\n255\t", "P5\n002 01 0255\n"}) {
        const Found found = read_all(folder.write("a.pgm", std::string(header) + "\xff#and more"));
        ASSERT_FALSE(found.error) << header << found.error->what();
        EXPECT_EQ(found.size, (Size{2, 1})) << header;
        EXPECT_EQ(found.frames[0], (Frame{1, 35.0f / 255})) << header;
    }
    const Found above = read_all(folder.write("a.pgm", "P5 1 1 100 \xff"));
    EXPECT_EQ(above.frames[0], Frame{1}); // no brighter than white
}

// ---- what is broken

TEST(OpticalFlowFrames, APictureThatIsCutAnywhereIsBroken) {
    const ScratchFolder folder;
    std::mt19937 random(1);
    const Picture picture = random_picture(random, {9, 7}, 3, 65535);
    for (const std::string& whole : {encode(picture), encode(picture, true), picture.pnm()}) {
        ASSERT_EQ(read_all(folder.write("cut.file", whole)).frames.size(), 1u);
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const Found found = read_all(folder.write("cut.file", whole.substr(0, length)));
            ASSERT_TRUE(found.frames.empty()) << length;
            ASSERT_TRUE(found.says("cut.file")) << length;
            ASSERT_EQ(found.error->kind(), ErrorKind::invalid_argument) << length;
        }
    }
}

TEST(OpticalFlowFrames, BytesThatAreWrongAreFoundOrHarmless) {
    const ScratchFolder folder;
    std::mt19937 random(headrace::test::fresh_seed());
    const Picture picture = random_picture(random, {12, 11}, 3, 255);
    for (const std::string& whole : {encode(picture), picture.pnm()})
        for (int i = 0; i < 500; ++i) {
            std::string bytes = whole;
            const int wrong = std::uniform_int_distribution(1, 4)(random);
            for (int k = 0; k < wrong; ++k) // the header more often than others
                bytes[random() % (k % 2 == 0 ? 40 : bytes.size())] = static_cast<char>(random());
            const Found found = read_all(folder.write("wrong.file", bytes));
            ASSERT_EQ(found.frames.size(), found.error ? 0u : 1u);
            if (found.error) {
                ASSERT_EQ(found.error->kind(), ErrorKind::invalid_argument) << found.error->what();
                ASSERT_TRUE(found.says("wrong.file"));
            }
        }
}

TEST(OpticalFlowFrames, BrokenFilesSayWhatIsWrong) {
    const ScratchFolder folder;
    const auto refused = [&](const std::string& bytes, const std::string& word) {
        const Found found = read_all(folder.write("bad.ppm", bytes));
        ASSERT_TRUE(found.says("bad.ppm") && found.says(word))
            << word << ": " << (found.error ? found.error->what() : "no error");
        EXPECT_EQ(found.error->kind(), ErrorKind::invalid_argument);
    };
    refused("", "is empty");
    refused("P", "neither");
    refused("P3 1 1 255 0", "neither");
    refused("GIF89a", "neither");
    EXPECT_TRUE(read_all("/dev/zero").says("neither")) << "without reading all of it";
    for (const char* none : {"0", "-1", "65536", "4294967297", "99999999999999999999", "x"}) {
        const std::string text = none;
        refused("P5 " + text + " 1 255 abc", "width");
        refused("P5 1 " + text + " 255 abc", "height");
        refused("P5 1 1 " + text + " ", "maximum");
    }
    refused("P5 1 1 255", "header does not end");
    refused("P5 1 1 255#", "header does not end");
    refused("P5 1 # 1 255 ", "height");
    refused("P5 4 4 255 abc", "ends after 3 of its 16 bytes");
    refused("P6 65535 65535 65535 abc", "ends after 3 of its");
    refused("\x89PNG\r\n\x1a\n", "broken");
    refused("\x89PNG and something else", "broken");
    // A small file that would need 25 GB: nothing of that size is allocated.
    std::string huge = encode({1, 1}, 16, PNG_COLOR_TYPE_RGB, Bytes(6));
    png_save_uint_32(reinterpret_cast<png_bytep>(huge.data() + 16), 65535);
    png_save_uint_32(reinterpret_cast<png_bytep>(huge.data() + 20), 65535);
    refused(huge, "broken");
}

TEST(OpticalFlowFrames, BeforeABrokenFileAreReadAndThenItIsNamed) {
    const ScratchFolder folder;
    std::mt19937 random(2);
    const Picture picture = random_picture(random, {8, 6}, 1, 255);
    const std::string png = encode(picture), name = folder.path() / "";
    folder.write("a.png", png);
    folder.write("b.pgm", picture.pnm());
    folder.write("cut.png", png.substr(0, png.size() - 20));
    folder.write("empty.png", "");
    folder.write("short.pgm", picture.pnm().substr(0, 30));
    folder.write("large.png", encode(random_picture(random, {6, 8}, 1, 255)));
    const Found whole = read_all(name + "a.png," + name + "b.pgm," + name + "a.png");
    ASSERT_EQ(whole.frames.size(), 3u);
    EXPECT_FALSE(whole.error);
    for (const Frame& frame : whole.frames) expect_near(frame, picture.brightness());
    EXPECT_EQ(open_frames({name + "a.png", name + "b.pgm"}, no_size)->frames(), 2);
    for (const char* bad : {"cut.png", "empty.png", "short.pgm", "large.png"}) {
        const Found found = read_all(name + "a.png," + name + "b.pgm," + name + bad + "," + name + "a.png");
        EXPECT_EQ(found.frames.size(), 2u) << bad;
        EXPECT_TRUE(found.says(name + bad)) << bad;
        EXPECT_EQ(found.error->kind(), ErrorKind::invalid_argument) << bad;
    }
    const Found large = read_all(name + "a.png," + name + "large.png");
    EXPECT_TRUE(large.says("6 x 8") && large.says("8 x 6")) << large.error->what();
}

TEST(OpticalFlowFrames, AreDecodedAheadAndComeInTheirOrder) {
    const ScratchFolder folder;
    std::mt19937 random(8);
    std::deque<headrace::HostLane> lanes(2);
    std::vector<Picture> pictures;
    std::string names;
    for (int i = 0; i < 9; ++i) {
        const Picture& picture =
            pictures.emplace_back(random_picture(random, {8, 6}, i % 2 == 0 ? 1 : 3, 255));
        const std::string bytes = i % 3 == 0 ? picture.pnm() : encode(picture);
        if (i > 0) names += ",";
        names += folder.write(std::to_string(i), bytes).string();
    }
    const auto open = [&](std::int64_t frames) {
        auto source = open_frames(input_names({names}), no_size);
        EXPECT_GT(source->bytes_ahead(), 0u);
        source->decode_ahead({&lanes[0], &lanes[1]}, frames);
        return source;
    };
    Frame frame(48);
    const auto expect_frames = [&](FrameSource& source, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            ASSERT_TRUE(source.read(frame)) << i;
            expect_near(frame, pictures[i].brightness());
        }
    };
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    const auto source = open(all);
    expect_frames(*source, 0, 9);
    EXPECT_FALSE(source->read(frame));
    { // who has read the first has decoded the two after it
        const auto ahead = open(all);
        expect_frames(*ahead, 0, 1);
        for (headrace::HostLane& lane : lanes) lane.wait_all();
        for (const char* file : {"1", "2", "3"}) folder.write(file, "no picture");
        expect_frames(*ahead, 1, 3);
        EXPECT_THROW(static_cast<void>(ahead->read(frame)), Error) << "further than lanes are";
    }
    for (const std::size_t i : {1, 2, 3}) folder.write(std::to_string(i), pictures[i].pnm());
    folder.write("4", "no picture");
    const auto broken = open(all);
    expect_frames(*broken, 0, 4);
    try {
        static_cast<void>(broken->read(frame));
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(folder.path() / "4"), std::string::npos) << error.what();
    }
    for (headrace::HostLane& lane : lanes) lane.wait_all(); // what was tried ahead is nobody's failure

    // Nobody writes into the pipe; nothing waits for it.
    std::filesystem::remove(folder.path() / "2");
    ASSERT_EQ(::mkfifo((folder.path() / "2").c_str(), 0600), 0);
    const auto piped = open(all);
    expect_frames(*piped, 0, 2);
    // What will not be read is not decoded.
    std::filesystem::remove(folder.path() / "2");
    const auto few = open_frames({folder.path() / "0", folder.path() / "1", folder.path() / "3"}, no_size);
    few->decode_ahead({&lanes[0], &lanes[1]}, 2);
    expect_frames(*few, 0, 2);
    folder.write("3", "no picture");
    EXPECT_THROW(static_cast<void>(few->read(frame)), Error);
}

TEST(OpticalFlowFrames, InputsThatAreNotThereAreTheUsersMistake) {
    const ScratchFolder folder;
    const std::string there = folder.write("a.pgm", "P5 1 1 255 x");
    const auto refused = [](const std::string& input, const std::string& word) {
        const Found found = read_all(input);
        EXPECT_TRUE(found.frames.empty());
        ASSERT_TRUE(found.says(word)) << input;
        EXPECT_TRUE(found.error->is_users_mistake()) << input;
    };
    refused("", "no file");
    refused("nowhere.png", "nowhere.png");
    refused(there + ",nowhere.png", "nowhere.png"); // before any frame is read
    refused(there + ",", "comma");
    refused("," + there, "comma");
    refused(there + ",," + there, "comma");
    refused("nowhere.y4m", "nowhere.y4m");
    refused(folder.path(), folder.path());
    for (const char* number : {"", "0", "-1", "x", "1e3", "99999999999999999999"})
        refused(std::string("memory:") + number, "memory:");
    for (const Size size : {no_size, Size{0, 1}, Size{1, 65536}, Size{-1, 5}})
        EXPECT_TRUE(read_all("memory:2", size).error->is_users_mistake());
}

TEST(OpticalFlowFrames, OfSeveralInputsArePictures) {
    const ScratchFolder folder;
    const std::string a = folder.write("a.pgm", "P5 1 1 255 x"), b = folder.write("b,c.pgm", "P5 1 1 255 y");
    using Names = std::vector<std::string>;
    EXPECT_EQ(input_names({a, "b,c", b, "-"}), (Names{a, "b", "c", b, "-"})) << "a comma may be in a name";
    EXPECT_EQ(input_names({"memory:3"}), Names{"memory:3"});
    EXPECT_THROW(static_cast<void>(input_names({a, ""})), Error);
    const auto source = open_frames({a, b}, no_size);
    Frame frame(1);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(source->read(frame));
    EXPECT_FALSE(source->read(frame));
    const std::string film = folder.write("film.y4m", "YUV4MPEG2 W1 H1\nFRAME\nabc");
    for (const std::string& alone : {film, std::string("-"), std::string("memory:3")})
        for (const Names& names : {Names{a, alone}, Names{alone, a}, Names{alone, alone}}) try {
                static_cast<void>(open_frames(names, {1, 1}));
                ADD_FAILURE() << alone;
            } catch (const Error& error) {
                EXPECT_TRUE(error.is_users_mistake());
                EXPECT_TRUE(std::string(error.what()).starts_with(alone + ": ")) << error.what();
            }
}

// ---- videos, pipes

std::string small_film(const char* chroma, std::size_t chroma_bytes, int frames) {
    std::string film = std::string("YUV4MPEG2 W5 H3 F25:1 C") + chroma + "\n";
    for (int i = 0; i < frames; ++i) {
        film += "FRAME\n";
        for (int k = 0; k < 15; ++k) film += static_cast<char>(17 * k + i);
        film.append(chroma_bytes, '\x55');
    }
    return film;
}
void expect_small_film(const Found& found, std::size_t frames) {
    EXPECT_EQ(found.size, (Size{5, 3}));
    ASSERT_EQ(found.frames.size(), frames);
    for (std::size_t i = 0; i < frames; ++i)
        for (std::size_t k = 0; k < 15; ++k)
            EXPECT_EQ(found.frames[i][k], static_cast<float>((17 * k + i) % 256) / 255.0f);
}

TEST(OpticalFlowFrames, OfAVideoAreItsLuma) {
    const ScratchFolder folder;
    for (const auto& [chroma, bytes] :
         {std::pair("420jpeg", std::size_t{12}), {"422", 18}, {"444", 30}, {"mono", 0}, {"444alpha", 45}}) {
        const Found found = read_all(folder.write("film.y4m", small_film(chroma, bytes, 3)));
        EXPECT_FALSE(found.error);
        expect_small_film(found, 3);
    }
    expect_small_film(read_all(folder.write("a film of another name", small_film("mono", 0, 2))), 2);
    for (const int bits : {9, 10, 12, 16}) {
        std::string deep = "YUV4MPEG2 W2 H1 C420p" + std::to_string(bits) + "\n";
        const int most = (1 << bits) - 1;
        for (int i = 0; i < 2; ++i) {
            deep += "FRAME\n";
            for (const int sample : {most, most / 3 + i, 7, 7})
                deep += {static_cast<char>(sample % 256), static_cast<char>(sample / 256)};
        }
        const Found found = read_all(folder.write("deep.y4m", deep));
        ASSERT_EQ(found.frames.size(), 2U) << bits;
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(found.frames[i][0], 1);
            EXPECT_EQ(found.frames[i][1], static_cast<float>(most / 3 + i) / static_cast<float>(most));
        }
    }
    const std::string film = small_film("420jpeg", 12, 3);
    const Found cut = read_all(folder.write("cut.y4m", film.substr(0, film.size() - 1)));
    expect_small_film(cut, 2);
    EXPECT_TRUE(cut.says("cut.y4m") && cut.says("frame 3"));
    EXPECT_EQ(cut.error->kind(), ErrorKind::io);
    EXPECT_TRUE(read_all(folder.write("empty.y4m", "")).says("empty.y4m: is empty"));
}

TEST(OpticalFlowFrames, OfAnInterlacedVideoHaveANote) {
    const ScratchFolder folder;
    const auto note = [&](const std::string& interlacing) {
        const std::string film = folder.write("film.y4m", "YUV4MPEG2 W1 H1" + interlacing + "\nFRAME\nabc");
        return open_frames({film}, no_size)->note();
    };
    for (const char* none : {"", " Ip", " I?"}) EXPECT_EQ(note(none), "") << none;
    EXPECT_NE(note(" It").find("top field first"), std::string::npos);
    EXPECT_NE(note(" Ib").find("bottom field first"), std::string::npos);
    EXPECT_NE(note(" Im").find("from frame to frame"), std::string::npos);
}

TEST(OpticalFlowFrames, ComeFromStandardInputAndFromPipes) {
    const ScratchFolder folder;
    const std::string film = folder.write("film.y4m", small_film("mono", 0, 4));
    const int before = ::dup(STDIN_FILENO), file = ::open(film.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(::dup2(file, STDIN_FILENO), 0);
    const Found found = read_all("-");
    if (before >= 0) ::dup2(before, STDIN_FILENO);
    for (const int number : {before, file})
        if (number >= 0) ::close(number);
    EXPECT_FALSE(found.error);
    expect_small_film(found, 4);

    const std::string pipe = folder.path() / "pipe.pgm";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::mt19937 random(3);
    const Picture picture = random_picture(random, {1500, 1000}, 1, 255); // more than is read at once
    std::jthread writer([&] {
        const std::string bytes = picture.pnm();
        std::ofstream(pipe, std::ios::binary).write(bytes.data(), std::ssize(bytes));
    });
    const Found piped = read_all(pipe);
    ASSERT_EQ(piped.frames.size(), 1u);
    expect_near(piped.frames[0], picture.brightness());
}

// ---- generated frames

TEST(GeneratedFrames, MoveAsTheySay) {
    constexpr Size size{120, 90};
    for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'000'001}}) {
        Frame now(size.pixels()), later(size.pixels());
        generate(first, size, now);
        generate(first + 4, size, later);
        const auto across = static_cast<std::size_t>(4 * generated_u),
                   down = static_cast<std::size_t>(4 * generated_v);
        for (std::size_t y = 0; y + down < 90; ++y)
            for (std::size_t x = 0; x + across < 120; ++x)
                ASSERT_EQ(later[(y + down) * 120 + x + across], now[y * 120 + x]) << x << ", " << y;
    }
}

TEST(GeneratedFrames, HaveSomethingToFollowEverywhere) {
    constexpr Size size{320, 200};
    Frame frame(size.pixels());
    generate(7, size, frame);
    const auto [least, most] = std::ranges::minmax(frame);
    EXPECT_GE(least, 0.0f);
    EXPECT_LE(most, 1.0f);
    EXPECT_GT(most - least, 0.5f);
    for (std::size_t y = 0; y + 20 <= 200; y += 20) // no even patches, and no jumps
        for (std::size_t x = 0; x + 20 <= 320; x += 20) {
            float low = 1, high = 0;
            for (std::size_t i = 0; i < 20; ++i)
                for (std::size_t k = 0; k < 20; ++k) {
                    const float here = frame[(y + i) * 320 + x + k];
                    low = std::min(low, here);
                    high = std::max(high, here);
                    const float left = k > 0 ? frame[(y + i) * 320 + x + k - 1] : here;
                    ASSERT_LT(std::abs(here - left), 0.2f);
                }
            ASSERT_GT(high - low, 0.1f) << x << ", " << y;
        }
}

TEST(GeneratedFrames, AreAsManyAsWereAskedFor) {
    EXPECT_EQ(open_frames({"memory:40"}, {4, 3})->frames(), 40);
}

TEST(GeneratedFrames, FromMemoryGoForthAndBack) {
    constexpr Size size{33, 9};
    const Found found = read_all("memory:9", size);
    EXPECT_FALSE(found.error);
    EXPECT_EQ(found.size, size);
    ASSERT_EQ(found.frames.size(), 9u);
    for (const std::size_t i : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
        Frame expected(size.pixels());
        generate(std::array{0, 1, 2, 3, 2, 1, 0, 1, 2}[i], size, expected);
        EXPECT_EQ(found.frames[i], expected) << i;
    }
    EXPECT_EQ(read_all("memory:1", size).frames.size(), 1u);
    EXPECT_EQ(read_all("memory:2", {1, 1}).frames.size(), 2u);
}

} // namespace
} // namespace optical_flow
