// tests/domains/grids/choice_test.cpp - which implementation a device gets, on made-up devices.
#include <core/fake_device.hpp>
#include <headrace/domains/grids/launch.hpp>

#include <gtest/gtest.h>

#include <string>

namespace headrace::test {
namespace {

/// It has no call operator: every implementation is given apart.
struct Which {
    Io<int> made_by;
    int unused;
};

class Choice : public ::testing::Test {
protected:
    static auto mark(int by) {
        return [by](const Which& kernel, Grid<1> grid, const NativeStream&) {
            for (std::int64_t i = grid.first; i < grid.end[0]; ++i) kernel.made_by(i) = by;
        };
    }
    /// What a device of that kind makes of three elements, the middle one alone given to it.
    int chosen(const std::string& technology, const std::string& architecture) {
        FakeDevice device({.technology = technology, .architecture = architecture});
        Controller controller(device);
        Array<int> result("result", {3});
        for (int& x : result.fill()) x = -1;
        launch(controller, kernels_, rows(grid(3), 1, 2), result, 0);
        const auto got = result.gather();
        EXPECT_EQ(got[0], -1);
        EXPECT_EQ(got[2], -1);
        return got[1];
    }

    Implementations<Which> kernels_;
};

TEST_F(Choice, TheMostSpecificImplementationWins) {
    kernels_.on("cuda", "sm_90", mark(90)).on("cuda", mark(1)).on("hip", mark(2)).on("cuda", "cpu", mark(3));
    EXPECT_EQ(chosen("cuda", "sm_90"), 90);
    EXPECT_EQ(chosen("cuda", "sm_80"), 3); // the fake device is of the kind "cpu"
    EXPECT_EQ(chosen("hip", "sm_90"), 2);  // an architecture belongs to its technology
}

TEST_F(Choice, AFamilyIsNotMistakenForAnotherThatBeginsLikeIt) {
    kernels_.on("hip", "gfx90", mark(90)).on("hip", mark(1));
    EXPECT_EQ(chosen("hip", "gfx90a"), 1);
    EXPECT_EQ(chosen("hip", "gfx90"), 90);
    EXPECT_EQ(chosen("hip", ""), 1);
}

TEST_F(Choice, WhatIsAddedLaterReplacesWhatFitsAsWell) {
    kernels_.on("cuda", mark(1)).on("cuda", "sm_90", mark(2)).on("cuda", mark(3));
    EXPECT_EQ(chosen("cuda", "sm_80"), 3);
    EXPECT_EQ(chosen("cuda", "sm_90"), 2);
}

TEST_F(Choice, ADeviceForWhichThereIsNothingIsRefusedByName) {
    kernels_.on("cuda", "sm_90", mark(90)).on("hip", mark(2));
    try {
        chosen("cuda", "sm_80");
        FAIL() << "nothing fits";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        const std::string what = error.message();
        for (const char* part : {"Which", "sm_80", "fake", "cuda sm_90, hip"})
            EXPECT_NE(what.find(part), std::string::npos) << part << " is not in: " << what;
    }
}

TEST_F(Choice, AGridOfAnotherRankOrBeyondTheIndicesIsRefused) {
    kernels_.on("fake", mark(1));
    FakeDevice device;
    Controller controller(device);
    Array<int> result("result", {3, 3});
    EXPECT_THROW(launch(controller, kernels_, grid(-1), result, 0), Error);
    EXPECT_THROW(launch(controller, kernels_, rows(grid(3), 2, 1), result, 0), Error);
    EXPECT_THROW(launch(controller, kernels_, grid(3'000'000'000, 1), result, 0), Error);
    // Which has no call operator that would say its rank, so this one is found out by the implementation.
    EXPECT_EQ(launch(controller, kernels_, grid(3, 3), result, 0).outcome()->kind(),
              ErrorKind::invalid_argument);
}

} // namespace
} // namespace headrace::test
