// apps/path_tracer/image.cpp - see image.hpp. The one unit that writes OpenEXR.
#include "image.hpp"
#include "program/png.hpp"
#include <headrace/core/error.hpp>

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfOutputFile.h>
#include <ImfStringAttribute.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <vector>

namespace path_tracer {
namespace {

using headrace::Error;
using headrace::ErrorKind;

std::uint8_t srgb(float linear) {
    const float clipped = linear > 0 ? std::min(linear, 1.0f) : 0.0f; // NaN is black
    const float encoded =
        clipped <= 0.0031308f ? 12.92f * clipped : 1.055f * std::pow(clipped, 1 / 2.4f) - 0.055f;
    return static_cast<std::uint8_t>(std::lround(255 * encoded));
}

std::string encode_png(uint32_t width, uint32_t height, std::span<const Rgb> pixels) {
    std::vector<std::uint8_t> encoded;
    encoded.reserve(pixels.size() * 3);
    for (const Rgb& pixel : pixels)
        for (const float value : {pixel.r, pixel.g, pixel.b}) encoded.push_back(srgb(value));
    return program::encode_png({.width = width, .height = height, .channels = 3, .pixels = encoded});
}

/// OpenEXR's idea of a file, in memory.
class MemoryFile : public Imf::OStream {
public:
    MemoryFile() : OStream("memory") {}
    void write(const char* bytes, int count) override {
        const std::size_t end = place_ + static_cast<std::size_t>(count);
        if (bytes_.size() < end) bytes_.resize(end);
        std::memcpy(bytes_.data() + place_, bytes, static_cast<std::size_t>(count));
        place_ = end;
    }
    std::uint64_t tellp() override { return place_; }
    void seekp(std::uint64_t place) override { place_ = place; }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
    std::size_t place_ = 0;
};

std::string encode_exr(uint32_t width, uint32_t height, std::span<const Rgb> pixels,
                       const ImageExtras& extras) {
    MemoryFile memory;
    try {
        Imf::Header header(static_cast<int>(width), static_cast<int>(height));
        header.compression() = Imf::ZIP_COMPRESSION;
        Imf::FrameBuffer frame;
        const auto add = [&](const char* name, const float& first, std::size_t pixel_bytes = sizeof(Rgb)) {
            header.channels().insert(name, Imf::Channel(Imf::FLOAT));
            // The library only reads from here, but its type has no way to say so.
            frame.insert(name, Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(const_cast<float*>(&first)),
                                          pixel_bytes, pixel_bytes * width));
        };
        add("R", pixels[0].r);
        add("G", pixels[0].g);
        add("B", pixels[0].b);
        if (!extras.first_hits.empty()) {
            const FirstHit& first = extras.first_hits[0];
            add("albedo.R", first.albedo.r, sizeof first);
            add("albedo.G", first.albedo.g, sizeof first);
            add("albedo.B", first.albedo.b, sizeof first);
            add("N.X", first.normal.x, sizeof first);
            add("N.Y", first.normal.y, sizeof first);
            add("N.Z", first.normal.z, sizeof first);
            add("Z", first.distance, sizeof first);
        }
        for (const auto& [name, text] : extras.attributes) header.insert(name, Imf::StringAttribute(text));
        Imf::OutputFile file(memory, header);
        file.setFrameBuffer(frame);
        file.writePixels(static_cast<int>(height));
    } catch (const std::exception& error) {
        throw Error{ErrorKind::io, std::string("OpenEXR: ") + error.what()};
    }
    return memory.take();
}

std::string encode_pfm(uint32_t width, uint32_t height, std::span<const Rgb> pixels) {
    static_assert(std::endian::native == std::endian::little, "the scale of -1 below says so");
    std::string bytes = "PF\n" + std::to_string(width) + ' ' + std::to_string(height) + "\n-1.0\n";
    for (uint32_t row = height; row-- > 0;)
        bytes.append(reinterpret_cast<const char*>(&pixels[std::size_t{row} * width]), sizeof(Rgb) * width);
    return bytes;
}

} // namespace

ImageFormat image_format(const std::filesystem::path& file) {
    std::string extension = file.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    if (extension == ".png") return ImageFormat::png;
    if (extension == ".exr") return ImageFormat::exr;
    if (extension == ".pfm") return ImageFormat::pfm;
    throw Error{ErrorKind::invalid_argument, file.string() + ": images are written as .png, .exr or .pfm"};
}

std::string encode_image(ImageFormat format, uint32_t width, uint32_t height, std::span<const Rgb> pixels,
                         const ImageExtras& extras) {
    const bool has_layers = !extras.first_hits.empty();
    if (pixels.empty() || pixels.size() != std::size_t{width} * height ||
        (has_layers && extras.first_hits.size() != pixels.size()))
        throw Error{ErrorKind::invalid_argument, "an image needs width x height pixels"};
    switch (format) {
    case ImageFormat::png:
        return encode_png(width, height, pixels);
    case ImageFormat::exr:
        return encode_exr(width, height, pixels, extras);
    case ImageFormat::pfm:
        return encode_pfm(width, height, pixels);
    }
    throw Error{ErrorKind::internal, "an image format without an encoder"};
}

} // namespace path_tracer
