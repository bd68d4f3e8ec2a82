// tests/apps/seeds.hpp - a fresh seed for each test of random inputs.
#pragma once
#include "core/seeds.hpp"

#include <gtest/gtest.h>

#include <random>

namespace path_tracer::test {

/// Each test draws its numbers from a fresh seed, and says which.
class Seeded : public testing::Test {
protected:
    void SetUp() override { random.seed(headrace::test::fresh_seed()); }
    /// Uniform between `least` and `most`.
    double between(double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random);
    }
    int whole_between(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); }

    std::mt19937 random;
};

} // namespace path_tracer::test
