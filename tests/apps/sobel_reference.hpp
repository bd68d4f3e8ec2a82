// tests/apps/sobel_reference.hpp - the Sobel filter as its definition says it, pixel after pixel, and frames
// to try it on.
#pragma once
#include "sobel/frames.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace sobel::test {

using Frame = std::vector<std::uint8_t>;

inline Frame reference(const Planes& planes, const Frame& frame) {
    Frame edges(frame.size(), 0);
    std::size_t first = 0;
    for (const auto& [rows, columns] : planes.plane) {
        const auto at = [&, columns = columns](int y, int x) {
            return first + static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) +
                   static_cast<std::size_t>(x);
        };
        for (int y = 1; y < rows - 1; ++y)
            for (int x = 1; x < columns - 1; ++x) {
                double across = 0, down = 0;
                for (const int i : {-1, 0, 1}) {
                    const double weight = i == 0 ? 2 : 1;
                    across += weight * (frame[at(y + i, x + 1)] - frame[at(y + i, x - 1)]);
                    down += weight * (frame[at(y + 1, x + i)] - frame[at(y - 1, x + i)]);
                }
                // Squares are exact in double precision, and a root that is whole comes out whole.
                edges[at(y, x)] =
                    static_cast<std::uint8_t>(std::fmin(255, std::sqrt(across * across + down * down)));
            }
        first += static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    }
    return edges;
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

} // namespace sobel::test
