// tests/domains/slot_reductions.kernels.hpp - kernels that reduce values of 24 bytes and of 3. For all
// technologies; slot_reductions.cl is the same in OpenCL C.
#pragma once
#include <headrace/domains/reduction.hpp>
#include <headrace/domains/view.hpp>

#include <cstdint>

namespace headrace::test {

/// Of many words.
struct Summary {
    std::uint64_t count, odd; ///< bits that are set in an odd number of them
    std::int32_t least, greatest;

    HEADRACE_HOST_DEVICE static Summary of(std::uint64_t word) {
        const auto value = static_cast<std::int32_t>(word >> 32);
        return {1, word, value, value};
    }
    bool operator==(const Summary&) const = default;
};
struct Merge {
    static constexpr Summary identity() { return {0, 0, INT32_MAX, INT32_MIN}; }
    HEADRACE_KERNEL Summary operator()(Summary a, Summary b) const {
        return {a.count + b.count, a.odd ^ b.odd, a.least < b.least ? a.least : b.least,
                a.greatest > b.greatest ? a.greatest : b.greatest};
    }
};

struct Colour {
    std::uint8_t red, green, blue;

    HEADRACE_HOST_DEVICE static Colour of(std::uint64_t word) {
        return {static_cast<std::uint8_t>(word), static_cast<std::uint8_t>(word >> 8),
                static_cast<std::uint8_t>(word >> 16)};
    }
    bool operator==(const Colour&) const = default;
};
/// By channel.
struct Brightest {
    static constexpr Colour identity() { return {0, 0, 0}; }
    HEADRACE_HOST_DEVICE static std::uint8_t brighter(std::uint8_t a, std::uint8_t b) {
        return a > b ? a : b;
    }
    HEADRACE_KERNEL Colour operator()(Colour a, Colour b) const {
        return {brighter(a.red, b.red), brighter(a.green, b.green), brighter(a.blue, b.blue)};
    }
};

/// Unit i has word i, and belongs to one cell of each domain.
struct Summarise {
    View<const std::uint64_t> words;
    Reduction<Summary, Merge> summaries;
    Reduction<Colour, Brightest> colours;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        summaries.combine(i % summaries.size(), Summary::of(words[i]));
        colours.combine(i % colours.size(), Colour::of(words[i]));
    }
};

struct CopySummaries {
    View<const Summary> from;
    View<Summary> to;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { to[i] = from[i]; }
};

} // namespace headrace::test
