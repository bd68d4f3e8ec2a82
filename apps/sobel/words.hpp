// apps/sobel/words.hpp - four pixels at once, for threads that would else fetch byte after byte.
#pragma once
#include "magnitude.h"
#include "video/planes.hpp"

#include <cstdint>
#include <cstring>

namespace sobel {

/// Pixels that lie in one word.
inline constexpr int word = 4;

/// Finds the edges of pixels `x` to `x` + 3 of a row, as many as there are. `x` is a multiple of 4, and both
/// frames begin at one. What four neighbours have in common is computed once: sums down the columns.
HEADRACE_HOST_DEVICE inline void filter_word(const std::uint8_t* frame, std::uint8_t* edges, video::Row row,
                                             int x) {
    std::uint8_t strength[word] = {};
    const int columns = row.columns;
    const bool whole = columns % word == 0 && row.first % word == 0; // then words of all rows are aligned
    if (is_inner_row(&row, 1)) {
        int smooth[word + 2] = {}, steep[word + 2] = {}; // of the columns x - 1 to x + 4
        constexpr int weight[] = {1, 2, 1}, sign[] = {-1, 0, 1};
        for (int dy = -1; dy <= 1; ++dy) {
            const std::uint8_t* const from = frame + row.first + std::int64_t{dy} * columns + x;
            std::uint8_t pixel[word + 2] = {};
            if (whole)
                std::memcpy(pixel + 1, __builtin_assume_aligned(from, word), word);
            else
                for (int i = 0; i < word && x + i < columns; ++i) pixel[1 + i] = from[i];
            if (x > 0) pixel[0] = from[-1];
            if (x + word < columns) pixel[word + 1] = from[word];
            for (int i = 0; i < word + 2; ++i) {
                smooth[i] += weight[dy + 1] * pixel[i];
                steep[i] += sign[dy + 1] * pixel[i];
            }
        }
        for (int i = 0; i < word; ++i)
            if (x + i > 0 && x + i < columns - 1)
                strength[i] =
                    magnitude(smooth[i + 2] - smooth[i], steep[i] + 2 * steep[i + 1] + steep[i + 2]);
    }
    std::uint8_t* const to = edges + row.first + x;
    if (whole)
        std::memcpy(__builtin_assume_aligned(to, word), strength, word);
    else
        for (int i = 0; i < word && x + i < columns; ++i) to[i] = strength[i];
}

} // namespace sobel
