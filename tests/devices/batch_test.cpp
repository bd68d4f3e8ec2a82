// Batches of numbers: each lane has the bits of a single number, in vectors of each width.
#include <core/environment_variable.hpp>
#include <devices/with_instructions.hpp>
#include <headrace/core/error.hpp>
#include <headrace/devices/cpu/batch.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

TEST(InstructionSets, HaveNamesAndAnOrder) {
    EXPECT_EQ(name_of(Instructions::baseline), "baseline");
    EXPECT_EQ(name_of(Instructions::avx2), "avx2");
    EXPECT_EQ(name_of(Instructions::avx512), "avx512");
    EXPECT_LT(Instructions::baseline, Instructions::avx2);
    EXPECT_LT(Instructions::avx2, Instructions::avx512);
}

TEST(InstructionSets, AreLimitedByTheEnvironment) {
    const Instructions best = best_instructions();
    {
        const EnvironmentVariable limit("HEADRACE_INSTRUCTIONS", "baseline");
        EXPECT_EQ(best_instructions(), Instructions::baseline);
    }
    {
        const EnvironmentVariable limit("HEADRACE_INSTRUCTIONS", "avx512"); // no more than the processor has
        EXPECT_EQ(best_instructions(), best);
    }
    const EnvironmentVariable empty("HEADRACE_INSTRUCTIONS", "");
    EXPECT_EQ(best_instructions(), best);
}

TEST(InstructionSets, WithoutSuchANameAreAnError) {
    const EnvironmentVariable wrong("HEADRACE_INSTRUCTIONS", "sse2");
    try {
        static_cast<void>(best_instructions());
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_TRUE(error.is_users_mistake());
        EXPECT_NE(error.message().find("'sse2': use baseline, avx2 or avx512"), std::string::npos)
            << error.message();
    }
}

#ifdef HEADRACE_HAS_BATCHES

using namespace shared_c;

/// Sets of instructions with vectors.
class Batches : public WithInstructions {
protected:
    std::mt19937 random_{20261130};

    /// std::fmin and std::fmax have another answer to a NaN that signals.
    static float quiet(float number) {
        return std::isnan(number) ? std::numeric_limits<float>::quiet_NaN() : number;
    }
    /// Any bits as often as numbers of a usual size, and what is special.
    float any_float() {
        static constexpr std::array special = {0.0f,
                                               -0.0f,
                                               1.0f,
                                               -1.0f,
                                               std::numeric_limits<float>::infinity(),
                                               -std::numeric_limits<float>::infinity(),
                                               std::numeric_limits<float>::denorm_min(),
                                               std::numeric_limits<float>::max(),
                                               std::numeric_limits<float>::quiet_NaN()};
        switch (random_() % 4) {
        case 0:
            return special[random_() % special.size()];
        case 1:
            return quiet(std::bit_cast<float>(static_cast<std::uint32_t>(random_())));
        default:
            return std::uniform_real_distribution<float>(-100, 100)(random_);
        }
    }
    std::uint32_t any_word() {
        static constexpr std::array<std::uint32_t, 6> special = {0,          1,          0x7fffffff,
                                                                 0x80000000, 0xffffffff, 0xffff};
        return random_() % 4 == 0 ? special[random_() % special.size()]
                                  : static_cast<std::uint32_t>(random_());
    }
};

// A single number would become something else with these.
static_assert(std::is_convertible_v<int, Batch<float, 8>> &&
              std::is_convertible_v<int, Batch<std::uint32_t, 8>>);
static_assert(!std::is_convertible_v<double, Batch<float, 8>>);
static_assert(!std::is_convertible_v<float, Batch<std::int32_t, 8>>);
static_assert(!std::is_convertible_v<std::uint32_t, Batch<std::int32_t, 8>>);
static_assert(!std::is_convertible_v<float, BatchMask<8>> && !std::is_convertible_v<int, BatchMask<16>>);

/// Not part of the function with vectors: compiled for any processor.
[[gnu::noinline]] auto not_inlined(auto x, auto y) { return x + y; }

/// All bits; but one NaN is as good as another.
std::uint32_t bits_of(float number) {
    return std::isnan(number) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(number);
}
template <class T>
std::uint32_t bits_of(T number) {
    return static_cast<std::uint32_t>(number);
}

