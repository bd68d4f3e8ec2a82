// tests/end_to_end/moving_texture.hpp - frames whose flow is known everywhere, and flow fields as files have
// them.
#pragma once
#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

namespace headrace::end_to_end {

struct Point {
    double x = 0, y = 0;
};

/// Waves of 28 to 80 pixels in five directions, 0 to 1. On the third level of a pyramid the shortest still
/// has seven samples; of what is finer, coarse levels find a flow that the finer ones cannot put right.
inline double texture(Point at) {
    struct Wave {
        double length, angle, phase;
    };
    double sum = 0;
    for (const Wave& wave :
         {Wave{80, 0.3, 0.0}, {58, 1.2, 1.0}, {46, 2.1, 2.0}, {34, 2.9, 0.5}, {28, 0.8, 4.0}})
        sum += std::sin(2 * std::numbers::pi / wave.length *
                            (at.x * std::cos(wave.angle) + at.y * std::sin(wave.angle)) +
                        wave.phase);
    return 0.5 + 0.1 * sum;
}

/// What turns by so many radians about a point and grows by a factor, and then moves.
struct Motion {
    double u = 0, v = 0, radians = 0, factor = 1;
    Point middle{};

    /// Where what is at a point comes to.
    [[nodiscard]] Point forth(Point from) const {
        const double x = from.x - middle.x, y = from.y - middle.y;
        const double c = factor * std::cos(radians), s = factor * std::sin(radians);
        return {middle.x + c * x - s * y + u, middle.y + s * x + c * y + v};
    }
    /// Where what is at a point has come from.
    [[nodiscard]] Point back(Point to) const {
        const double x = to.x - middle.x - u, y = to.y - middle.y - v;
        const double c = std::cos(radians) / factor, s = std::sin(radians) / factor;
        return {middle.x + c * x + s * y, middle.y - s * x + c * y};
    }
};

/// The texture after a motion was repeated so often, samples of 16 bits, row-major.
inline std::vector<std::uint16_t> moved(int width, int height, const Motion& motion, int times) {
    std::vector<std::uint16_t> samples;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            Point at{static_cast<double>(x), static_cast<double>(y)};
            for (int i = 0; i < times; ++i) at = motion.back(at);
            samples.push_back(static_cast<std::uint16_t>(std::lround(65535 * texture(at))));
        }
    return samples;
}

/// A PNG's bytes, grey with 16 bits.
inline std::string png_of(int width, int height, const std::vector<std::uint16_t>& samples) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width);
    image.height = static_cast<png_uint_32>(height);
    image.format = PNG_FORMAT_LINEAR_Y; // samples are stored as they are
    std::string bytes(samples.size() * 4 + 4096, '\0');
    png_alloc_size_t used = bytes.size();
    EXPECT_NE(png_image_write_to_memory(&image, bytes.data(), &used, 0, samples.data(), 0, nullptr), 0)
        << image.message;
    bytes.resize(used);
    return bytes;
}

/// A PGM's bytes, 8 bits.
inline std::string pgm_of(int width, int height, const std::vector<std::uint16_t>& samples) {
    std::string bytes = "P5 " + std::to_string(width) + " " + std::to_string(height) + " 255\n";
    for (const std::uint16_t sample : samples) bytes.push_back(static_cast<char>((sample + 128) / 257));
    return bytes;
}

/// A YUV4MPEG2 film's bytes, 4:2:0: the texture as it moves, all grey.
inline std::string film_of(int width, int height, const Motion& motion, int frames) {
    std::string film =
        "YUV4MPEG2 W" + std::to_string(width) + " H" + std::to_string(height) + " F25:1 C420mpeg2\n";
    for (int i = 0; i < frames; ++i) {
        film += "FRAME\n";
        for (const std::uint16_t sample : moved(width, height, motion, i))
            film.push_back(static_cast<char>((sample + 128) / 257));
        film.append(2U * static_cast<std::size_t>((width + 1) / 2 * ((height + 1) / 2)), '\x80');
    }
    return film;
}

/// A flow field; empty if the bytes are no .flo file.
struct Field {
    int width = 0, height = 0;
    std::vector<Point> flow; ///< [height x width]

    explicit Field(const std::string& bytes) {
        if (bytes.size() < 12 || bytes.compare(0, 4, "PIEH") != 0) return;
        std::int32_t sides[2];
        std::memcpy(sides, bytes.data() + 4, sizeof sides);
        if (bytes.size() != 12 + 8 * static_cast<std::size_t>(sides[0]) * static_cast<std::size_t>(sides[1]))
            return;
        width = sides[0], height = sides[1];
        for (std::size_t at = 12; at < bytes.size(); at += 8) {
            float both[2];
            std::memcpy(both, bytes.data() + at, sizeof both);
            flow.push_back({both[0], both[1]});
        }
    }

    [[nodiscard]] double norm() const {
        double squares = 0;
        for (const Point& at : flow) squares += at.x * at.x + at.y * at.y;
        return std::sqrt(squares);
    }
    /// Mean distance to the true flow, in pixels, of all pixels that are `border` away from edges at least.
    [[nodiscard]] double error(const std::function<Point(Point)>& forth, int border) const {
        double sum = 0;
        int pixels = 0;
        for (int y = border; y < height - border; ++y)
            for (int x = border; x < width - border; ++x, ++pixels) {
                const Point here{static_cast<double>(x), static_cast<double>(y)}, to = forth(here);
                const Point& found = flow[static_cast<std::size_t>(y * width + x)];
                sum += std::hypot(found.x - (to.x - here.x), found.y - (to.y - here.y));
            }
        return pixels > 0 ? sum / pixels : std::nan("");
    }
};

} // namespace headrace::end_to_end
