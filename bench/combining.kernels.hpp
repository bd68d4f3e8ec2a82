// bench/combining.kernels.hpp - kernels that do nothing but combine: index i combines one number into an
// element at random.
#pragma once
#include <headrace/domains/exact_sum.hpp>
#include <headrace/domains/reduction.hpp>

#include <cstdint>
#include <limits>

namespace bench {

/// What index i does.
struct Draw {
    std::uint64_t word;

    HEADRACE_HOST_DEVICE explicit Draw(std::uint64_t i) {
        word = (i + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
        word = (word ^ word >> 27) * 0x94d049bb133111ebull;
        word ^= word >> 31;
    }
    HEADRACE_HOST_DEVICE std::uint64_t element(std::uint64_t elements) const {
        return (word >> 32) * elements >> 32; // without a division, which would take longer than the rest
    }
    /// In [-1, 1), every bit of it at random.
    template <class T>
    HEADRACE_HOST_DEVICE T number() const {
        const auto bits = static_cast<std::int64_t>(word * 0x9fb21c651e98df25ull);
        return static_cast<T>(bits) * T{0x1p-63};
    }
    /// The same as a multiple of 2^-20.
    template <class T>
    HEADRACE_HOST_DEVICE T coarse_number() const {
        const auto bits = static_cast<std::int64_t>(word * 0x9fb21c651e98df25ull);
        return static_cast<T>(bits >> 43) * T{0x1p-20};
    }
};

template <class T>
struct AddPlain {
    headrace::Sum<T> sums;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const Draw draw(i);
        sums.add(draw.element(sums.size()), draw.number<T>());
    }
};
template <class T>
struct AddExact {
    headrace::Sum<headrace::ExactSum<T>> sums;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const Draw draw(i);
        sums.add(draw.element(sums.size()), draw.number<T>());
    }
};
using CoarseRange = headrace::ExponentRange<-20, 0>;
template <class T>
struct AddDeclared {
    headrace::Sum<headrace::ExactSum<T, CoarseRange>> sums;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const Draw draw(i);
        sums.add(draw.element(sums.size()), draw.coarse_number<T>());
    }
};
template <class T>
struct FindLeast {
    headrace::Reduction<T, headrace::Min> least;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const Draw draw(i);
        least.combine(draw.element(least.size()), draw.number<T>());
    }
};

struct Flip {
    headrace::Reduction<std::uint64_t, headrace::BitXor> bits;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const Draw draw(i);
        bits.combine(draw.element(bits.size()), draw.word);
    }
};
/// An operation that no device has built in, and by which nearly each value changes the element.
struct Product {
    static constexpr std::uint64_t identity() { return 1; }
    HEADRACE_KERNEL std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a * b; }
};
struct Multiply {
    headrace::Reduction<std::uint64_t, Product> products;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const Draw draw(i);
        products.combine(draw.element(products.size()), draw.word | 1);
    }
};

struct Found {
    float key;
    std::uint32_t name;
};
/// Another one, by which few values change the element.
struct Lowest {
    static constexpr Found identity() { return {std::numeric_limits<float>::infinity(), ~0u}; }
    HEADRACE_KERNEL Found operator()(Found a, Found b) const {
        return a.key < b.key || (a.key == b.key && a.name < b.name) ? a : b;
    }
};
struct FindLowest {
    headrace::Reduction<Found, Lowest> found;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const Draw draw(i);
        found.combine(draw.element(found.size()),
                      {draw.number<float>(), static_cast<std::uint32_t>(draw.word)});
    }
};

} // namespace bench
