// Packets in the lanes of a CPU's vectors: each takes the way that it takes alone, to the last bit. And the
// logarithm that they share.
#include "core/seeds.hpp"
#include "devices/with_instructions.hpp"
#include "fluorescence.kernels.hpp"
#include "photons_on_cpu.hpp"
#include "random/logarithm.h"
#include "random_stacks.hpp"
#include <headrace/devices/cpu/batch.hpp>
#include <headrace/persistent/detail/on_cpu.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

namespace fluorescence::test {
namespace {

#ifdef HEADRACE_HAS_BATCHES
// Else, the tests below would compare single packets with single packets.
template <class Kernel>
constexpr bool has_batch_form = headrace::HasBatchForm<
    const Kernel, typename headrace::detail::HandleOf<Kernel, headrace::on_cpu::VectorLanes<16>>::type,
    Packet>;
static_assert(has_batch_form<TraceStepsRz> && has_batch_form<TraceStepsXyz>);
static_assert(!has_batch_form<TraceGeneralStepsRz>);
#endif

using headrace::Instructions;
using headrace::test::fresh_seed;

class Vectors : public headrace::test::WithInstructions {
protected:
    /// Without vectors, and with those of this test.
    static void expect_same(const Problem& problem, const Settings& settings) {
        headrace::use_instructions(Instructions::baseline);
        const Found alone = simulate(problem, settings);
        headrace::use_instructions(GetParam());
        const Found found = simulate(problem, settings);
        EXPECT_EQ(found.totals.reflectance.value, alone.totals.reflectance.value);
        EXPECT_EQ(found.totals.reflectance.standard_error, alone.totals.reflectance.standard_error);
        EXPECT_EQ(found.totals.transmittance.value, alone.totals.transmittance.value);
        EXPECT_EQ(found.totals.cut_off.value, alone.totals.cut_off.value);
        EXPECT_EQ(found.totals.fluorescence.emitted.value, alone.totals.fluorescence.emitted.value);
        for (std::size_t i = 0; i < problem.layers.size(); ++i)
            EXPECT_EQ(found.totals.absorbed_per_layer[i].value, alone.totals.absorbed_per_layer[i].value);
        for (int wavelength = 0; wavelength < 2; ++wavelength) {
            EXPECT_EQ(found.grids.absorption[wavelength], alone.grids.absorption[wavelength]);
            for (int side = 0; side < 2; ++side)
                EXPECT_EQ(found.grids.escape[wavelength][side], alone.grids.escape[wavelength][side]);
        }
    }
};

TEST_P(Vectors, ShowTheSameInStacksMadeAtRandom) {
    const std::uint64_t seed = fresh_seed();
    for (std::uint64_t i = 0; i < 6; ++i) {
        const Problem stack = random_stack(seed + i, 100);
        SCOPED_TRACE("stack " + std::to_string(seed + i));
        for (const GridChoice grid : {GridChoice::rz, GridChoice::xyz})
            expect_same(stack, {.kernel = KernelChoice::producer,
                                .grid = grid,
                                .photons = 301 + i, // the last batch is not full
                                .seed = seed,
                                .most_steps = 20'000});
    }
}

TEST_P(Vectors, ShowTheSameFluorescence) {
    Problem problem;
    problem.layers = {{1.37, {0.6, 90, 0.85}, 0.01, Optical{0.5, 80, 0.8}},
                      {1.45, {2, 120, 0.9}, 0.05, Optical{1.5, 100, 0.85}},
                      {1.4, {1, 60, 0.7}, 0.2, Optical{0.7, 50, 0.7}}};
    problem.layers[1].fluorophore_mua = 1;
    problem.layers[1].quantum_yield = 0.6;
    problem.grid = {0.005, 0.01, 22, 15, 7, {}, {}, {}, {}};
    for (const GridChoice grid : {GridChoice::rz, GridChoice::xyz})
        for (const std::uint64_t photons : {1u, 15u, 16u, 17u, 20'000u})
            expect_same(problem, {KernelChoice::producer, grid, photons, fresh_seed()});
}

TEST_P(Vectors, ShareTheLogarithmOfSingleNumbers) {
#ifdef HEADRACE_HAS_BATCHES
    EXPECT_TRUE(headrace::run_with_vectors([](auto width) {
        constexpr unsigned lanes = decltype(width)::value;
        for (std::uint32_t bits = 0x2f000000; bits < 0x3f800000; bits += 1001 * lanes) {
            float numbers[lanes], logarithms[lanes];
            for (unsigned lane = 0; lane < lanes; ++lane)
                numbers[lane] = std::bit_cast<float>(bits + 1001 * lane);
            random_numbers::log2_of(headrace::Batch<float, lanes>::load(numbers)).store(logarithms);
            for (unsigned lane = 0; lane < lanes; ++lane)
                ASSERT_EQ(logarithms[lane], random_numbers::log2_of(numbers[lane])) << numbers[lane];
        }
    }));
#endif
}

INSTANTIATE_TEST_SUITE_P(Each, Vectors, testing::Values(Instructions::avx2, Instructions::avx512),
                         headrace::test::by_instructions);

TEST(Logarithms, AreRightToAFewBits) {
    double worst = 0;
    const auto look = [&](std::uint32_t bits) {
        const auto number = std::bit_cast<float>(bits);
        const double expected = std::log2(double{number});
        worst = std::max(worst, std::fabs(random_numbers::log2_of(number) / expected - 1));
    };
    for (std::uint32_t bits = 0x2f000000; bits < 0x3f800000; bits += 997) look(bits); // from 2^-33 to 1
    for (std::uint32_t bits = 0x3f7f0000; bits < 0x3f800000; ++bits) look(bits);
    EXPECT_LT(worst, 4.2 / 16777216);
}

} // namespace
} // namespace fluorescence::test
