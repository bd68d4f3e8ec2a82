// tests/apps/reference_picture.cpp - see reference_picture.hpp.
#include "apps/reference_picture.hpp"
#include "apps/reference_gltf.hpp"

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfInputFile.h>
#include <ImfIntAttribute.h>
#include <ImfOutputFile.h>

#include <ImathBox.h>

#include <array>
#include <utility>

namespace path_tracer::test {
namespace {

constexpr const char* paths_attribute = "paths";
constexpr std::array<const char*, 6> channels = {"R", "G", "B", "error.R", "error.G", "error.B"};

/// Numbers of a pixel, in the order of `channels`.
using PixelNumbers = std::array<float, channels.size()>;

Imf::FrameBuffer buffer_of(std::vector<PixelNumbers>& numbers, std::size_t width) {
    Imf::FrameBuffer frame;
    for (std::size_t i = 0; i < channels.size(); ++i)
        frame.insert(channels[i], Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(&numbers[0][i]),
                                             sizeof(PixelNumbers), sizeof(PixelNumbers) * width));
    return frame;
}

} // namespace

ReferencePicture picture_of(const KhronosModel& model, int paths) {
    const ReferenceView view = model.view();
    return {view.width, view.height, paths, reference_picture(read_reference_gltf(model.gltf), view, paths)};
}

void write_picture(const std::filesystem::path& file, const ReferencePicture& picture) {
    std::vector<PixelNumbers> numbers;
    for (const ReferencePixel& pixel : picture.pixels) {
        const auto &mean = pixel.mean, &error = pixel.standard_error;
        PixelNumbers& own = numbers.emplace_back();
        std::size_t i = 0;
        for (const double number : {mean.x, mean.y, mean.z, error.x, error.y, error.z})
            own[i++] = static_cast<float>(number);
    }
    Imf::Header header(static_cast<int>(picture.width), static_cast<int>(picture.height));
    header.compression() = Imf::ZIP_COMPRESSION;
    header.insert(paths_attribute, Imf::IntAttribute(picture.paths));
    for (std::size_t i = 0; i < channels.size(); ++i)
        header.channels().insert(channels[i], Imf::Channel(i < 3 ? Imf::FLOAT : Imf::HALF));
    // A file of halves takes halves.
    std::vector<std::array<half, 3>> errors;
    for (const PixelNumbers& own : numbers) errors.push_back({half(own[3]), half(own[4]), half(own[5])});
    Imf::FrameBuffer frame = buffer_of(numbers, picture.width);
    for (std::size_t i = 0; i < 3; ++i)
        frame.insert(channels[3 + i], Imf::Slice(Imf::HALF, reinterpret_cast<char*>(&errors[0][i]),
                                                 sizeof errors[0], sizeof errors[0] * picture.width));
    Imf::OutputFile exr(file.c_str(), header);
    exr.setFrameBuffer(frame);
    exr.writePixels(static_cast<int>(picture.height));
}

ReferencePicture read_picture(const std::filesystem::path& file) {
    Imf::InputFile exr(file.c_str());
    const Imath::Box2i window = exr.header().dataWindow();
    ReferencePicture picture;
    picture.width = static_cast<std::size_t>(window.max.x) + 1;
    picture.height = static_cast<std::size_t>(window.max.y) + 1;
    picture.paths = exr.header().typedAttribute<Imf::IntAttribute>(paths_attribute).value();
    std::vector<PixelNumbers> numbers(picture.width * picture.height);
    exr.setFrameBuffer(buffer_of(numbers, picture.width));
    exr.readPixels(window.min.y, window.max.y);
    for (const auto& [r, g, b, error_r, error_g, error_b] : numbers)
        picture.pixels.push_back(
            {{double{r}, double{g}, double{b}}, {double{error_r}, double{error_g}, double{error_b}}});
    return picture;
}

} // namespace path_tracer::test
