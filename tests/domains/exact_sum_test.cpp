// tests/domains/exact_sum_test.cpp - exact sums on host threads, compared with long arithmetic.
#include "exact_reference.hpp"

#include <core/seeds.hpp>
#include <headrace/domains/exact_sum.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
BitsOf<T> bits_of(T value) {
    return std::bit_cast<BitsOf<T>>(value);
}
/// Equal to the bit; a NaN is a NaN.
template <class T>
::testing::AssertionResult same(T a, T b) {
    if (bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b))) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << std::hexfloat << a << " and " << b;
}

template <class T>
class ExactSums : public ::testing::Test {
protected:
    using Numbers = std::numeric_limits<T>;
    static constexpr T largest_number = Numbers::max(), least_number = Numbers::denorm_min(),
                       infinite = Numbers::infinity();

    std::mt19937_64 random_{fresh_seed()};

    /// Any finite bit pattern.
    T any_finite() {
        for (;;)
            if (const T value = std::bit_cast<T>(static_cast<BitsOf<T>>(random_())); std::isfinite(value))
                return value;
    }
    /// A magnitude in [2^exponent, 2^(exponent + 1)), of either sign.
    T around(int exponent) {
        const auto fraction =
            std::ldexp(static_cast<T>(random_() >> (65 - Numbers::digits)), 1 - Numbers::digits);
        const T magnitude = std::ldexp(1 + fraction, exponent);
        return random_() % 2 != 0 ? magnitude : -magnitude;
    }
    std::vector<T> many(std::size_t count, auto&& make) {
        std::vector<T> terms(count);
        for (T& term : terms) term = make();
        return terms;
    }

    static T reference(const std::vector<T>& terms) {
        ReferenceSum<T> sum;
        for (const T term : terms) sum.add(term);
        return sum.value();
    }
    template <class Range = FullRange>
    static ExactSum<T, Range> exact(const std::vector<T>& terms) {
        ExactSum<T, Range> sum;
        for (const T term : terms) sum += term;
        return sum;
    }
    static void expect_right(const std::vector<T>& terms) {
        EXPECT_TRUE(same(exact(terms).value(), reference(terms))) << terms.size() << " terms";
    }
};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ExactSums, Floats);

TYPED_TEST(ExactSums, OfTermsOverTheWholeRangeAreRight) {
    for (std::size_t round = 0; round < 300; ++round)
        this->expect_right(this->many(round, [&] { return this->any_finite(); }));
}

TYPED_TEST(ExactSums, OfEachExponentAreRight) {
    using Limits = std::numeric_limits<TypeParam>;
    for (int exponent = Limits::min_exponent - Limits::digits; exponent < Limits::max_exponent; ++exponent)
        this->expect_right(this->many(20, [&] { return this->around(exponent); }));
}

TYPED_TEST(ExactSums, OfLikeSizesAreRight) {
    for (int exponent = -60; exponent < 60; ++exponent) // all ways in which a term lies in its words
        this->expect_right(
            this->many(500, [&] { return this->around(exponent + static_cast<int>(this->random_() % 8)); }));
}

TYPED_TEST(ExactSums, OfSubnormalTermsAreRight) {
    using T = TypeParam;
    constexpr auto mask = (BitsOf<T>{1} << (std::numeric_limits<T>::digits - 1)) - 1;
    for (std::size_t round = 0; round < 100; ++round)
        this->expect_right(this->many(round, [&] {
            const T magnitude = std::bit_cast<T>(static_cast<BitsOf<T>>(this->random_()) & mask);
            return this->random_() % 2 != 0 ? magnitude : -magnitude;
        }));
}

TYPED_TEST(ExactSums, ThatCancelArePositiveZeroOrTheRest) {
    for (int round = 0; round < 50; ++round) {
        auto terms = this->many(200, [&] { return this->any_finite(); });
        const auto half = terms;
        for (const TypeParam term : half) terms.push_back(-term);
        std::shuffle(terms.begin(), terms.end(), this->random_);
        EXPECT_EQ(bits_of(this->exact(terms).value()), 0u);
        const TypeParam rest = round == 0 ? -this->least_number : this->any_finite();
        terms.insert(terms.begin() + static_cast<std::ptrdiff_t>(this->random_() % terms.size()), rest);
        EXPECT_TRUE(same(this->exact(terms).value(), rest));
    }
}

