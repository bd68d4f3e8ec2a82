// apps/path_tracer/texture_image.cpp - see texture_image.hpp.
#include "texture_image.hpp"
#include "srgb.hpp"
#include "video/picture.hpp"
#include <headrace/core/error.hpp>

#include <ImathBox.h>
#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfInputFile.h>
#include <half.h>
#include <stb/stb_image.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace path_tracer {
namespace {

using headrace::Error;
using headrace::ErrorKind;

/// Red, green, blue, opacity.
using Channels = std::array<float, 4>;

Texel packed(const Channels& value) {
    const auto pair = [](float low, float high) {
        return static_cast<std::uint32_t>(half(low).bits()) | static_cast<std::uint32_t>(half(high).bits())
                                                                  << 16;
    };
    return {pair(value[0], value[1]), pair(value[2], value[3])};
}

Channels unpacked(const Texel& texel) {
    const auto value = [](std::uint32_t bits) {
        half number;
        number.setBits(static_cast<std::uint16_t>(bits & 0xffff));
        return static_cast<float>(number);
    };
    return {value(texel.red_green), value(texel.red_green >> 16), value(texel.blue_opacity),
            value(texel.blue_opacity >> 16)};
}

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
    throw Error{ErrorKind::invalid_argument, file + ": " + what};
}

void check_size(const std::string& file, std::size_t width, std::size_t height) {
    if (width * height > most_texels)
        refuse(file, "has " + std::to_string(width) + " x " + std::to_string(height) +
                         " pixels, more than 16384 x 16384; make it smaller");
}

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG"); }
bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8"); }
bool is_hdr(std::string_view bytes) {
    return bytes.starts_with("#?RADIANCE\n") || bytes.starts_with("#?RGBE\n");
}
bool is_exr(std::string_view bytes) { return bytes.starts_with("\x76\x2f\x31\x01"); }

/// Numbers from 0 to 1 for all values that a sample can have.
std::vector<float> values_of_samples(int maximum, bool is_srgb) {
    std::vector<float> values(static_cast<std::size_t>(maximum) + 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = static_cast<double>(i) / maximum;
        values[i] = static_cast<float>(is_srgb ? linear_of_srgb(value) : value);
    }
    return values;
}

/// Grey, grey and opacity, RGB, or RGB and opacity: as `channels` of PNG and JPEG are ordered.
Channels in_order(const std::array<float, 4>& stored, int channels) {
    const bool has_colours = channels >= 3, has_opacity = channels == 2 || channels == 4;
    const float opacity = has_opacity ? stored[static_cast<std::size_t>(channels) - 1] : 1;
    return has_colours ? Channels{stored[0], stored[1], stored[2], opacity}
                       : Channels{stored[0], stored[0], stored[0], opacity};
}

bool is_opaque(const TextureImage& image) {
    const std::uint32_t opaque = half(1.0f).bits();
    return std::all_of(image.texels.begin(), image.texels.end(),
                       [opaque](const Texel& texel) { return texel.blue_opacity >> 16 == opaque; });
}

/// As TexelMeaning::opacity wants a picture that is opaque.
void take_grey_for_opacity(TextureImage& image) {
    for (Texel& texel : image.texels) {
        Channels value = unpacked(texel);
        value[3] = (value[0] + value[1] + value[2]) / 3;
        texel = packed(value);
    }
}

TextureImage decode_samples(const std::string& file, std::string bytes, TexelMeaning meaning) {
    const std::unique_ptr<video::Picture> picture =
        is_png(bytes) ? video::open_png(file, std::move(bytes), video::Opacity::kept)
                      : video::open_jpeg(file, std::move(bytes));
    const video::Size size = picture->size();
    TextureImage image;
    image.width = static_cast<std::uint32_t>(size.width);
    image.height = static_cast<std::uint32_t>(size.height);
    check_size(file, image.width, image.height);
    const video::Samples samples = picture->samples();
    const bool is_colour = meaning == TexelMeaning::reflectance || meaning == TexelMeaning::radiance;
    const std::vector<float> colour = values_of_samples(samples.maximum, is_colour),
                             opacity = values_of_samples(samples.maximum, false);
    const bool has_opacity = samples.channels == 2 || samples.channels == 4;
    const std::size_t bytes_each = samples.maximum > 255 ? 2 : 1;
    image.texels.resize(size.pixels());
    const auto channels = static_cast<std::size_t>(samples.channels);
    tbb::parallel_for(std::size_t{0}, std::size_t{image.height}, [&](std::size_t row) {
        const std::uint8_t* next = samples.bytes.data() + row * image.width * channels * bytes_each;
        for (std::size_t column = 0; column < image.width; ++column) {
            std::array<float, 4> stored{};
            for (std::size_t channel = 0; channel < channels; ++channel, next += bytes_each) {
                const std::size_t level = bytes_each == 1 ? next[0]
                                          : samples.order == std::endian::big
                                              ? std::size_t{next[0]} << 8 | next[1]
                                              : std::size_t{next[1]} << 8 | next[0];
                const bool is_last_of_opacity = has_opacity && channel + 1 == channels;
                stored[channel] = (is_last_of_opacity ? opacity : colour)[level];
            }
            image.texels[row * image.width + column] = packed(in_order(stored, samples.channels));
        }
    });
    return image;
}

