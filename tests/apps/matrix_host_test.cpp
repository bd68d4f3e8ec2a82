// What the host computes on matrices, with each instruction set that this machine has.
#include "apps/matrix_reference.hpp"
#include "matrices/host_kernels.hpp"
#include "matrices/host_multiply.hpp"
#include "matrices/normalise.hpp"
#include "random/philox.h"
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>

namespace matrices::test {
namespace {

std::vector<const HostKernels*> of_this_machine() {
    std::vector<const HostKernels*> all{&baseline::kernels()};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(&avx2::kernels());
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        all.push_back(&avx512::kernels());
#endif
    return all;
}

class HostKernel : public testing::TestWithParam<const HostKernels*> {};
INSTANTIATE_TEST_SUITE_P(Every, HostKernel, testing::ValuesIn(of_this_machine()),
                         [](const auto& set) { return std::string(set.param->instruction_set); });

/// With guards around C that nobody may write to, and rows further apart than they are long.
void expect_product(const HostKernels& kernels, int rows, int columns, int inner) {
    const auto wide = static_cast<std::size_t>(columns) + 3;
    const Floats a = noise(static_cast<std::size_t>(rows) * inner, 1);
    const Floats b = noise(static_cast<std::size_t>(inner) * columns, 2);
    Floats c(wide * rows, 7.0f);
    const std::unique_ptr<float, decltype(&std::free)> scratch(
        static_cast<float*>(std::aligned_alloc(64, kernels.scratch_floats * sizeof(float))), &std::free);
    kernels.multiply_tile(a.data(), inner, b.data(), columns, c.data(), wide, rows, columns, inner,
                          scratch.get());
    const Doubles expected = product(a, b, rows, columns, inner);
    for (int i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < wide; ++j) {
            if (j < static_cast<std::size_t>(columns))
                ASSERT_NEAR(c[i * wide + j], expected[static_cast<std::size_t>(i) * columns + j],
                            tolerance(inner))
                    << i << " " << j;
            else
                ASSERT_EQ(c[i * wide + j], 7.0f) << "written beyond the tile";
        }
}

TEST_P(HostKernel, MultipliesTilesOfAnySize) {
    const HostKernels& kernels = *GetParam();
    expect_product(kernels, 1, 1, 1);
    expect_product(kernels, kernels.tile_rows, kernels.tile_columns, 256); // whole slices
    expect_product(kernels, kernels.tile_rows - 1, kernels.tile_columns - 1, 257);
    expect_product(kernels, 13, 33, 1000);
}

TEST_P(HostKernel, FindsLeastMostAndSums) {
    for (const std::size_t count : {1, 2, 31, 1000}) {
        const Floats numbers = noise(count, 3);
        const Summary found = GetParam()->summarise(numbers.data(), count, numbers[0]);
        double sum = 0, squares = 0;
        for (const float number : numbers) {
            const double difference = double{number} - double{numbers[0]};
            sum += difference;
            squares += difference * difference;
        }
        EXPECT_EQ(found.least, std::ranges::min(numbers));
        EXPECT_EQ(found.most, std::ranges::max(numbers));
        EXPECT_NEAR(found.sum, sum,
                    1e-12 * static_cast<double>(count)); // another order of the same additions
        EXPECT_NEAR(found.squares, squares, 1e-12 * static_cast<double>(count));
    }
}

// The generator that kernels use is another implementation of the same.
TEST_P(HostKernel, RandomNumbersArePhiloxs) {
    Floats numbers(1003);
    const std::uint64_t first = 4 * ((std::uint64_t{1} << 32) - 100); // block numbers that pass 32 bits
    GetParam()->uniform(numbers.data(), first, numbers.size(), 0x123456789abcdef0, 0x0fedcba987654321, 2.0f);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::uint64_t block = (first + i) / 4;
        const auto [a, b, c, d] = random_numbers::philox4x32(
            random_numbers::Words4{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                                   0x87654321, 0x0fedcba9},
            0x9abcdef0, 0x12345678);
        const std::uint32_t words[] = {a, b, c, d};
        ASSERT_EQ(numbers[i], 2 * random_numbers::uniform_of(words[i % 4])) << i;
    }
}

TEST(HostProduct, TilesCoverTheProduct) {
    const int rows = 301, columns = 523, inner = 67;
    const Floats a = noise(rows * inner, 1), b = noise(inner * columns, 2);
    Floats c(rows * columns, 1e30f);
    const matrices::HostProduct all{a.data(), b.data(), c.data(), rows, columns, inner};
    HostThreads threads(4);
    threads.run(all.tiles(), [&](unsigned tile) { all.multiply(tile); });
    const Doubles expected = product(a, b, rows, columns, inner);
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c[i], expected[i], tolerance(inner)) << i;
}

