// tests/persistent/atomics_test.cpp - atomic operations between host threads; those of devices are tried in
// domains/values_test.cpp.
#include <headrace/persistent/atomics.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

constexpr int threads = 4, rounds = 5000;

/// Calls `body(thread)` on all threads at once.
void at_once(auto&& body) {
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) all.emplace_back([&body, thread] { body(thread); });
    for (std::thread& thread : all) thread.join();
}

template <class T>
struct Atomics : ::testing::Test {};
using Numbers = ::testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Atomics, Numbers);
template <class T>
struct AtomicIntegers : ::testing::Test {};
using Integers = ::testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(AtomicIntegers, Integers);
template <class T>
struct AtomicFloats : ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(AtomicFloats, Floats);

TYPED_TEST(Atomics, AddLosesNothing) {
    TypeParam sum = 0;
    std::array<std::vector<TypeParam>, threads> seen;
    at_once([&](int thread) {
        for (int i = 0; i < rounds; ++i) seen[static_cast<std::size_t>(thread)].push_back(atomic_add(sum, 3));
    });
    EXPECT_EQ(sum, static_cast<TypeParam>(3 * threads * rounds));
    std::vector<TypeParam> all;
    for (const auto& some : seen) all.insert(all.end(), some.begin(), some.end());
    std::ranges::sort(all); // each old value was there once
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<TypeParam>(3 * i));
}

TYPED_TEST(Atomics, MinAndMaxFindTheExtremes) {
    using T = TypeParam;
    T least = std::numeric_limits<T>::max(), greatest = std::numeric_limits<T>::lowest();
    const auto value = [](int thread, int i) {
        const int number = (i * 7919 + thread) % 20011;
        return static_cast<T>(std::is_signed_v<T> ? number - 10000 : number + 5);
    };
    at_once([&](int thread) {
        for (int i = 0; i < rounds; ++i) {
            const T above = atomic_min(least, value(thread, i)),
                    below = atomic_max(greatest, value(thread, i));
            EXPECT_GE(above, atomic_load(least)); // read later
            EXPECT_LE(below, atomic_load(greatest));
        }
    });
    T expected_least = value(0, 0), expected_greatest = value(0, 0);
    for (int thread = 0; thread < threads; ++thread)
        for (int i = 0; i < rounds; ++i) {
            expected_least = std::min(expected_least, value(thread, i));
            expected_greatest = std::max(expected_greatest, value(thread, i));
        }
    EXPECT_EQ(least, expected_least);
    EXPECT_EQ(greatest, expected_greatest);
    EXPECT_EQ(atomic_min(least, std::numeric_limits<T>::max()), expected_least);
    EXPECT_EQ(atomic_max(greatest, std::numeric_limits<T>::lowest()), expected_greatest);
    EXPECT_EQ(least, expected_least);
    EXPECT_EQ(greatest, expected_greatest);
}

TYPED_TEST(Atomics, ExchangeHandsEachValueOnOnce) {
    TypeParam held = 0;
    std::array<std::uint64_t, threads> came{};
    at_once([&](int thread) {
        for (int i = 1; i <= rounds; ++i)
            came[static_cast<std::size_t>(thread)] +=
                static_cast<std::uint64_t>(atomic_exchange(held, static_cast<TypeParam>(i)));
    });
    auto total = static_cast<std::uint64_t>(held);
    for (const std::uint64_t some : came) total += some;
    EXPECT_EQ(total, std::uint64_t{threads} * rounds * (rounds + 1) / 2);
}

TYPED_TEST(Atomics, CompareExchangeSucceedsForOne) {
    TypeParam count = 0;
    at_once([&](int) {
        for (int i = 0; i < rounds; ++i) {
            TypeParam seen = atomic_load(count);
            for (;;) {
                const TypeParam before = atomic_compare_exchange(count, seen, seen + 1);
                if (before == seen) break;
                seen = before;
            }
        }
    });
    EXPECT_EQ(count, static_cast<TypeParam>(threads * rounds));
    EXPECT_EQ(atomic_compare_exchange(count, 1, 2), static_cast<TypeParam>(threads * rounds));
    EXPECT_EQ(count, static_cast<TypeParam>(threads * rounds));
}

