// tests/apps/seeds.hpp - two seeds for tests of random inputs: the same one in each run, and a fresh one.
#pragma once
#include "core/seeds.hpp"

#include <gtest/gtest.h>

#include <random>

namespace path_tracer::test {

/// Each test runs once with a fixed seed and once with a fresh one.
class Seeded : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        random.seed(GetParam() ? headrace::test::fresh_seed() : headrace::test::fixed_seed());
    }
    /// Uniform between `least` and `most`.
    double between(double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random);
    }
    int whole_between(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); }

    std::mt19937 random;
};

#define PATH_TRACER_SEEDED(suite)                                                                            \
    INSTANTIATE_TEST_SUITE_P(Seeds, suite, testing::Bool(),                                                  \
                             [](const auto& chosen) { return chosen.param ? "fresh" : "fixed"; })

} // namespace path_tracer::test