TEST(Normalise, DoesWhatItsDefinitionSays) {
    HostThreads threads(3);
    for (const std::size_t count : {2, 1000, 200'001}) { // less than a piece, and several
        Floats numbers = noise(count, 4), normalised(count);
        for (float& number : numbers) number = 1000 + number; // little differs, as in high powers of a matrix
        const Normalisation found = normalise(numbers, normalised, threads);
        const ReferenceNormalisation expected(numbers);
        EXPECT_EQ(found.least, expected.least);
        EXPECT_EQ(found.most, expected.most);
        EXPECT_NEAR(found.norm / expected.norm, 1, 1e-12);
        EXPECT_NEAR(found.sum / expected.sum, 1, 1e-7);          // its factor is a float
        EXPECT_LT(distance(normalised, expected.numbers), 1e-6); // so is each number
        EXPECT_NEAR(checksum(normalised, threads) / expected.sum, 1, 1e-6);
    }
}

TEST(Normalise, GivesTheSameBitsOnAnyNumberOfThreads) {
    const Floats numbers = noise(300'000, 5);
    Floats one(numbers.size()), many(numbers.size());
    HostThreads alone(1), several(7);
    const Normalisation a = normalise(numbers, one, alone), b = normalise(numbers, many, several);
    EXPECT_EQ(a.norm, b.norm);
    EXPECT_EQ(one, many);
}

TEST(Normalise, NumbersThatAreAllAlikeBecomeZeros) {
    HostThreads threads(2);
    for (const float value : {0.0f, 3.0f}) {
        const Floats numbers(100, value);
        Floats normalised(100, 9.0f);
        EXPECT_EQ(normalise(numbers, normalised, threads).norm, 0);
        EXPECT_EQ(normalised, Floats(100, 0.0f));
    }
}

// Floats hold neither the differences of the first nor the factor of the others, 1 / norm.
TEST(Normalise, ReachesAsFarAsFloatsDo) {
    HostThreads threads(2);
    for (const Floats& numbers : {Floats{3e38f, -3e38f, 0, 1e38f}, Floats{1e-40f, 0, 0, 2e-40f},
                                  Floats{1.5e38f, 3e38f, 2e38f, 2.5e38f}}) {
        Floats normalised(numbers.size());
        const Normalisation found = normalise(numbers, normalised, threads);
        const ReferenceNormalisation expected(numbers);
        EXPECT_NEAR(found.norm / expected.norm, 1, 1e-12);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            EXPECT_NEAR(normalised[i], expected.numbers[i], 6e-8) << i; // half a float's last bit below 1
    }
}

TEST(Normalise, SaysWhichNumberIsBeyondFloat) {
    HostThreads threads(2);
    for (const float odd : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) {
        Floats numbers(100'000, 1), normalised(numbers.size());
        numbers[70'000] = odd;
        try {
            normalise(numbers, normalised, threads, "power 7");
            FAIL() << odd;
        } catch (const headrace::Error& error) {
            EXPECT_EQ(error.kind(), headrace::ErrorKind::invalid_argument);
            EXPECT_NE(error.message().find("power 7: number 70001"), std::string::npos) << error.message();
        }
    }
}

TEST(Uniform, NumbersDependOnSeedAndStreamNotOnThreads) {
    HostThreads alone(1), several(5);
    Floats one(200'003), many(one.size()), other(one.size());
    fill_uniform(one, 1, 2, 0.5f, alone);
    fill_uniform(many, 1, 2, 0.5f, several);
    EXPECT_EQ(one, many);
    fill_uniform(other, 1, 3, 0.5f, several);
    EXPECT_NE(one, other);
    fill_uniform(other, 2, 2, 0.5f, several);
    EXPECT_NE(one, other);
    double mean = 0;
    for (const float number : one) {
        ASSERT_GE(number, 0.0f);
        ASSERT_LT(number, 0.5f);
        mean += number;
    }
    EXPECT_NEAR(mean / static_cast<double>(one.size()), 0.25, 0.002); // six standard deviations
}

} // namespace
} // namespace matrices::test