TYPED_TEST(AtomicIntegers, BitsAreSetClearedAndTurned) {
    using T = TypeParam;
    constexpr int bits = 8 * sizeof(T);
    T set = 0, clear = static_cast<T>(~T{0}), turned = 5;
    at_once([&](int thread) {
        for (int bit = thread; bit < bits; bit += threads) {
            const T mask = static_cast<T>(T{1} << bit);
            EXPECT_EQ(atomic_or(set, mask) & mask, 0);
            EXPECT_EQ(atomic_and(clear, static_cast<T>(~mask)) & mask, mask);
            for (int time = 0; time < 3; ++time) atomic_xor(turned, mask);
        }
    });
    EXPECT_EQ(set, static_cast<T>(~T{0}));
    EXPECT_EQ(clear, 0);
    EXPECT_EQ(turned, static_cast<T>(~T{5}));
}

TYPED_TEST(AtomicIntegers, AddWrapsAround) {
    TypeParam number = std::numeric_limits<TypeParam>::max();
    atomic_add(number, 1);
    EXPECT_EQ(number, std::numeric_limits<TypeParam>::min());
}

TYPED_TEST(AtomicFloats, MinAndMaxIgnoreNaN) {
    using T = TypeParam;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    for (const T number : {T{-3}, T{3}, -std::numeric_limits<T>::infinity(), -T{0}, T{0}})
        for (const T some_nan : {nan, -nan}) {
            T least = some_nan, greatest = some_nan;
            EXPECT_TRUE(std::isnan(atomic_min(least, number)));
            EXPECT_TRUE(std::isnan(atomic_max(greatest, number)));
            EXPECT_EQ(least, number);
            EXPECT_EQ(greatest, number);
            EXPECT_EQ(atomic_min(least, some_nan), number);
            EXPECT_EQ(atomic_max(greatest, some_nan), number);
            EXPECT_EQ(least, number);
            EXPECT_EQ(greatest, number);
        }
}

TYPED_TEST(AtomicFloats, NegativeZeroIsLessThanPositiveZero) {
    using T = TypeParam;
    for (const T first : {T{0}, -T{0}}) {
        T least = first, greatest = first;
        atomic_min(least, -first);
        atomic_max(greatest, -first);
        EXPECT_TRUE(std::signbit(least));
        EXPECT_FALSE(std::signbit(greatest));
    }
}

TYPED_TEST(AtomicFloats, CompareExchangeComparesBits) {
    TypeParam number = 0;
    EXPECT_FALSE(std::signbit(atomic_compare_exchange(number, -TypeParam{0}, 7)));
    EXPECT_EQ(number, 0);
    number = std::numeric_limits<TypeParam>::quiet_NaN();
    atomic_compare_exchange(number, std::numeric_limits<TypeParam>::quiet_NaN(), 7);
    EXPECT_EQ(number, 7);
}

TYPED_TEST(AtomicFloats, SubnormalNumbersCount) {
    const TypeParam least = std::numeric_limits<TypeParam>::denorm_min();
    TypeParam sum = 0, smallest = 2 * least;
    at_once([&](int) {
        for (int i = 0; i < rounds; ++i) atomic_add(sum, least);
        atomic_min(smallest, least);
    });
    EXPECT_EQ(sum, static_cast<TypeParam>(threads * rounds) * least);
    EXPECT_EQ(smallest, least);
}

TEST(AtomicUpdates, OfSmallNeighboursDoNotDisturbEachOther) {
    std::array<std::uint8_t, 8> bytes{};
    std::array<std::uint16_t, 4> halves{};
    at_once([&](int thread) {
        const auto add = [](auto seen) { return static_cast<decltype(seen)>(seen + 1); };
        for (int i = 0; i < rounds; ++i) {
            atomic_update(bytes[static_cast<std::size_t>(thread)], add);
            atomic_update(bytes[7], add);
            atomic_update(halves[static_cast<std::size_t>(thread)], add);
        }
    });
    for (std::size_t thread = 0; thread < threads; ++thread) {
        EXPECT_EQ(bytes[thread], static_cast<std::uint8_t>(rounds));
        EXPECT_EQ(halves[thread], rounds);
    }
    EXPECT_EQ(bytes[7], static_cast<std::uint8_t>(threads * rounds));
    EXPECT_EQ(bytes[6], 0);
}

} // namespace
} // namespace headrace::test