/// OpenEXR's idea of a file, in memory.
class MemoryInput : public Imf::IStream {
public:
    MemoryInput(const std::string& file, std::string_view bytes) : IStream(file.c_str()), bytes_(bytes) {}
    bool read(char* to, int count) override {
        const auto wanted = static_cast<std::size_t>(count);
        if (count < 0 || wanted > bytes_.size() - std::min<std::size_t>(place_, bytes_.size()))
            throw Iex::InputExc("it ends too early");
        std::memcpy(to, bytes_.data() + place_, wanted);
        place_ += wanted;
        return place_ < bytes_.size();
    }
    std::uint64_t tellg() override { return place_; }
    void seekg(std::uint64_t place) override { place_ = place; }

private:
    std::string_view bytes_;
    std::uint64_t place_ = 0;
};

/// What a file of floats holds.
struct FloatPicture {
    std::size_t width = 0, height = 0;
    std::vector<Channels> values{}; ///< the upper row first
    bool has_opacity = false;
    std::vector<std::string> notes{};
};

/// The bytes of a file, as the library asks for them.
class HdrBytes {
public:
    explicit HdrBytes(std::string_view bytes) : bytes_(bytes) {}
    static stbi_io_callbacks callbacks() { return {&HdrBytes::read, &HdrBytes::skip, &HdrBytes::is_at_end}; }
    /// More was asked for than there is. The library takes it for zeros.
    [[nodiscard]] bool ended_early() const { return ended_early_; }

private:
    static int read(void* self, char* to, int count) {
        auto& own = *static_cast<HdrBytes*>(self);
        const std::string_view next = own.bytes_.substr(0, static_cast<std::size_t>(std::max(count, 0)));
        std::copy(next.begin(), next.end(), to);
        own.bytes_.remove_prefix(next.size());
        own.ended_early_ |= next.empty() && count > 0;
        return static_cast<int>(next.size());
    }
    static void skip(void* self, int count) {
        auto& own = *static_cast<HdrBytes*>(self);
        own.bytes_.remove_prefix(std::min(static_cast<std::size_t>(std::max(count, 0)), own.bytes_.size()));
    }
    static int is_at_end(void* self) { return static_cast<HdrBytes*>(self)->bytes_.empty() ? 1 : 0; }

    std::string_view bytes_;
    bool ended_early_ = false;
};

/// By what a program has multiplied the radiance before it wrote the file.
double exposure_of(std::string_view bytes) {
    constexpr std::string_view keyword = "EXPOSURE=";
    double product = 1;
    for (std::string_view line; !bytes.empty();) {
        const std::size_t end = std::min(bytes.find('\n'), bytes.size());
        line = bytes.substr(0, end);
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
        if (line.empty()) break; // the header's end
        if (!line.starts_with(keyword)) continue;
        line.remove_prefix(keyword.size());
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        double value = 1;
        if (std::from_chars(line.data(), line.data() + line.size(), value).ec == std::errc{} && value > 0)
            product *= value;
    }
    return product > 0 && std::isfinite(product) ? product : 1;
}

FloatPicture decode_hdr(const std::string& file, const std::string& bytes) {
    const auto refuse_broken = [&](const char* why) {
        refuse(file, std::string("the Radiance HDR file is broken: ") + why);
    };
    const stbi_io_callbacks callbacks = HdrBytes::callbacks();
    int width = 0, height = 0, channels = 0;
    HdrBytes header(bytes);
    if (stbi_info_from_callbacks(&callbacks, &header, &width, &height, &channels) == 0 || width < 1 ||
        height < 1)
        refuse_broken(stbi_failure_reason());
    FloatPicture picture{static_cast<std::size_t>(width), static_cast<std::size_t>(height)};
    check_size(file, picture.width, picture.height);
    constexpr std::size_t best_ratio = 16; // pixels of a byte; or a few bytes could ask for gigabytes
    if (picture.width * picture.height > best_ratio * bytes.size()) refuse_broken("it ends too early");
    HdrBytes all(bytes);
    const std::unique_ptr<float, decltype(&stbi_image_free)> values(
        stbi_loadf_from_callbacks(&callbacks, &all, &width, &height, &channels, 3), &stbi_image_free);
    if (values == nullptr) refuse_broken(stbi_failure_reason());
    if (all.ended_early()) refuse_broken("it ends too early");
    picture.values.resize(picture.width * picture.height);
    const auto factor = static_cast<float>(1 / exposure_of(bytes));
    const float* next = values.get();
    for (Channels& value : picture.values) {
        value = {next[0] * factor, next[1] * factor, next[2] * factor, 1};
        next += 3;
    }
    return picture;
}

