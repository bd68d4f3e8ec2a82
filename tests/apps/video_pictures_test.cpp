// JPEG files, and frames whose names have numbers.
#include "apps/error_of.hpp"
#include "video/frame_names.hpp"
#include "video/picture.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <jpeglib.h>

namespace video::test {
namespace {

using headrace::Error;
using headrace::ErrorKind;
using headrace::test::error_of;
using headrace::test::mentions;
using headrace::test::ScratchFolder;
using Names = std::vector<std::string>;

// ---- JPEG

struct Jpeg {
    Size size;
    J_COLOR_SPACE space = JCS_RGB;
    bool progressive = false;

    [[nodiscard]] int channels() const { return space == JCS_GRAYSCALE ? 1 : space == JCS_CMYK ? 4 : 3; }
    /// Slow waves: what a JPEG of the best quality keeps but for roundings.
    [[nodiscard]] std::vector<std::uint8_t> pixels() const {
        std::vector<std::uint8_t> all;
        for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x)
                for (int c = 0; c < channels(); ++c)
                    all.push_back(static_cast<std::uint8_t>(
                        std::lround(128 + 100 * std::sin(0.07 * (x + 2 * c) + 0.05 * y + c))));
        return all;
    }
    [[nodiscard]] std::string encode() const {
        jpeg_compress_struct jpeg{};
        jpeg_error_mgr errors{};
        jpeg.err = jpeg_std_error(&errors);
        jpeg_create_compress(&jpeg);
        unsigned char* bytes = nullptr;
        unsigned long count = 0;
        jpeg_mem_dest(&jpeg, &bytes, &count);
        jpeg.image_width = static_cast<JDIMENSION>(size.width);
        jpeg.image_height = static_cast<JDIMENSION>(size.height);
        jpeg.input_components = channels();
        jpeg.in_color_space = space;
        jpeg_set_defaults(&jpeg);
        jpeg_set_quality(&jpeg, 100, TRUE);
        jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1; // chroma as fine as luma
        if (progressive) jpeg_simple_progression(&jpeg);
        static const jpeg_scan_info all_bits[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
        if (progressive &&
            space == JCS_GRAYSCALE) { // which may come again, for it promises no bits for later
            jpeg.scan_info = all_bits;
            jpeg.num_scans = 2;
        }
        jpeg_start_compress(&jpeg, TRUE);
        std::vector<std::uint8_t> all = pixels();
        const std::size_t stride =
            static_cast<std::size_t>(size.width) * static_cast<std::size_t>(channels());
        while (jpeg.next_scanline < jpeg.image_height) {
            JSAMPROW row = all.data() + stride * jpeg.next_scanline;
            jpeg_write_scanlines(&jpeg, &row, 1);
        }
        jpeg_finish_compress(&jpeg);
        std::string result(reinterpret_cast<char*>(bytes), count);
        jpeg_destroy_compress(&jpeg);
        std::free(bytes);
        return result;
    }
};

TEST(VideoPictures, JpegsHaveThePixelsThatWereWritten) {
    const ScratchFolder folder;
    for (const Jpeg& jpeg : {Jpeg{{33, 17}}, Jpeg{{33, 17}, JCS_RGB, true}, Jpeg{{1, 1}},
                             Jpeg{{40, 9}, JCS_GRAYSCALE}, Jpeg{{64, 48}, JCS_GRAYSCALE, true}}) {
        const auto picture = open_picture(folder.write("a.jpg", jpeg.encode()));
        EXPECT_EQ(picture->size(), jpeg.size);
        const Samples samples = picture->samples();
        EXPECT_EQ(samples.channels, jpeg.channels());
        EXPECT_EQ(samples.maximum, 255);
        const std::vector<std::uint8_t> expected = jpeg.pixels();
        ASSERT_EQ(samples.bytes.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(samples.bytes[i], expected[i], 4) << i; // roundings of the transform and of YCbCr
    }
}

TEST(VideoPictures, AJpegThatIsCutAnywhereIsBroken) {
    const ScratchFolder folder;
    for (const bool progressive : {false, true}) {
        const std::string whole = Jpeg{{16, 24}, JCS_RGB, progressive}.encode();
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const std::string file = folder.write("cut.jpg", whole.substr(0, length));
            const Error error = error_of([&] { static_cast<void>(open_picture(file)->samples()); });
            ASSERT_TRUE(error.is_users_mistake()) << length;
            ASSERT_TRUE(mentions(error, "cut.jpg")) << length << error.what();
        }
    }
}

TEST(VideoPictures, JpegsThatCannotBeReadAreRefusedByName) {
    const ScratchFolder folder;
    const auto refused = [&](const std::string& bytes, const std::string& words) {
        const std::string file = folder.write("bad.jpg", bytes);
        const Error error = error_of([&] { static_cast<void>(open_picture(file)->samples()); });
        EXPECT_TRUE(error.is_users_mistake());
        EXPECT_TRUE(mentions(error, "bad.jpg") && mentions(error, words)) << error.what();
    };
    refused(Jpeg{{16, 16}, JCS_CMYK}.encode(), "CMYK");
    refused("\xff\xd8 and something else", "broken");
    std::string huge = Jpeg{{1, 1}, JCS_GRAYSCALE}.encode(); // says that it is 65500 x 65500
    const std::size_t frame = huge.find("\xff\xc0");
    huge.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
    refused(huge, "ends too early");
    std::string scans = Jpeg{{8, 8}, JCS_GRAYSCALE, true}.encode(); // its last one a thousand times
    const std::string last =
        scans.substr(scans.rfind("\xff\xda"), scans.size() - 2 - scans.rfind("\xff\xda"));
    scans.resize(scans.size() - 2);
    for (int i = 0; i < 1000; ++i) scans += last;
    refused(scans + "\xff\xd9", "scans");
}

// ---- names with numbers

TEST(FrameNames, ArePrintfs) {
    const auto name = [](const std::string& pattern, std::int64_t number) {
        return FrameNames::parse(pattern)->name_of(number);
    };
    EXPECT_EQ(name("a/frame_%04d.png", 7), "a/frame_0007.png");
    EXPECT_EQ(name("frame_%04d.png", 123456), "frame_123456.png");
    EXPECT_EQ(name("%d", 0), "0");
    EXPECT_EQ(name("100%%_%02d.jpg", 5), "100%_05.jpg");
    EXPECT_FALSE(FrameNames::parse("frame.png"));
    EXPECT_FALSE(FrameNames::parse("%d/frame.png")) << "a folder has no number";
    EXPECT_FALSE(FrameNames::parse("-"));
    EXPECT_FALSE(FrameNames::parse(""));
    for (const char* bad : {"%", "a%", "%s", "%d%d", "%4d", "%0", "%099d", "%04x", "%-4d", "100%.png"})
        EXPECT_TRUE(error_of([&] { static_cast<void>(FrameNames::parse(bad)); }).is_users_mistake()) << bad;
    const auto number = [](const std::string& file) {
        return FrameNames::parse("f%03d.png")->number_of(file);
    };
    EXPECT_EQ(number("f007.png"), 7);
    EXPECT_EQ(number("f1234.png"), 1234);
    for (const char* other : {"f07.png", "f0007.png", "f+07.png", "f-07.png", "f007.pngx", "g007.png",
                              "f.png", "f99999999999999999999.png"})
        EXPECT_FALSE(number(other)) << other;
}

TEST(FrameNames, FindTheFilesThatAreThere) {
    const ScratchFolder folder;
    for (const char* name : {"f0003.png", "f0004.png", "f0005.png", "f3.png", "f0009.jpg", "other"})
        folder.write(name, "");
    const FrameNames names = *FrameNames::parse(folder.path() / "f%04d.png");
    const auto file = [&](const char* name) { return (folder.path() / name).string(); };
    EXPECT_EQ(names.files({}), (Names{file("f0003.png"), file("f0004.png"), file("f0005.png")}));
    EXPECT_EQ(names.files(4), (Names{file("f0004.png"), file("f0005.png")}));
    EXPECT_EQ(names.files({}, 2), (Names{file("f0003.png"), file("f0004.png")}));
    const auto refused = [](const FrameNames& which, std::optional<std::int64_t> start,
                            const std::string& words) {
        const Error error = error_of([&] { static_cast<void>(which.files(start)); });
        EXPECT_TRUE(error.is_users_mistake());
        EXPECT_TRUE(mentions(error, words)) << error.what();
    };
    refused(names, 2, "f0002.png: there is no such file");
    refused(names, 6, "f0006.png: there is no such file");
    refused(*FrameNames::parse(folder.path() / "g%d"), {}, "g%d: there are no such files");
    refused(*FrameNames::parse(folder.path() / "nowhere" / "g%d"), {}, "no such files");
    folder.write("f0007.png", "");
    refused(names, {}, "f0006.png: is missing; there are");
    EXPECT_EQ(names.files({}, 3).size(), 3U) << "those behind the gap are not asked for";
    EXPECT_EQ(names.files(7).size(), 1U);
    folder.write("f0010.png", "");
    refused(names, 7, "f0008.png: is missing, and so are all up to");
}

} // namespace
} // namespace video::test