/// Calls f with batches of these numbers, and again with the numbers of each lane. Its results must be equal.
template <class A, class B, class F>
void expect_same_bits(const std::array<A, 16>& a, const std::array<B, 16>& b, const F& f, const char* what) {
    std::array<std::uint32_t, 16> results{};
    unsigned lanes = 0;
    ASSERT_TRUE(run_with_vectors([&](auto width) {
        constexpr unsigned w = decltype(width)::value;
        lanes = w;
        for (unsigned first = 0; first < 16; first += w) {
            const auto result = f(Batch<A, w>::load(&a[first]), Batch<B, w>::load(&b[first]));
            result.store(&results[first]);
        }
    }));
    for (unsigned lane = 0; lane < 16; ++lane) {
        const auto alone = f(a[lane], b[lane]);
        using Result = std::remove_cvref_t<decltype(alone)>;
        const auto together = std::bit_cast<Result>(results[lane]);
        ASSERT_EQ(bits_of(together), bits_of(alone))
            << what << " of " << a[lane] << " and " << b[lane] << " in lane " << lane << " of " << lanes;
    }
}

TEST_P(Batches, OfFloatsHaveTheBitsOfSingleOnes) {
    for (int turn = 0; turn < 2000; ++turn) {
        std::array<float, 16> a, b;
        for (float& one : a) one = any_float();
        for (float& one : b) one = any_float();
    #define EXPECT_SAME(expression)                                                                          \
        expect_same_bits(                                                                                    \
            a, b, [](auto x, auto y) { return expression; }, #expression)
        EXPECT_SAME(x + y);
        EXPECT_SAME(x - y);
        EXPECT_SAME(x * y);
        EXPECT_SAME(x / y);
        EXPECT_SAME(-x + y * 0.0f);
        EXPECT_SAME(x * y + y); // not fused
        EXPECT_SAME(fma(x, y, y));
        EXPECT_SAME(sqrt(x * x + y * 0.0f));
        EXPECT_SAME(fabs(x) + y);
        EXPECT_SAME(fmin(x, y) + 0.0f); // either zero may be the smaller one
        EXPECT_SAME(fmax(x, y) + 0.0f);
        EXPECT_SAME(choose(x < y, -1.0f, 1.0f) * x);
        EXPECT_SAME(2 - x + y * 0);
        EXPECT_SAME(choose(x < y, x, y));
        EXPECT_SAME(choose(x <= y, x, -y));
        EXPECT_SAME(choose(x > y, x, 3.0f));
        EXPECT_SAME(choose(x >= y, x, y));
        EXPECT_SAME(choose(x == y, x, -x));
        EXPECT_SAME(choose(x != y, x, -x));
        EXPECT_SAME(choose((x < y) & (x > -1.0f), x, y));
        EXPECT_SAME(choose((x < y) | (!(x > -1.0f)), x, y));
        EXPECT_SAME(as_uint(x) ^ as_uint(y));
        EXPECT_SAME(not_inlined(x, y));
    #undef EXPECT_SAME
    }
}

TEST_P(Batches, OfWholeNumbersHaveTheBitsOfSingleOnes) {
    for (int turn = 0; turn < 2000; ++turn) {
        std::array<std::uint32_t, 16> a, b;
        std::array<std::int32_t, 16> c, d;
        for (std::uint32_t& one : a) one = any_word();
        for (std::uint32_t& one : b) one = any_word();
        for (std::int32_t& one : c) one = static_cast<std::int32_t>(any_word() >> 2) - (1 << 29);
        for (std::int32_t& one : d) one = static_cast<std::int32_t>(any_word() >> 2) - (1 << 29);
    #define EXPECT_SAME(a, b, expression)                                                                    \
        expect_same_bits(                                                                                    \
            a, b, [](auto x, auto y) { return expression; }, #expression)
        EXPECT_SAME(a, b, x + y);
        EXPECT_SAME(a, b, x - y);
        EXPECT_SAME(a, b, x * y);
        EXPECT_SAME(a, b, (x & y) | (~x ^ y));
        EXPECT_SAME(a, b, (x >> 7) + (y << 3));
        EXPECT_SAME(a, b, choose(x < y, x, y));
        EXPECT_SAME(a, b, choose(x <= y, x, 7u));
        EXPECT_SAME(a, b, choose(x == y, x, y + 1u));
        EXPECT_SAME(a, b, upper_of(product_of(x, 0xD2511F53u)) + y * 0u);
        EXPECT_SAME(a, b, lower_of(product_of(x, 0xD2511F53u)) + y * 0u);
        EXPECT_SAME(a, b, float_of(x) + float_of(y));
        EXPECT_SAME(a, b, as_float(x) + as_float(y));
        EXPECT_SAME(c, d, x + y);
        EXPECT_SAME(c, d, choose(x < y, x >> 5, y));
        EXPECT_SAME(c, d, float_of(x) * float_of(y));
    #undef EXPECT_SAME
    }
}

TEST_P(Batches, OfFloatsBecomeWholeNumbersLikeSingleOnes) {
    std::uniform_real_distribution<float> small(-2e9f, 2e9f), large(0, 4294967040.0f);
    for (int turn = 0; turn < 2000; ++turn) {
        std::array<float, 16> a, b;
        for (float& one : a) one = turn % 2 == 0 ? small(random_) : small(random_) * 1e-9f;
        for (float& one : b) one = turn % 2 == 0 ? large(random_) : large(random_) * 1e-9f;
        expect_same_bits(
            a, b, [](auto x, auto y) { return int_of(x) + int_of(y * 1e-4f); }, "int_of");
        expect_same_bits(
            a, b, [](auto x, auto y) { return uint_of(y) + uint_of(fabs(x)); }, "uint_of");
    }
}

TEST_P(Batches, FillEachLaneWithOneNumber) {
    for (const float number : {0.0f, -0.0f, 1.5f, -std::numeric_limits<float>::infinity()})
        EXPECT_TRUE(run_with_vectors([&](auto width) {
            const Batch<float, decltype(width)::value> batch = number;
            for (unsigned lane = 0; lane < batch.lanes; ++lane)
                EXPECT_EQ(std::bit_cast<std::uint32_t>(batch[lane]), std::bit_cast<std::uint32_t>(number));
        }));
}

TEST_P(Batches, HaveConditionsByBits) {
    EXPECT_TRUE(run_with_vectors([&](auto width) {
        constexpr unsigned w = decltype(width)::value;
        using Mask = BatchMask<w>;
        for (std::uint32_t bits = 0; bits < 1u << w; bits += 1 + bits % 5) {
            const Mask mask = Mask::of_bits(bits);
            ASSERT_EQ(mask.bits(), bits);
            ASSERT_EQ((!mask).bits(), ~bits & ((1u << w) - 1));
            ASSERT_EQ(mask.any(), bits != 0);
            const auto chosen = choose(mask, Batch<std::uint32_t, w>(7u), Batch<std::uint32_t, w>(9u));
            for (unsigned lane = 0; lane < w; ++lane)
                ASSERT_EQ(chosen[lane], (bits >> lane & 1) != 0 ? 7u : 9u);
        }
        EXPECT_EQ(Mask(true).bits(), (1u << w) - 1);
        EXPECT_EQ(Mask(false).bits(), 0u);
    }));
}

TEST_P(Batches, GatherFromATable) {
    std::array<float, 100> table;
    for (float& one : table) one = any_float();
    EXPECT_TRUE(run_with_vectors([&](auto width) {
        constexpr unsigned w = decltype(width)::value;
        std::array<std::uint32_t, w> places;
        for (std::uint32_t& place : places) place = static_cast<std::uint32_t>(random_() % table.size());
        const auto found =
            Batch<float, w>::gather(table.data(), Batch<std::uint32_t, w>::load(places.data()));
        for (unsigned lane = 0; lane < w; ++lane)
            EXPECT_EQ(bits_of(found[lane]), bits_of(table[places[lane]]));
    }));
}

struct Particle {
    float mass;
    std::uint32_t name;
    float place[3];
};

TEST_P(Batches, HaveAMemberOfEachLanesObject) {
    EXPECT_TRUE(run_with_vectors([&](auto width) {
        constexpr unsigned w = decltype(width)::value;
        BatchColumns<Particle, w> columns;
        std::vector<Particle> particles(w);
        for (unsigned lane = 0; lane < w; ++lane) {
            particles[lane] = {any_float(), any_word(), {any_float(), any_float(), any_float()}};
            columns.put(lane, particles[lane]);
        }
        const auto names = columns.template load<std::uint32_t>(offsetof(Particle, name));
        const auto heights = columns.template load<float>(offsetof(Particle, place) + 2 * sizeof(float));
        for (unsigned lane = 0; lane < w; ++lane) {
            EXPECT_EQ(names[lane], particles[lane].name);
            EXPECT_EQ(bits_of(heights[lane]), bits_of(particles[lane].place[2]));
        }
        columns.store(offsetof(Particle, name), names + 1u);
        for (unsigned lane = 0; lane < w; ++lane) {
            const Particle after = columns.get(lane);
            EXPECT_EQ(after.name, particles[lane].name + 1);
            EXPECT_EQ(bits_of(after.mass), bits_of(particles[lane].mass));
            EXPECT_EQ(bits_of(after.place[0]), bits_of(particles[lane].place[0]));
        }
    }));
}

INSTANTIATE_TEST_SUITE_P(Each, Batches, testing::Values(Instructions::avx2, Instructions::avx512),
                         by_instructions);

TEST(BatchCode, IsNotCalledWithoutVectors) {
    use_instructions(Instructions::baseline);
    EXPECT_FALSE(run_with_vectors([](auto) { ADD_FAILURE() << "called"; }));
    use_instructions(best_instructions());
}

#endif

} // namespace
} // namespace headrace::test
