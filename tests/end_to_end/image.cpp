// tests/end_to_end/image.cpp - see image.hpp.
#include "end_to_end/image.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>

namespace headrace::end_to_end {

static_assert(std::endian::native == std::endian::little, "read_pfm takes the file's bytes as they are");

Image read_pfm(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const auto fail = [&](const char* why) -> void { throw std::runtime_error(file.string() + ": " + why); };
    std::string magic;
    double scale = 0;
    Image image;
    if (!(stream >> magic >> image.width >> image.height >> scale)) fail("no PFM header");
    if (magic != "PF") fail("not an RGB PFM");
    if (scale >= 0) fail("not little-endian");
    if (stream.get() != '\n') fail("no newline after the header");

    image.values.resize(3 * image.width * image.height);
    const std::size_t row = 3 * image.width;
    for (std::size_t y = image.height; y-- > 0;) // rows come from the bottom
        stream.read(reinterpret_cast<char*>(&image.values[y * row]),
                    static_cast<std::streamsize>(row * sizeof(float)));
    if (!stream) fail("too short");
    if (stream.get() != std::ifstream::traits_type::eof()) fail("too long");
    return image;
}

namespace {
void check_sizes(const Image& a, const Image& b) {
    if (a.width != b.width || a.height != b.height) throw std::runtime_error("images of different sizes");
}
} // namespace

double rms_difference(const Image& a, const Image& b) {
    check_sizes(a, b);
    double sum = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
        const double difference = double{a.values[i]} - double{b.values[i]};
        sum += difference * difference;
    }
    return std::sqrt(sum / static_cast<double>(a.values.size()));
}

Likeness likeness(const Image& image, const Image& other) {
    check_sizes(image, other);
    Likeness found{};
    for (std::size_t i = 0; i < image.values.size(); ++i) {
        const float here = image.values[i], there = other.values[i];
        found.differing += std::abs(here - there) > 1e-3f * (1 + there) ? 1 : 0;
        found.sum += double{here};
        found.other_sum += double{there};
    }
    return found;
}

double largest_difference(const Image& a, const Image& b) {
    check_sizes(a, b);
    double largest = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
        const double x = a.values[i], y = b.values[i];
        const double difference = std::abs(x - y) / std::max({1.0, std::abs(x), std::abs(y)});
        if (!(difference <= largest)) largest = difference; // so that a NaN is the largest
    }
    return largest;
}

} // namespace headrace::end_to_end