TYPED_TEST(ExactSums, AreRoundedToTheNearestAndToEven) {
    using T = TypeParam;
    constexpr int digits = std::numeric_limits<T>::digits;
    const T half = std::ldexp(T{1}, -digits), next = 1 + 2 * half;
    const auto sum = [&](std::vector<T> terms) {
        this->expect_right(terms);
        return this->exact(terms).value();
    };
    EXPECT_EQ(sum({1, half}), 1);
    EXPECT_EQ(sum({next, half}), 1 + 4 * half);
    EXPECT_EQ(sum({1, half, this->least_number}), next);
    EXPECT_EQ(sum({1, half, -this->least_number}), 1);
    EXPECT_EQ(sum({next, half, -this->least_number}), next);
    EXPECT_EQ(sum({-1, -half, -this->least_number}), -next);
    EXPECT_EQ(sum({2 - 2 * half, half}), 2); // the carry goes through all digits
}

TYPED_TEST(ExactSums, OverflowWhereTheirRoundingDoes) {
    using T = TypeParam;
    constexpr int digits = std::numeric_limits<T>::digits, exponent = std::numeric_limits<T>::max_exponent;
    const T half = std::ldexp(T{1}, exponent - digits - 1); // of the largest number's last place
    EXPECT_EQ(this->exact({this->largest_number, half}).value(), this->infinite);
    EXPECT_EQ(this->exact({-this->largest_number, -half}).value(), -this->infinite);
    EXPECT_EQ(this->exact({this->largest_number, half, -this->least_number}).value(), this->largest_number);
    EXPECT_EQ(this->exact({this->largest_number, this->largest_number}).value(), this->infinite);
    EXPECT_EQ(this->exact({this->largest_number, this->largest_number, -this->largest_number}).value(),
              this->largest_number);
}

TYPED_TEST(ExactSums, OfZerosArePositiveZero) {
    using T = TypeParam;
    EXPECT_EQ(bits_of((ExactSum<T>{}.value())), 0u);
    EXPECT_EQ(bits_of(this->exact({-T{0}, -T{0}}).value()), 0u);
    EXPECT_EQ(this->exact({-T{0}, this->least_number}).value(), this->least_number);
}

TYPED_TEST(ExactSums, OfInfinitiesAndNaNAreThose) {
    using T = TypeParam;
    const T infinity = this->infinite, nan = std::numeric_limits<T>::quiet_NaN();
    for (const std::vector<T>& terms : {std::vector<T>{infinity, 1, -this->largest_number},
                                        {1, -infinity},
                                        {infinity, infinity},
                                        {infinity, -infinity},
                                        {nan, 1},
                                        {-nan},
                                        {infinity, nan},
                                        {std::numeric_limits<T>::signaling_NaN()}})
        this->expect_right(terms);
    ExactSum<T> sum = this->exact({1, infinity});
    sum += this->exact({-infinity});
    EXPECT_TRUE(std::isnan(sum.value()));
    EXPECT_FALSE(sum.exceeds_range());
}

TYPED_TEST(ExactSums, OfManyEqualTermsCarry) {
    using T = TypeParam;
    constexpr int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
    for (int exponent = least; exponent < std::numeric_limits<T>::max_exponent - 12; exponent += 13)
        for (const int sign : {1, -1}) { // the largest fraction: a word wraps after a few hundred
            const T term = static_cast<T>(sign) * std::ldexp(2 - std::numeric_limits<T>::epsilon(), exponent);
            this->expect_right(std::vector<T>(3000, term));
        }
    std::vector<T> storm(3000, this->largest_number);
    storm.insert(storm.end(), 2999, -this->largest_number);
    this->expect_right(storm);
}

TYPED_TEST(ExactSums, TakeTwoToTheSixtyThirdOfTheLargestTerms) {
    using T = TypeParam;
    ExactSum<T> sum, opposite;
    sum += this->largest_number;
    opposite += -this->largest_number;
    for (int doubling = 0; doubling < 63; ++doubling) {
        sum += sum; // doubles it
        opposite += opposite;
    }
    EXPECT_EQ(sum.value(), this->infinite);
    EXPECT_EQ(opposite.value(), -this->infinite);
    EXPECT_FALSE(sum.exceeds_range());
    sum += this->least_number;
    sum += opposite;
    EXPECT_EQ(sum.value(), this->least_number);
}

TYPED_TEST(ExactSums, OfMoreTermsThanThatSaySo) {
    ExactSum<TypeParam> sum;
    sum += this->largest_number;
    for (int doubling = 0; doubling < 120; ++doubling) {
        sum += sum;
        EXPECT_TRUE(sum.exceeds_range() ? std::isnan(sum.value()) : sum.value() == this->infinite);
    }
    EXPECT_TRUE(sum.exceeds_range());
}

