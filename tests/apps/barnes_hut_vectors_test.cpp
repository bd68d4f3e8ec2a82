// A group's bodies in the lanes of a CPU's vectors: each is pulled as it is alone, to the last bit.
#include "barnes_hut_on_devices.hpp"
#include "core/seeds.hpp"
#include "devices/with_instructions.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

namespace barnes_hut::test {
namespace {

using headrace::Instructions;
using headrace::test::fresh_seed;

class Vectors : public headrace::test::WithInstructions {
protected:
    Field field(const Bodies& bodies, const Settings& settings, bool with_potential) {
        Gravity gravity(runtime_, settings);
        return field_of(runtime_, gravity, bodies, with_potential);
    }
    /// Without vectors, and with those of this test.
    void expect_same(const Bodies& bodies, const Settings& settings) {
        for (const bool with_potential : {false, true}) {
            headrace::use_instructions(Instructions::baseline);
            const Field alone = field(bodies, settings, with_potential);
            headrace::use_instructions(GetParam());
            const Field found = field(bodies, settings, with_potential);
            for (std::size_t i = 0; i < bodies.size(); ++i) {
                EXPECT_EQ(found.accelerations[i].x, alone.accelerations[i].x) << i;
                EXPECT_EQ(found.accelerations[i].y, alone.accelerations[i].y) << i;
                EXPECT_EQ(found.accelerations[i].z, alone.accelerations[i].z) << i;
                if (with_potential) {
                    EXPECT_EQ(found.potentials[i], alone.potentials[i]) << i;
                }
            }
        }
    }

    headrace::Runtime runtime_{headrace::RuntimeOptions{.devices = "cpu"}};
};

TEST_P(Vectors, PullAsBodiesAloneArePulled) {
    const std::uint64_t seed = fresh_seed();
    for (const std::size_t count : {1u, 63u, 64u, 65u, 777u, 3000u})
        for (const bool quadrupole : {false, true})
            for (const double softening : {0.0, 0.01}) {
                SCOPED_TRACE(std::to_string(count) + " bodies, seed " + std::to_string(seed));
                expect_same(
                    plummer_sphere(count, seed),
                    {.kernel = KernelChoice::consumer, .quadrupole = quadrupole, .softening = softening});
            }
}

/// Lists with near pairs are computed lane by lane, and others around them are not.
TEST_P(Vectors, PullWhatIsNearAsBodiesAloneArePulled) {
    std::mt19937_64 random(fresh_seed());
    std::uniform_real_distribution<double> place(-1, 1), mass(0, 1);
    Bodies bodies;
    for (int i = 0; i < 1000; ++i) {
        bodies.places.push_back({place(random), place(random), place(random)});
        bodies.masses.push_back(i % 7 == 0 ? 0 : mass(random));
        if (i % 5 != 0) continue; // with a neighbour, and sometimes with one at the same place
        Vector near = bodies.places.back();
        if (i % 25 != 0) near.x += 1e-9 * place(random);
        bodies.places.push_back(near);
        bodies.masses.push_back(mass(random));
    }
    bodies.velocities.resize(bodies.places.size());
    for (const double softening : {0.0, 1e-10, 0.01})
        expect_same(bodies, {.kernel = KernelChoice::consumer, .softening = softening});
}

INSTANTIATE_TEST_SUITE_P(Each, Vectors, testing::Values(Instructions::avx2, Instructions::avx512),
                         headrace::test::by_instructions);

} // namespace
} // namespace barnes_hut::test
