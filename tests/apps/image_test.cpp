// Image files say what the film says, and are whole or not there.
#include "image.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfInputFile.h>
#include <png.h>

#include <cmath>
#include <cstring>

namespace path_tracer::test {
namespace {

using headrace::test::ScratchFolder;

std::vector<Rgb> gradient(uint32_t width, uint32_t height) {
    std::vector<Rgb> pixels;
    for (uint32_t i = 0; i < width * height; ++i)
        pixels.push_back(
            {static_cast<float>(i) / 7, 1.0f / static_cast<float>(i + 1), static_cast<float>(i % width)});
    return pixels;
}

TEST(Pfm, HasRowsFromTheBottomAsTheyAre) {
    const auto pixels = gradient(5, 3);
    const std::string bytes = encode_image(ImageFormat::pfm, 5, 3, pixels);
    const std::string header = "PF\n5 3\n-1.0\n";
    ASSERT_EQ(bytes.substr(0, header.size()), header);
    ASSERT_EQ(bytes.size(), header.size() + 15 * 12);
    for (uint32_t row = 0; row < 3; ++row)
        EXPECT_EQ(std::memcmp(bytes.data() + header.size() + row * 60, &pixels[(2 - row) * 5], 60), 0);
}

TEST(Png, IsSrgb) {
    const std::vector<Rgb> pixels = {
        {0, 0.5f, 1}, {-1, 7, 0.001f}, {NAN, INFINITY, 0.2140f}, {0.0031308f, 0.18f, 0.9f}};
    const std::string bytes = encode_image(ImageFormat::png, 2, 2, pixels);
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    ASSERT_NE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), 0);
    image.format = PNG_FORMAT_RGB;
    ASSERT_EQ(image.width, 2u);
    ASSERT_EQ(image.height, 2u);
    std::vector<std::uint8_t> read(12);
    ASSERT_NE(png_image_finish_read(&image, nullptr, read.data(), 0, nullptr), 0);
    // 0.5 -> 188, 0.001 -> 3, 0.214 -> 127.5, 0.18 -> 118, 0.9 -> 243: IEC 61966-2-1
    const std::vector<std::uint8_t> expected = {0, 188, 255, 0, 255, 3, 0, 255, read[8], 10, 118, 243};
    EXPECT_EQ(read, expected);
    EXPECT_NEAR(read[8], 127.5, 0.6);
}

TEST(Exr, KeepsEveryFloat) {
    const ScratchFolder folder;
    const auto pixels = gradient(7, 4);
    const auto file = folder.write("a.exr", encode_image(ImageFormat::exr, 7, 4, pixels));
    Imf::InputFile exr(file.c_str());
    const auto window = exr.header().dataWindow();
    ASSERT_EQ(window.max.x, 6);
    ASSERT_EQ(window.max.y, 3);
    std::vector<Rgb> read(28);
    Imf::FrameBuffer frame;
    frame.insert("R", Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(&read[0].r), 12, 12 * 7));
    frame.insert("G", Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(&read[0].g), 12, 12 * 7));
    frame.insert("B", Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(&read[0].b), 12, 12 * 7));
    exr.setFrameBuffer(frame);
    exr.readPixels(0, 3);
    EXPECT_EQ(std::memcmp(read.data(), pixels.data(), sizeof(Rgb) * 28), 0);
}

TEST(Image, FormatFollowsTheName) {
    EXPECT_EQ(image_format("a/b.PNG"), ImageFormat::png);
    EXPECT_EQ(image_format("b.exr"), ImageFormat::exr);
    EXPECT_EQ(image_format("b.x.pfm"), ImageFormat::pfm);
    for (const char* name : {"b.jpeg", "png", "b", ""})
        EXPECT_THROW(static_cast<void>(image_format(name)), headrace::Error);
}

} // namespace
} // namespace path_tracer::test
