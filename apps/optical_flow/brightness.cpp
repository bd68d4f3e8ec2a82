// apps/optical_flow/brightness.cpp - see brightness.hpp.
#include "brightness.hpp"
#include <headrace/core/error.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>

namespace optical_flow {
namespace {

template <std::size_t Bytes, std::endian Order>
float sample(const std::uint8_t* at) {
    if constexpr (Bytes == 1)
        return at[0];
    else if constexpr (Order == std::endian::big)
        return static_cast<float>(at[0] << 8 | at[1]);
    else
        return static_cast<float>(at[1] << 8 | at[0]);
}

/// A pass of its own for each layout of samples: loops without branches become vector instructions.
template <std::size_t Channels, std::size_t Bytes, std::endian Order = std::endian::big>
void convert_row(const std::uint8_t* from, float maximum, std::span<float> to) {
    for (std::size_t x = 0; x < to.size(); ++x) {
        const std::uint8_t* const at = from + x * Channels * Bytes;
        float grey = sample<Bytes, Order>(at);
        if constexpr (Channels == 3)
            grey = 0.299f * grey + 0.587f * sample<Bytes, Order>(at + Bytes) +
                   0.114f * sample<Bytes, Order>(at + 2 * Bytes);
        to[x] = std::min(grey / maximum, 1.0f);
    }
}

} // namespace

void convert(const Samples& samples, Size size, std::span<float> brightness) {
    const auto width = static_cast<std::size_t>(size.width);
    const bool is_wide = samples.maximum > 255, is_colour = samples.channels == 3;
    const std::size_t row_bytes = width * static_cast<std::size_t>(samples.channels) * (is_wide ? 2 : 1);
    HEADRACE_ASSERT(samples.channels == 1 || is_colour);
    HEADRACE_ASSERT(brightness.size() == size.pixels());
    HEADRACE_ASSERT(samples.bytes.size() >= row_bytes * static_cast<std::size_t>(size.height));
    const bool is_little = samples.order == std::endian::little;
    constexpr auto little = std::endian::little;
    auto* const wide_colour = is_little ? convert_row<3, 2, little> : convert_row<3, 2>;
    auto* const wide_grey = is_little ? convert_row<1, 2, little> : convert_row<1, 2>;
    auto* const convert_one =
        is_colour ? (is_wide ? wide_colour : convert_row<3, 1>) : (is_wide ? wide_grey : convert_row<1, 1>);
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, static_cast<std::size_t>(size.height)),
                      [&](const tbb::blocked_range<std::size_t>& rows) {
                          for (std::size_t y = rows.begin(); y != rows.end(); ++y)
                              convert_one(samples.bytes.data() + y * row_bytes,
                                          static_cast<float>(samples.maximum),
                                          brightness.subspan(y * width, width));
                      });
}

} // namespace optical_flow
