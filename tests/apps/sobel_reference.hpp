// tests/apps/sobel_reference.hpp - the Sobel filter as its definition says it, pixel after pixel, and frames
// to try it on.
#pragma once
#include "sobel/frames.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sobel::test {

using Frame = std::vector<std::uint8_t>;

/// Each field of an interlaced frame apart: its rows are every other one.
inline Frame reference(const FrameFormat& format, const Frame& frame) {
    const bool has_fields = format.interlacing == video::Interlacing::top_first ||
                            format.interlacing == video::Interlacing::bottom_first;
    const int step = has_fields ? 2 : 1;
    const auto bytes = static_cast<std::size_t>(format.sample_bytes());
    Frame edges(frame.size(), 0);
    std::size_t first = 0;
    for (const auto& [rows, columns] : format.planes.plane) {
        const auto at = [&, columns = columns](int y, int x) {
            return bytes * (first + static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) +
                            static_cast<std::size_t>(x));
        };
        const auto pixel = [&](int y, int x) {
            return bytes == 1 ? frame[at(y, x)] : frame[at(y, x)] + 256 * frame[at(y, x) + 1];
        };
        for (int y = step; y < rows - step; ++y)
            for (int x = 1; x < columns - 1; ++x) {
                double across = 0, down = 0;
                for (const int i : {-1, 0, 1}) {
                    const double weight = i == 0 ? 2 : 1;
                    across += weight * (pixel(y + i * step, x + 1) - pixel(y + i * step, x - 1));
                    down += weight * (pixel(y + step, x + i) - pixel(y - step, x + i));
                }
                // Squares are exact in double precision, and a root that is whole comes out whole.
                const auto strength = static_cast<unsigned>(
                    std::fmin(format.maximum, std::sqrt(across * across + down * down)));
                for (std::size_t byte = 0; byte < bytes; ++byte)
                    edges[at(y, x) + byte] = static_cast<std::uint8_t>(strength >> 8 * byte);
            }
        first += static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    }
    return edges;
}
inline Frame reference(const Planes& planes, const Frame& frame) {
    FrameFormat format;
    format.planes = planes;
    return reference(format, frame);
}

/// Of many sizes of step, so that edges of every strength are there.
inline Frame noise(const Planes& planes, std::uint32_t seed) {
    Frame frame(planes.bytes());
    std::uint32_t state = seed * 2654435761U + 1;
    for (std::size_t i = 0; i < frame.size(); ++i) {
        state = state * 1664525U + 1013904223U;
        frame[i] = static_cast<std::uint8_t>((state >> 24) >> (i / 64 % 8)); // runs from loud to quiet
    }
    return frame;
}

/// The same of as many bits as the format has, and now and then of more.
inline Frame noise(const FrameFormat& format, std::uint32_t seed) {
    if (format.maximum == 255) return noise(format.planes, seed);
    Frame frame;
    std::uint32_t state = seed * 2654435761U + 1;
    for (std::size_t i = 0; i < format.planes.bytes(); ++i) {
        state = state * 1664525U + 1013904223U;
        const std::uint32_t bits =
            static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(format.maximum))) +
            (state % 64 == 0 ? 1 : 0);
        const std::uint32_t sample = (state >> 8) % (1U << std::min(bits, 16U)) >> i / 7 % 12;
        frame.push_back(static_cast<std::uint8_t>(sample));
        frame.push_back(static_cast<std::uint8_t>(sample >> 8));
    }
    return frame;
}

} // namespace sobel::test
