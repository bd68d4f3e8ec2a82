// apps/hotspot/saved.cpp - see saved.hpp.
#include "saved.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#if defined(__SSE2__)
    #include <immintrin.h>
#endif

namespace hotspot {
namespace {

/// Stores that do not read their target's cache lines first, and leave the caches to others.
void copy_past_caches(const float* from, float* to, std::size_t count) {
    std::size_t i = 0;
#if defined(__SSE2__)
    while (i < count && reinterpret_cast<std::uintptr_t>(to + i) % sizeof(__m128) != 0) {
        to[i] = from[i];
        ++i;
    }
    for (; i + 4 <= count; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
    _mm_sfence(); // before anybody is told that it is done
#endif
    std::copy(from + i, from + count, to + i);
}

} // namespace

Saved::Saved(std::size_t cells, int threads)
    : cells_(cells), arena_(std::min(threads, tbb::info::default_concurrency())) {}

void Saved::take(const float* cells) {
    constexpr std::size_t piece = 64 << 10; // cells: a few microseconds of work
    const std::size_t pieces = (cells_.size() + piece - 1) / piece;
    arena_.execute([&] {
        tbb::parallel_for(std::size_t{0}, pieces, [&](std::size_t i) {
            const std::size_t begin = i * piece;
            copy_past_caches(cells + begin, cells_.data() + begin, std::min(piece, cells_.size() - begin));
        });
    });
}

} // namespace hotspot
