// Matrix Pow on every device and on several: what a serial program in double precision gets, and the same
// bits whatever overlaps.
#include "apps/matrix_reference.hpp"
#include "devices/devices_fixture.hpp"
#include "power.hpp"

#include <gtest/gtest.h>

namespace matrix_pow {
namespace {

using controller_program::Machine;
using headrace::test::test_name;
using matrices::Normalisation;
using namespace matrices::test;

struct Powers {
    std::vector<Normalisation> found;
    Floats normalised; ///< the last
};

constexpr float scale(int size) { return 2.0f / static_cast<float>(size); }

Powers powers_on(const std::string& devices, bool asynchronous, int size, int steps) {
    controller_program::CommonOptions options;
    options.asynchronous = asynchronous;
    options.devices = devices;
    Machine machine("test", options);
    const auto plane = headrace::grid(size, size);
    headrace::Array<float> a("A", plane), power("C", plane), next("next C", plane),
        normalised("normalised", plane);
    matrices::HostThreads threads(2);
    fill_uniform(a.fill(), 1, 0, scale(size), threads);
    Powers powers{std::vector<Normalisation>(static_cast<std::size_t>(steps)), {}};
    raise(machine, a, {power, next, normalised}, powers.found, threads);
    machine.wait_all();
    const auto last = normalised.gather();
    powers.normalised.assign(last.begin(), last.end());
    return powers;
}

class MatrixPow : public headrace::test::OnDevices {};
INSTANTIATE_TEST_SUITE_P(Every, MatrixPow,
                         testing::Values("cpu", "opencl:pocl", "opencl:nvidia", "cuda:0", "hip:0",
                                         "cpu,opencl:pocl", "cpu,cuda:0"),
                         test_name);

TEST_P(MatrixPow, EveryStepIsWhatASerialProgramGets) {
    constexpr int size = 67, steps = 6;
    const Powers powers = powers_on(GetParam(), true, size, steps);
    Floats a(size * size);
    matrices::HostThreads threads(1);
    matrices::fill_uniform(a, 1, 0, scale(size), threads);
    Doubles c(a.begin(), a.end());
    for (int step = 0; step < steps; ++step) {
        c = product(c, a, size, size, size);
        const ReferenceNormalisation expected(c);
        // Numbers are rounded to 6e-8 of their size at each step, and what is left of them when the least has
        // been subtracted is a few hundredths.
        EXPECT_NEAR(powers.found[step].norm / expected.norm, 1, 1e-4) << "step " << step;
        EXPECT_NEAR(powers.found[step].sum / expected.sum, 1, 1e-4) << "step " << step;
        if (step == steps - 1) {
            EXPECT_LT(distance(powers.normalised, expected.numbers), 1e-4);
        }
    }
}

TEST_P(MatrixPow, OverlappingChangesNoBit) {
    const Powers in_turn = powers_on(GetParam(), false, 130, 7), beside = powers_on(GetParam(), true, 130, 7);
    EXPECT_EQ(in_turn.normalised, beside.normalised);
    for (std::size_t step = 0; step < in_turn.found.size(); ++step)
        EXPECT_EQ(in_turn.found[step].norm, beside.found[step].norm) << "step " << step;
}

TEST_P(MatrixPow, OneNumberIsAMatrixToo) {
    const Powers powers = powers_on(GetParam(), true, 1, 3);
    EXPECT_EQ(powers.normalised, Floats{0.0f}); // nothing is left of it without the least
    EXPECT_EQ(powers.found.back().norm, 0);
}

} // namespace
} // namespace matrix_pow
