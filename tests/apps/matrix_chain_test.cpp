// The chain of products on every device and on several, with one to four controllers.
#include "apps/matrix_reference.hpp"
#include "chain.hpp"
#include "devices/devices_fixture.hpp"

#include <gtest/gtest.h>

namespace chain_matmul {
namespace {

using controller_program::Machine;
using headrace::test::test_name;
using matrices::Normalisation;
using namespace matrices::test;

struct Passed {
    std::vector<Normalisation> found;
    Floats normalised; ///< the last
    std::string devices;
};

Passed pass_through(const std::string& devices, bool asynchronous, int size, int iterations,
                    int controllers = 4) {
    controller_program::CommonOptions options;
    options.asynchronous = asynchronous;
    options.devices = devices;
    Machine machine("test", options);
    matrices::HostThreads threads(2);
    Chain chain(machine, {.size = size, .seed = 5}, controllers, threads);
    Passed passed{std::vector<Normalisation>(static_cast<std::size_t>(iterations)), {}, chain.devices()};
    chain.submit(passed.found);
    machine.wait_all();
    const auto last = chain.normalised();
    passed.normalised.assign(last.begin(), last.end());
    return passed;
}

Doubles uniform(int size, std::uint64_t stream) {
    Floats numbers(static_cast<std::size_t>(size) * size);
    matrices::HostThreads threads(1);
    matrices::fill_uniform(numbers, 5, stream, 2.0f / static_cast<float>(size), threads);
    return {numbers.begin(), numbers.end()};
}

class ChainMatmul : public headrace::test::OnDevices {};
INSTANTIATE_TEST_SUITE_P(Every, ChainMatmul,
                         testing::Values("cpu", "opencl:pocl", "opencl:nvidia", "cuda:0", "hip:0",
                                         "cpu,opencl:pocl", "opencl:pocl,cpu", "cpu,cuda:0",
                                         "cuda:0,opencl:pocl,cpu"),
                         test_name);

TEST_P(ChainMatmul, EveryMatrixIsWhatASerialProgramGets) {
    constexpr int size = 61, iterations = 5; // more than there are sets of matrices
    const Passed passed = pass_through(GetParam(), true, size, iterations);
    for (int i = 0; i < iterations; ++i) {
        Doubles b = uniform(size, static_cast<std::uint64_t>(stages + i));
        for (int stage = 0; stage < stages; ++stage)
            b = product(b, uniform(size, static_cast<std::uint64_t>(stage)), size, size, size);
        const ReferenceNormalisation expected(b);
        // As in matrix_power_test: roundings of whole numbers, of which a few hundredths are left.
        EXPECT_NEAR(passed.found[i].norm / expected.norm, 1, 1e-4) << "matrix " << i;
        EXPECT_NEAR(passed.found[i].sum / expected.sum, 1, 1e-4) << "matrix " << i;
        if (i == iterations - 1) {
            EXPECT_LT(distance(passed.normalised, expected.numbers), 1e-4);
        }
    }
}

TEST_P(ChainMatmul, OverlappingChangesNoBit) {
    const Passed in_turn = pass_through(GetParam(), false, 97, 6),
                 beside = pass_through(GetParam(), true, 97, 6);
    EXPECT_EQ(in_turn.normalised, beside.normalised);
    for (std::size_t i = 0; i < in_turn.found.size(); ++i)
        EXPECT_EQ(in_turn.found[i].sum, beside.found[i].sum) << "matrix " << i;
}

TEST(ChainStages, ControllersOfADeviceAreNeighbours) {
    for (int controllers = 1; controllers <= stages; ++controllers)
        EXPECT_EQ(pass_through("cpu", true, 3, 1, controllers).devices, "cpu cpu cpu cpu");
    const std::string both = "cpu,opencl:pocl";
    if (const std::string why = headrace::test::absent(both); !why.empty()) GTEST_SKIP() << why;
    const auto devices = [&](int controllers) {
        std::string names = pass_through(both, true, 3, 1, controllers).devices;
        for (std::size_t at; (at = names.find("opencl:0")) != std::string::npos;)
            names.replace(at, 8, "pocl");
        return names;
    };
    EXPECT_EQ(devices(1), "cpu cpu cpu cpu");
    EXPECT_EQ(devices(2), "cpu cpu pocl pocl");
    EXPECT_EQ(devices(3), "cpu cpu cpu pocl");
    EXPECT_EQ(devices(4), "cpu cpu pocl pocl");
}

TEST(ChainStages, AnyNumberOfControllersGivesTheSameBits) {
    const Passed one = pass_through("cpu", true, 50, 4, 1);
    for (int controllers = 2; controllers <= stages; ++controllers)
        EXPECT_EQ(pass_through("cpu", true, 50, 4, controllers).normalised, one.normalised) << controllers;
}

} // namespace
} // namespace chain_matmul