TYPED_TEST(ExactSums, AreTheSameHoweverTheyAreSplit) {
    for (int round = 0; round < 20; ++round) {
        auto terms = this->many(1000, [&] {
            return round % 2 != 0 ? this->any_finite() : this->around(static_cast<int>(this->random_() % 4));
        });
        ExactSum<TypeParam> whole = this->exact(terms);
        const TypeParam value = whole.value();
        EXPECT_TRUE(same(value, this->reference(terms)));
        whole.normalise();
        EXPECT_TRUE(same(value, whole.value()));
        std::shuffle(terms.begin(), terms.end(), this->random_);
        ExactSum<TypeParam> parts[7], together;
        for (const TypeParam term : terms) parts[this->random_() % 7] += term;
        for (ExactSum<TypeParam>& part : parts) {
            if (this->random_() % 2 != 0) part.normalise();
            together += part;
        }
        EXPECT_TRUE(same(value, together.value()));
        together.normalise();
        EXPECT_TRUE(std::ranges::equal(whole.words, together.words));
    }
}

/// Planes that hold sums of `elements` elements.
template <class T, class Range = FullRange>
struct Planes {
    explicit Planes(std::uint64_t elements, std::uint64_t gap = 3)
        : size(elements), stride(elements + gap), words(stride * ExactWords<T, Range>::words) {}
    Sum<ExactSum<T, Range>> view() { return {words.data(), {{size, 1, 1}}, stride}; }

    std::uint64_t size, stride;
    std::vector<std::uint64_t> words;
};

TYPED_TEST(ExactSums, OfThreadsThatAddAtOnceAreRight) {
    constexpr std::size_t threads = 4, terms_each = 4000, elements = 3;
    for (const bool is_storm : {false, true}) {
        std::vector<std::vector<TypeParam>> terms;
        for (std::size_t thread = 0; thread < threads; ++thread) {
            // Near the largest fraction of one exponent: words wrap all the time, in either direction.
            const TypeParam sign = thread % 2 != 0 ? -1 : 1;
            terms.push_back(this->many(terms_each, [&] {
                return is_storm ? sign * std::ldexp(std::fabs(this->around(0)), 9) : this->any_finite();
            }));
        }
        Planes<TypeParam> planes(elements);
        std::vector<std::thread> all;
        for (const auto& mine : terms)
            all.emplace_back([&mine, view = planes.view()] {
                for (std::size_t i = 0; i < mine.size(); ++i) view.add(i % elements, mine[i]);
            });
        for (std::thread& thread : all) thread.join();

        std::vector<ExactSum<TypeParam>> sums(elements);
        add_planes(std::span(sums), planes.words.data(), planes.stride);
        for (std::size_t element = 0; element < elements; ++element) {
            ReferenceSum<TypeParam> reference;
            for (const auto& mine : terms)
                for (std::size_t i = element; i < mine.size(); i += elements) reference.add(mine[i]);
            EXPECT_TRUE(same(sums[element].value(), reference.value()));
        }
    }
}

TYPED_TEST(ExactSums, GoFromPlanesToElementsAndBack) {
    constexpr std::size_t elements = 1000;
    std::vector<ExactSum<TypeParam>> sums(elements), copies(elements), doubled(elements);
    for (std::size_t i = 0; i < elements; ++i) {
        for (std::size_t term = 0; term < i % 5; ++term) sums[i] += this->any_finite();
        doubled[i] = sums[i];
        doubled[i] += sums[i];
    }
    Planes<TypeParam> planes(elements);
    store_planes(std::span<const ExactSum<TypeParam>>(sums), planes.words.data(), planes.stride);
    add_planes(std::span(copies), planes.words.data(), planes.stride);
    for (std::size_t i = 0; i < elements; ++i) {
        EXPECT_TRUE(same(copies[i].value(), sums[i].value()));
        planes.view().merge(i, sums[i].words, 1);
    }
    add_planes(std::span(copies).first(0), planes.words.data(), planes.stride);
    std::ranges::fill(copies, ExactSum<TypeParam>{});
    add_planes(std::span(copies), planes.words.data(), planes.stride);
    for (std::size_t i = 0; i < elements; ++i) {
        doubled[i].normalise();
        EXPECT_TRUE(std::ranges::equal(copies[i].words, doubled[i].words)) << i;
    }
}

/// Two words for multiples of 2^-40 below 2^20.
using Declared = ExponentRange<-40, 19>;

TYPED_TEST(ExactSums, OfADeclaredRangeAreRight) {
    for (std::size_t round = 0; round < 300; ++round) {
        const auto terms = this->many(round * 3, [&] {
            const TypeParam term = this->around(static_cast<int>(this->random_() % 60) - 40);
            return std::trunc(std::ldexp(term, 40)) == std::ldexp(term, 40) ? term : std::trunc(term);
        });
        const auto sum = this->template exact<Declared>(terms);
        EXPECT_FALSE(sum.exceeds_range());
        EXPECT_TRUE(same(sum.value(), this->reference(terms)));
    }
}

