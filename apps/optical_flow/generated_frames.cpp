// apps/optical_flow/generated_frames.cpp - see generated_frames.hpp.
#include "generated_frames.hpp"
#include <headrace/core/error.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>

namespace optical_flow {
namespace {

// All of these depend on the place in the texture alone, and add `weight` at most.

struct Wave {
    double across, down; ///< radians for each pixel
    float weight;
};
constexpr Wave waves[] = {{0.061, 0.023, 0.15f}, {-0.094, 0.128, 0.15f}, {0.197, 0.236, 0.10f}};

struct Noise {
    double cell; ///< pixels from one independent value to the next
    float weight;
};
constexpr Noise noises[] = {{13, 0.35f}, {5, 0.25f}};

void add(const Wave& wave, double x, double y, std::span<float> row) {
    for (std::size_t i = 0; i < row.size(); ++i)
        row[i] += wave.weight *
                  static_cast<float>(
                      0.5 + 0.5 * std::sin(wave.across * (x + static_cast<double>(i)) + wave.down * y));
}

/// Independent for each pair of numbers, 0 to 1. Source: Steele et al., "Fast splittable pseudorandom number
/// generators", OOPSLA 2014: the last steps of SplitMix64
float hashed(std::int64_t column, std::int64_t line) {
    auto bits = static_cast<std::uint64_t>(column) * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(line);
    for (int i = 0; i < 2; ++i) {
        bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
        bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
        bits ^= bits >> 31;
    }
    return static_cast<float>(bits >> 40) / static_cast<float>(1 << 24);
}

/// From one value to the other without an edge.
float between(float from, float to, double part) {
    const auto t = static_cast<float>(part);
    return from + (to - from) * t * t * (3 - 2 * t);
}

void add(const Noise& noise, double x, double y, std::span<float> row) {
    const double line = std::floor(y / noise.cell);
    const auto value = [&](std::int64_t column) {
        const auto above = static_cast<std::int64_t>(line);
        return between(hashed(column, above), hashed(column, above + 1), y / noise.cell - line);
    };
    auto column = static_cast<std::int64_t>(std::floor(x / noise.cell));
    float left = value(column), right = value(column + 1);
    for (std::size_t i = 0; i < row.size(); ++i) {
        double part = (x + static_cast<double>(i)) / noise.cell - static_cast<double>(column);
        if (part >= 1) {
            left = right;
            right = value(++column + 1);
            part = (x + static_cast<double>(i)) / noise.cell - static_cast<double>(column);
        }
        row[i] += noise.weight * between(left, right, part);
    }
}

} // namespace

void generate(std::int64_t number, Size size, std::span<float> brightness) {
    HEADRACE_ASSERT(brightness.size() == size.pixels());
    const auto width = static_cast<std::size_t>(size.width);
    tbb::parallel_for(tbb::blocked_range<int>(0, size.height), [&](const tbb::blocked_range<int>& rows) {
        for (int line = rows.begin(); line != rows.end(); ++line) {
            const double x = -generated_u * static_cast<double>(number);
            const double y = line - generated_v * static_cast<double>(number);
            const std::span<float> row = brightness.subspan(static_cast<std::size_t>(line) * width, width);
            std::ranges::fill(row, 0.0f);
            for (const Wave& wave : waves) add(wave, x, y, row);
            for (const Noise& noise : noises) add(noise, x, y, row);
            for (float& pixel : row) pixel = std::min(pixel, 1.0f); // sums of five are rounded
        }
    });
}

} // namespace optical_flow
