// tests/domains/grids/special_test.cpp - implementations beside the generic source, on every technology.
#include "special.kernels.hpp"

#include <devices/devices_fixture.hpp>
#include <headrace/domains/grids/launch.hpp>
#include <headrace/domains/grids/opencl/opencl_grid.hpp>

namespace headrace::test {
namespace {

class Special : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Every, Special, every_device(), test_name);

TEST_P(Special, AKernelMayBeGivenForEachTechnologyApart) {
    Controller controller(device());
    const int height = 67, width = 45;
    Array<float> in("in", {height, width}), out("out", {width, height});
    float next = 0;
    for (float& x : in.fill()) x = next++;
    launch<Transpose>(controller, grid(height, width), in, out);
    const auto got = out.gather();
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) ASSERT_EQ(got[x * height + y], static_cast<float>(y * width + x));
}

TEST_P(Special, OneTechnologysOwnGoesBeforeTheGenericSource) {
    Controller controller(device());
    Array<int> out("out", {1000});
    launch<Who>(controller, grid(1000), out);
    const int expected = device().info().technology == "cpu" ? 2 : 1;
    for (const int x : out.gather()) ASSERT_EQ(x, expected);
}

TEST_P(Special, AProgramMayAddItsOwnWhenItRuns) {
    Controller controller(device());
    if (device().info().technology != "cpu") GTEST_SKIP() << "the function below writes to host memory";
    Array<int> out("out", {3});
    auto mine = implementations<Who>();
    mine.on("cpu", "cpu", [](const Who& k, Grid<1>, const NativeStream& stream) {
        EXPECT_EQ(stream.technology, "cpu");
        for (int i = 0; i < 3; ++i) k.out(i) = 3;
    });
    launch(controller, mine, grid(3), out);
    EXPECT_EQ(out.gather()[2], 3);
    launch<Who>(controller, grid(3), out);
    EXPECT_EQ(out.gather()[2], 2); // it was a copy
}

// What is wrong with a kernel in OpenCL C is told by its name, and with the compiler's words.
TEST_P(Special, MistakesInOpenClCAreToldWithTheKernelsName) {
    if (device().info().technology != "opencl") GTEST_SKIP() << "no OpenCL C here";
    Controller controller(device());
    const auto failure = [&](const char* source) {
        Implementations<Who> mine;
        mine.add({"opencl"}, [kernel = OpenClGridKernel("Who", "mine.cl", source)](
                                 const Who& who, const AnyGrid& grid, MembersOf<Who> members,
                                 const NativeStream& stream) { kernel.enqueue(grid, members(who), stream); });
        Array<int> out("out", {3});
        const ErrorPtr error = launch(controller, mine, grid(3), out).outcome();
        return error ? std::string(error->what()) : "no error";
    };
    EXPECT_NE(failure("__kernel void Who(__global int* out, long size) { nonsense; }").find("nonsense"),
              std::string::npos);
    EXPECT_NE(failure("__kernel void Who(__global int* out) {}").find("\"Who\" has 1 parameters"),
              std::string::npos);
    EXPECT_NE(failure("__kernel void Who(__global int* out, int size) {}").find("does not take argument 1"),
              std::string::npos);
    EXPECT_NE(failure("__kernel void Whose(__global int* out, long size) {}").find("no kernel \"Who\""),
              std::string::npos);
    EXPECT_EQ(failure("__kernel void Who(__global int* out, long size) {}"), "no error");
}

} // namespace
} // namespace headrace::test