TYPED_TEST(ExactSums, OfADeclaredRangeSayWhatDoesNotFit) {
    using T = TypeParam;
    const T below_top = std::nextafter(std::ldexp(T{1}, 20), T{0}), top = std::ldexp(T{1}, 20),
            bottom = std::ldexp(T{1}, -40);
    // A float's last place is above the range's least bit there, a double's is not.
    const auto exceeds = [&](T term) {
        const auto sum = this->template exact<Declared>({term});
        EXPECT_TRUE(same(sum.value(), sum.exceeds_range() ? std::numeric_limits<T>::quiet_NaN() : term));
        return sum.exceeds_range();
    };
    EXPECT_TRUE(exceeds(top));
    EXPECT_TRUE(exceeds(-top));
    EXPECT_TRUE(exceeds(this->largest_number));
    EXPECT_FALSE(exceeds(below_top));
    EXPECT_FALSE(exceeds(-below_top));
    EXPECT_FALSE(exceeds(bottom));
    EXPECT_FALSE(exceeds(-bottom));
    EXPECT_TRUE(exceeds(bottom / 2));
    EXPECT_TRUE(exceeds(bottom * T{1.5}));
    EXPECT_TRUE(exceeds(this->least_number));
    EXPECT_FALSE(exceeds(0));
    EXPECT_FALSE(exceeds(this->infinite));
    ExactSum<T, Declared> merged;
    merged += this->template exact<Declared>({1, top});
    EXPECT_TRUE(merged.exceeds_range());
}

TYPED_TEST(ExactSums, OfADeclaredRangeTakeTwoToTheSixtyThirdTerms) {
    using T = TypeParam;
    const T term = std::nextafter(std::ldexp(T{1}, 20), T{0});
    for (const int sign : {1, -1}) {
        ExactSum<T, Declared> sum;
        sum += static_cast<T>(sign) * term;
        for (int doublings = 1; doublings < 80; ++doublings) {
            sum += sum;
            EXPECT_TRUE(doublings > 63 || !sum.exceeds_range()) << doublings;
            // Never wrong: right, or it says so.
            const T right = std::ldexp(static_cast<T>(sign) * term, doublings);
            EXPECT_TRUE(sum.exceeds_range() ? std::isnan(sum.value()) : sum.value() == right) << doublings;
        }
        EXPECT_TRUE(sum.exceeds_range());
    }
}

TYPED_TEST(ExactSums, OfADeclaredRangeThatDoNotFitAreNormalisedAllTheSame) {
    auto first = this->template exact<Declared>({1, this->least_number, 2});
    auto second = this->template exact<Declared>({7, this->largest_number, this->infinite});
    first.normalise();
    second.normalise();
    EXPECT_TRUE(first.exceeds_range());
    EXPECT_TRUE(std::ranges::equal(first.words, second.words));
}

TYPED_TEST(ExactSums, OfRangesAtTheEndsOfTheTypeAreRight) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    constexpr int least = Limits::min_exponent - Limits::digits, most = Limits::max_exponent - 1;
    const std::vector<T> small(77, 3 * this->least_number), large(1, this->largest_number),
        widest{T{1}, -this->least_number * T{5}};
    EXPECT_EQ((this->template exact<ExponentRange<least, least + 50>>(small).value()),
              231 * this->least_number);
    EXPECT_EQ((this->template exact<ExponentRange<most - 80, most>>(large).value()), this->largest_number);
    const std::vector<T> wide{std::ldexp(T{1}, least + 121), -this->least_number, this->least_number * 3};
    const auto sum = this->template exact<ExponentRange<least, least + 121>>(wide);
    EXPECT_TRUE(same(sum.value(), this->reference(wide)));
}

TEST(ExactSumsOfThreads, OfADeclaredRangeAreRight) {
    constexpr std::size_t threads = 4, terms = 20000;
    using Range = ExponentRange<0, 52>;
    Planes<double, Range> planes(2);
    std::vector<std::thread> all;
    for (std::size_t thread = 0; thread < threads; ++thread)
        all.emplace_back([view = planes.view(), thread] {
            for (std::size_t i = 0; i < terms; ++i) { // wraps the first word every 2000 terms
                view.add(0, thread % 2 != 0 ? -0x1.fffffffffffffp+52 : 0x1.fffffffffffffp+52);
                view.add(1, thread == 0 ? -0x1p+52 : 0x1.fffffffffffffp+52);
            }
        });
    for (std::thread& thread : all) thread.join();
    std::vector<ExactSum<double, Range>> sums(2);
    add_planes(std::span(sums), planes.words.data(), planes.stride);
    EXPECT_EQ(bits_of(sums[0].value()), 0u);
    ReferenceSum<double> reference;
    for (std::size_t i = 0; i < terms; ++i)
        for (const double term :
             {-0x1p+52, 0x1.fffffffffffffp+52, 0x1.fffffffffffffp+52, 0x1.fffffffffffffp+52})
            reference.add(term);
    EXPECT_EQ(sums[1].value(), reference.value());
}

} // namespace
} // namespace headrace::test