FloatPicture decode_exr(const std::string& file, const std::string& bytes) {
    FloatPicture picture;
    std::vector<Channels>& values = picture.values;
    try {
        MemoryInput memory(file, bytes);
        Imf::InputFile input(memory, 1);
        const Imath::Box2i window = input.header().dataWindow();
        const auto width = static_cast<std::size_t>(std::int64_t{window.max.x} - window.min.x + 1),
                   height = static_cast<std::size_t>(std::int64_t{window.max.y} - window.min.y + 1);
        check_size(file, width, height);
        constexpr std::size_t best_ratio = 4096; // of compression; or a few bytes could ask for gigabytes
        if (width * height > best_ratio * bytes.size())
            refuse(file, "the OpenEXR file is broken: it ends too early");
        picture.width = width;
        picture.height = height;
        const Imf::ChannelList& channels = input.header().channels();
        const auto has = [&](const char* name) { return channels.findChannel(name) != nullptr; };
        if (!has("R") && !has("Y")) refuse(file, "has neither a channel R nor Y; write it as RGB");
        if (!has("R") && (has("RY") || has("BY"))) refuse(file, "has luminance and chroma; write it as RGB");
        const char* const grey = !has("R") ? "Y" : !has("G") && !has("B") ? "R" : nullptr;
        if (window != input.header().displayWindow())
            picture.notes.push_back(file +
                                    ": has a data window of its own, which is shown as all of the picture");
        picture.has_opacity = has("A");
        values.assign(width * height, Channels{0, 0, 0, 1});
        Imf::FrameBuffer frame;
        const auto place = [&](const char* name, std::size_t channel, double fallback) {
            // The library finds a pixel by its coordinates, which begin at those of the window.
            char* const first = reinterpret_cast<char*>(values.data()) + channel * sizeof(float);
            char* const origin =
                first - (static_cast<std::ptrdiff_t>(window.min.x) +
                         static_cast<std::ptrdiff_t>(window.min.y) * static_cast<std::ptrdiff_t>(width)) *
                            static_cast<std::ptrdiff_t>(sizeof(Channels));
            frame.insert(name, Imf::Slice(Imf::FLOAT, origin, sizeof(Channels), sizeof(Channels) * width, 1,
                                          1, fallback));
        };
        if (grey != nullptr) {
            place(grey, 0, 0);
        } else {
            place("R", 0, 0);
            place("G", 1, 0);
            place("B", 2, 0);
        }
        place("A", 3, 1);
        input.setFrameBuffer(frame);
        input.readPixels(window.min.y, window.max.y);
        if (grey != nullptr)
            for (Channels& value : values) value[1] = value[2] = value[0];
    } catch (const Iex::BaseExc& error) {
        refuse(file, std::string("the OpenEXR file is broken: ") + error.what());
    }
    return picture;
}

/// A power of two that brings a number below the largest float of 16 bits, or 1.
float scale_for(float brightest) {
    constexpr float largest = 32768;
    return brightest > largest ? std::ldexp(1.0f, std::ilogb(brightest / largest) + 1) : 1.0f;
}

