// tests/domains/reduction_test.cpp - reductions on host threads; those of devices are tried in
// values_test.cpp.
#include <headrace/domains/reduction.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

struct Hit {
    float distance;
    std::uint32_t triangle;
    bool operator==(const Hit&) const = default;
};
struct Nearest {
    static constexpr Hit identity() { return {std::numeric_limits<float>::infinity(), ~0u}; }
    Hit operator()(Hit a, Hit b) const {
        return a.distance < b.distance || (a.distance == b.distance && a.triangle < b.triangle) ? a : b;
    }
};
struct Small {
    std::int16_t key;
    std::uint16_t name;
    bool operator==(const Small&) const = default;
};
struct Highest {
    static constexpr Small identity() { return {-32768, 0}; }
    Small operator()(Small a, Small b) const {
        return a.key > b.key || (a.key == b.key && a.name > b.name) ? a : b;
    }
};
/// Modulo 2^n, so associative; not idempotent.
struct Product {
    template <class T>
    static constexpr T identity() {
        return 1;
    }
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    }
};

constexpr std::uint64_t elements = 3, threads = 4, values = 6000;

std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/// Combines value(i) for many i into a few elements by all threads; expects what one thread makes of them.
template <class T, class Op>
void expect_right(auto&& value) {
    std::vector<T> combined(elements, identity_of<T, Op>()), expected = combined;
    const Reduction<T, Op> view{combined.data(), {{elements, 1, 1}}};
    EXPECT_EQ(view.size(), elements);
    std::vector<std::thread> all;
    for (std::uint64_t thread = 0; thread < threads; ++thread)
        all.emplace_back([&, thread] {
            for (std::uint64_t i = thread; i < values; i += threads)
                view.combine(i % elements, value(mixed(i)));
        });
    for (std::thread& thread : all) thread.join();
    for (std::uint64_t i = 0; i < values; ++i) {
        T& element = expected[i % elements];
        element = Op{}(element, value(mixed(i)));
    }
    EXPECT_EQ(combined, expected);
}

template <class T>
struct Reductions : ::testing::Test {};
using Integers =
    ::testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(Reductions, Integers);

TYPED_TEST(Reductions, OfIntegersAreRight) {
    using T = TypeParam;
    if constexpr (AtomicInteger<T>) {
        expect_right<T, Min>([](std::uint64_t word) { return static_cast<T>(word); });
        expect_right<T, Max>([](std::uint64_t word) { return static_cast<T>(word); });
    }
    expect_right<T, BitOr>(
        [](std::uint64_t word) { return static_cast<T>(T{1} << word % (8 * sizeof(T) - 1)); });
    expect_right<T, BitAnd>(
        [](std::uint64_t word) { return static_cast<T>(~(T{1} << word % (8 * sizeof(T) - 2))); });
    expect_right<T, BitXor>([](std::uint64_t word) { return static_cast<T>(word); });
    expect_right<T, Product>([](std::uint64_t word) { return static_cast<T>(word | 1); });
}

TEST(ReductionsOfFloats, AreRightAndIgnoreNaN) {
    const auto make = [](std::uint64_t word) {
        return word % 5 == 0 ? std::numeric_limits<float>::quiet_NaN()
                             : std::ldexp(static_cast<float>(static_cast<std::int32_t>(word >> 32)),
                                          static_cast<int>(word % 100) - 50);
    };
    expect_right<float, Min>(make);
    expect_right<float, Max>(make);
    expect_right<double, Min>([&](std::uint64_t word) { return double{make(word)} / 3; });
    expect_right<double, Max>([&](std::uint64_t word) { return double{make(word)} / 3; });
}

TEST(ReductionsOfStructures, AreRight) {
    expect_right<Hit, Nearest>([](std::uint64_t word) {
        return Hit{static_cast<float>(word % 1000), static_cast<std::uint32_t>(word >> 32)};
    });
    expect_right<Small, Highest>([](std::uint64_t word) {
        return Small{static_cast<std::int16_t>(word % 100), static_cast<std::uint16_t>(word >> 32)};
    });
}

TEST(ReductionsOfNothing, AreIdentities) {
    EXPECT_EQ((identity_of<float, Min>()), std::numeric_limits<float>::infinity());
    EXPECT_EQ((identity_of<double, Max>()), -std::numeric_limits<double>::infinity());
    EXPECT_EQ((identity_of<std::int64_t, Min>()), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ((identity_of<std::int32_t, Max>()), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ((identity_of<std::uint32_t, Max>()), 0u);
    EXPECT_EQ((identity_of<std::uint16_t, BitAnd>()), 0xffff);
    EXPECT_EQ((identity_of<Hit, Nearest>()), Nearest::identity());
}

TEST(ReductionsOfNothing, ChangeNothing) {
    float number = std::numeric_limits<float>::infinity();
    const Reduction<float, Min> view{&number, {}};
    view.combine(0, std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(number, std::numeric_limits<float>::infinity());
    view.combine(0, -0.0F);
    view.combine(0, 0.0F);
    EXPECT_TRUE(std::signbit(number));
}

// What is no operation on a type is refused where it is written down.
static_assert(ReductionOperation<Min, float> && ReductionOperation<Nearest, Hit> &&
              ReductionOperation<Product, int>);
static_assert(!ReductionOperation<BitOr, float> && !ReductionOperation<Nearest, float> &&
              !ReductionOperation<Min, Hit> && !ReductionOperation<std::plus<>, int>);

} // namespace
} // namespace headrace::test
