// tests/devices/with_instructions.hpp - tests that run once for each set of vector instructions.
#pragma once
#include <headrace/devices/cpu/instructions.hpp>

#include <gtest/gtest.h>

#include <string>

namespace headrace::test {

/// Skips what this processor lacks. The others are in use during a test, and the best ones afterwards.
class WithInstructions : public testing::TestWithParam<Instructions> {
protected:
    void SetUp() override {
        if (GetParam() > best_instructions()) GTEST_SKIP() << "this processor has no " << name_of(GetParam());
        use_instructions(GetParam());
    }
    void TearDown() override { use_instructions(best_instructions()); }
};

inline std::string by_instructions(const testing::TestParamInfo<Instructions>& chosen) {
    return std::string(name_of(chosen.param));
}

} // namespace headrace::test