TextureImage texels_of(const std::string& file, FloatPicture picture, TexelMeaning meaning) {
    TextureImage image;
    image.width = static_cast<std::uint32_t>(picture.width);
    image.height = static_cast<std::uint32_t>(picture.height);
    image.notes = std::move(picture.notes);
    bool was_bad = false, was_bright = false;
    std::size_t lost = 0;                                             // too dark beside the brightest
    float most = meaning == TexelMeaning::radiance ? 65504.0f : 1.0f; // the largest float of 16 bits
    if (meaning == TexelMeaning::environment) {
        most = 1e15f;        // as of all colours
        float brightest = 0; // of those that are numbers: half floats of suns are infinite now and then
        for (const Channels& value : picture.values)
            for (std::size_t channel = 0; channel < 3; ++channel)
                if (value[channel] > brightest && std::isfinite(value[channel])) brightest = value[channel];
        most = std::min(brightest, most);
        image.scale = scale_for(most);
    }
    image.texels.reserve(picture.values.size());
    for (Channels& value : picture.values) {
        if (picture.has_opacity && value[3] > 0 &&
            meaning != TexelMeaning::environment) // OpenEXR stores colours times their opacity
            for (std::size_t channel = 0; channel < 3; ++channel) value[channel] /= value[3];
        for (std::size_t channel = 0; channel < value.size(); ++channel) {
            float& number = value[channel];
            if (!(number >= 0)) {
                number = 0;
                was_bad = true;
            } else if (number > (channel == 3 ? 1.0f : most)) {
                number = channel == 3 ? 1.0f : most;
                if (channel != 3 || meaning != TexelMeaning::environment) was_bright = true;
            }
        }
        const bool was_lit = value[0] > 0 || value[1] > 0 || value[2] > 0;
        for (std::size_t channel = 0; channel < 3; ++channel) value[channel] /= image.scale;
        image.texels.push_back(packed(value));
        const Texel& texel = image.texels.back();
        if (was_lit && image.scale > 1 && texel.red_green == 0 && (texel.blue_opacity & 0xffffu) == 0) ++lost;
    }
    if (was_bad) image.notes.push_back(file + ": has values that are negative or NaN; they are 0");
    if (was_bright && meaning == TexelMeaning::environment)
        image.notes.push_back(
            file + ": has values that are infinite or above 1e15; they are the largest other one, or that");
    else if (was_bright)
        image.notes.push_back(file + ": has values above " +
                              (most > 1 ? "65504; they are that" : "1; they are 1"));
    if (lost > 0)
        image.notes.push_back(file + ": " + std::to_string(lost) + " of its " +
                              std::to_string(image.texels.size()) +
                              " texels are black beside the brightest one, which is more than 1e11 times as "
                              "bright; make that one darker");
    return image;
}

} // namespace

TextureImage decode_texture(const std::string& file, std::string bytes, TexelMeaning meaning) {
    const bool has_floats = is_exr(bytes) || is_hdr(bytes);
    if (meaning == TexelMeaning::environment && !has_floats)
        refuse(file, "is neither Radiance HDR nor OpenEXR; convert it");
    if (!is_png(bytes) && !is_jpeg(bytes) && !has_floats)
        refuse(file, "is neither PNG nor JPEG nor OpenEXR nor Radiance HDR; convert it");
    TextureImage image =
        has_floats
            ? texels_of(file, is_exr(bytes) ? decode_exr(file, bytes) : decode_hdr(file, bytes), meaning)
            : decode_samples(file, std::move(bytes), meaning);
    image.is_opaque = is_opaque(image);
    if (meaning == TexelMeaning::opacity && image.is_opaque) {
        take_grey_for_opacity(image);
        image.is_opaque = is_opaque(image);
    }
    return image;
}

namespace {

/// What the new texel `place` of `count` covers of `old_count` ones: from `first` on, with these weights. At
/// most three: `count` is half of `old_count`, rounded down.
struct Covered {
    std::size_t first;
    std::array<float, 3> weights{};

    Covered(std::size_t place, std::size_t count, std::size_t old_count) {
        const double begin = static_cast<double>(place) * static_cast<double>(old_count) /
                             static_cast<double>(count),
                     end = static_cast<double>(place + 1) * static_cast<double>(old_count) /
                           static_cast<double>(count);
        first = static_cast<std::size_t>(begin);
        for (std::size_t i = 0; i < weights.size() && first + i < old_count; ++i) {
            const double from = std::max(begin, static_cast<double>(first + i)),
                         to = std::min(end, static_cast<double>(first + i + 1));
            weights[i] = static_cast<float>(std::max(to - from, 0.0) / (end - begin));
        }
    }
};

} // namespace

TextureImage halved(const TextureImage& image, bool by_opacity) {
    TextureImage result;
    result.width = std::max(image.width / 2, 1u);
    result.height = std::max(image.height / 2, 1u);
    result.texels.resize(std::size_t{result.width} * result.height);
    tbb::parallel_for(std::size_t{0}, std::size_t{result.height}, [&](std::size_t row) {
        const Covered rows(row, result.height, image.height);
        for (std::size_t column = 0; column < result.width; ++column) {
            const Covered columns(column, result.width, image.width);
            Channels sum{}, seen{};
            for (std::size_t y = 0; y < rows.weights.size(); ++y)
                for (std::size_t x = 0; x < columns.weights.size(); ++x) {
                    const float weight = rows.weights[y] * columns.weights[x];
                    if (!(weight > 0)) continue;
                    const Channels value =
                        unpacked(image.texels[(rows.first + y) * image.width + columns.first + x]);
                    for (std::size_t channel = 0; channel < sum.size(); ++channel) {
                        sum[channel] += weight * value[channel];
                        seen[channel] += weight * value[3] * value[channel];
                    }
                }
            if (by_opacity && sum[3] > 0)
                for (std::size_t channel = 0; channel < 3; ++channel) sum[channel] = seen[channel] / sum[3];
            result.texels[row * result.width + column] = packed(sum);
        }
    });
    return result;
}

} // namespace path_tracer
