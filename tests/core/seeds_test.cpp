// tests/core/seeds_test.cpp - which seeds a test has, by what the environment asks for.
#include <core/environment_variable.hpp>
#include <core/seeds.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>

namespace headrace::test {
namespace {

using Kind = SeedOfTest::Kind;

/// The first three seeds of a run of this test.
std::array<std::uint32_t, 3> seeds(Kind kind) {
    SeedOfTest run;
    return {run.next(kind), run.next(kind), run.next(kind)};
}

class Seeds : public testing::Test {
    const EnvironmentVariable given_{"HEADRACE_SEED", ""}, wanted_{"HEADRACE_FRESH_SEEDS", ""};
};

TEST_F(Seeds, FixedOnesAreTheSameInEachRunAndOthersAtEachUse) {
    const auto fixed = seeds(Kind::fixed);
    EXPECT_EQ(fixed, seeds(Kind::fixed));
    EXPECT_NE(fixed[0], fixed[1]);
    EXPECT_NE(fixed[1], fixed[2]);
    EXPECT_EQ(SeedOfTest().number(Kind::fixed), 2799729459u) << "by the name of this test, anywhere";
}

TEST_F(Seeds, FreshOnesAreOthersInEachRun) { EXPECT_NE(seeds(Kind::fresh), seeds(Kind::fresh)); }

TEST_F(Seeds, FixedOnesAreFreshWhereThatIsWanted) {
    for (const char* wanted : {"1", "300", "yes"}) {
        const EnvironmentVariable fresh("HEADRACE_FRESH_SEEDS", wanted);
        EXPECT_NE(seeds(Kind::fixed), seeds(Kind::fixed)) << wanted;
    }
    const EnvironmentVariable fresh("HEADRACE_FRESH_SEEDS", "0");
    EXPECT_EQ(seeds(Kind::fixed), seeds(Kind::fixed));
}

TEST_F(Seeds, AGivenNumberRepeatsARunOfEitherKind) {
    SeedOfTest run;
    const std::uint64_t number = run.number(Kind::fresh);
    const auto next = run.next(Kind::fresh);
    const EnvironmentVariable given("HEADRACE_SEED", std::to_string(number));
    const EnvironmentVariable fresh("HEADRACE_FRESH_SEEDS", "1");
    EXPECT_EQ(SeedOfTest().number(Kind::fresh), number);
    EXPECT_EQ(seeds(Kind::fresh)[0], next);
    EXPECT_EQ(seeds(Kind::fixed)[0], next);
}

TEST_F(Seeds, OfATestAreOfOneKind) {
    SeedOfTest run;
    static_cast<void>(run.next(Kind::fixed));
    EXPECT_THROW(static_cast<void>(run.next(Kind::fresh)), std::logic_error);
}

} // namespace
} // namespace headrace::test
