// domains/exact_sum.hpp - sums of floating-point numbers that are rounded only once, at the end: the element
// type, and the view through which kernels add. Compiled for every technology.
//
// The result is the number of type T nearest to the sum of all terms; a tie goes to the even one. All
// bits are the same in every run, on all devices and for all splits of the work. Up to 2^63 terms may be
// added. Terms may be subnormal, infinite or NaN. A sum of 0 is +0. A NaN, or infinities of both signs,
// give NaN.
//
// In OpenCL C: hr_exact_add_float and similar (persistent/opencl/exact_sum.cl).
#pragma once
#include <headrace/domains/detail/exact_words.hpp>
#include <headrace/domains/view.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace headrace {

/// All numbers of a type.
struct FullRange {};

/// Multiples of 2^Least with magnitudes below 2^(Most + 1).
///
/// A sum takes two words. It is exact while partial sums stay below 2^(Least + 123): for 2^63 terms if the
/// range has at most 60 bits (Most - Least + 1), for half as many with each further bit. If a term is outside
/// the range, or a partial sum does not fit, the sum is NaN and `exceeds_range()` is true. Infinities and NaN
/// count as they do without a range.
template <int Least, int Most>
struct ExponentRange {};

namespace detail {

template <class T, class Range>
struct ExactWordsOf;
template <class T>
struct ExactWordsOf<T, FullRange> {
    using Type = FullRangeWords<T>;
};
template <class T, int Least, int Most>
struct ExactWordsOf<T, ExponentRange<Least, Most>> {
    using Type = DeclaredRangeWords<T, Least, Most>;
};

} // namespace detail

/// The arithmetic of an exact sum on its words. Word w is words[w * stride], for some stride.
template <class T, class Range>
using ExactWords = typename detail::ExactWordsOf<T, Range>::Type;

/// An exact sum of numbers of type T, float or double. Size: 56 bytes for float, 320 for double, 16 with a
/// declared range. Begins as 0.
template <class T, class Range = FullRange>
struct ExactSum {
    static_assert(std::same_as<T, float> || std::same_as<T, double>, "exact sums are of float or of double");
    using Words = ExactWords<T, Range>;

    /// Different words may represent one sum, until it is normalised.
    std::uint64_t words[Words::words] = {};

    HEADRACE_HOST_DEVICE ExactSum& operator+=(T term) {
        Words::add(detail::OwnWords{words}, term);
        return *this;
    }
    /// Adds all terms of `other`, exactly.
    HEADRACE_HOST_DEVICE ExactSum& operator+=(const ExactSum& other) {
        const ExactSum copy = other; // `other` may be this object
        Words::merge(detail::OwnWords{words}, copy.words, 1);
        return *this;
    }
    /// After this, equal sums have equal words.
    HEADRACE_HOST_DEVICE void normalise() { Words::normalise(detail::OwnWords{words}); }

    /// The sum, rounded once. NaN if it exceeds the range.
    [[nodiscard]] HEADRACE_HOST_DEVICE T value() const {
        const std::uint64_t special = Words::special(words, 1);
        if (special == 0) return Words::value(words, 1);
        if (special == detail::positive_infinity) return std::numeric_limits<T>::infinity();
        if (special == detail::negative_infinity) return -std::numeric_limits<T>::infinity();
        return std::numeric_limits<T>::quiet_NaN();
    }
    /// True if a term did not fit the declared range, or there were too many terms: the sum is unknown.
    [[nodiscard]] HEADRACE_HOST_DEVICE bool exceeds_range() const {
        return (Words::special(words, 1) & detail::out_of_range) != 0;
    }
};
static_assert(sizeof(ExactSum<double>) == 320 && sizeof(ExactSum<float>) <= 64);
static_assert(sizeof(ExactSum<double, ExponentRange<-40, 40>>) == 16);
static_assert(std::is_trivially_copyable_v<ExactSum<double>>);

/// A domain of exact sums under accumulate access: this device's private replica. It begins as zeroes; any
/// lane adds at any time.
///
/// The replica holds planes: all first words, then all second words, and so on. Terms of similar size use the
/// same few words of each sum; these lie together and fit a cache.
template <class T, class Range>
struct Sum<ExactSum<T, Range>> {
    std::uint64_t* origin = nullptr; ///< word w of element i is origin[w * stride + i]
    Extent extent;
    std::uint64_t stride = 0; ///< at least the number of elements
    HEADRACE_BOUNDS

    HEADRACE_HOST_DEVICE void add(std::uint64_t i, T term) const {
        ExactWords<T, Range>::add(detail::SharedWords{origin + detail::index_in(*this, i), stride}, term);
    }
    /// Adds a sum. Word w of it is other[w * other_stride]; nothing may change it during the call.
    HEADRACE_HOST_DEVICE void merge(std::uint64_t i, const std::uint64_t* other,
                                    std::uint64_t other_stride) const {
        ExactWords<T, Range>::merge(detail::SharedWords{origin + detail::index_in(*this, i), stride}, other,
                                    other_stride);
    }
    HEADRACE_HOST_DEVICE std::uint64_t size() const { return extent.size(); }
};

/// Adds the sums in `planes` to `elements` and normalises them. The first word of the first plane belongs to
/// element 0. One thread; other threads may work on other elements meanwhile.
///
/// Cost: reads each plane once; a block of elements stays in the nearest cache.
template <class T, class Range>
void add_planes(std::span<ExactSum<T, Range>> elements, const std::uint64_t* planes, std::uint64_t stride) {
    constexpr std::size_t block = 64;
    using Words = ExactWords<T, Range>;
    std::uint64_t words[block][Words::words];
    for (std::size_t first = 0; first < elements.size(); first += block) {
        const std::size_t count = std::min(block, elements.size() - first);
        for (unsigned word = 0; word < Words::words; ++word)
            for (std::size_t i = 0; i < count; ++i) words[i][word] = planes[word * stride + first + i];
        for (std::size_t i = 0; i < count; ++i) {
            Words::merge(detail::OwnWords{elements[first + i].words}, words[i], 1);
            elements[first + i].normalise();
        }
    }
}

/// The opposite: writes `elements` to planes.
template <class T, class Range>
void store_planes(std::span<const ExactSum<T, Range>> elements, std::uint64_t* planes, std::uint64_t stride) {
    constexpr std::size_t block = 64;
    for (std::size_t first = 0; first < elements.size(); first += block) {
        const std::size_t count = std::min(block, elements.size() - first);
        for (unsigned word = 0; word < ExactWords<T, Range>::words; ++word)
            for (std::size_t i = 0; i < count; ++i)
                planes[word * stride + first + i] = elements[first + i].words[word];
    }
}

} // namespace headrace
