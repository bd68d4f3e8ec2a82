// tests/domains/grids/special_test.cpp - implementations beside the generic source, on every technology.
#include "special.kernels.hpp"

#include <core/environment_variable.hpp>
#include <devices/devices_fixture.hpp>
#include <headrace/domains/grids/launch.hpp>
#include <headrace/domains/grids/opencl/opencl_grid.hpp>

namespace headrace::test {
namespace {

class Special : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Every, Special, every_device(), test_name);
INSTANTIATE_TEST_SUITE_P(OnCopies, Special, ::testing::Values(two_private_cpus), test_name);

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

/// With as many threads of PoCL as launches, of which each may have one. (Another test of the process may
/// have begun it before, with others.)
class SpecialOnManyThreads : public Special {
    const EnvironmentVariable threads_{"POCL_MAX_PTHREAD_COUNT", "6"};
};
INSTANTIATE_TEST_SUITE_P(Every, SpecialOnManyThreads, ::testing::Values("opencl:pocl"), test_name);

/// Four of a kernel's launches are of a whole grid and one is of a part, which ends last: see
/// devices/opencl/stream_number.hpp.
TEST_P(SpecialOnManyThreads, PartsRunBesideWholeGrids) {
    const OpenClGridKernel kernel("slow", "here", R"(
        __kernel void slow(__global uint* out, uint turns, long size) {
            uint x = get_global_id(0);
            for (uint turn = 0; turn < turns; ++turn) x = x * 1664525u + (x >> 13);
            if (get_global_id(0) < size) out[get_global_id(0)] = x;
        })");
    const auto run = [&](Stream& stream, Memory& out, std::int64_t first, std::uint32_t turns,
                         std::span<const Event> after) {
        AnyGrid grid(headrace::grid(256));
        grid.first = first;
        const auto body = [&out, &kernel, grid, turns](const NativeStream& native) {
            const void* const buffer = out.handle();
            kernel.enqueue(grid, {std::as_bytes(std::span(&buffer, 1)), std::as_bytes(std::span(&turns, 1))},
                           native);
        };
        return stream.launch(body, after);
    };
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<std::unique_ptr<Memory>> outs;
    for (std::size_t i = 0; i < 5; ++i) {
        streams.push_back(device().make_stream());
        outs.push_back(device().allocate(1024));
        run(*streams[i], *outs[i], 0, 1, {}).wait(); // it is compiled
    }
    Promise gate; // at which all begin
    const std::array begin{gate.event()};
    std::vector<Event> all;
    for (std::size_t i = 0; i < 4; ++i) all.push_back(run(*streams[i], *outs[i], 0, 200'000, begin));
    all.push_back(run(*streams[4], *outs[4], 128, 400'000, begin));
    gate.complete();
    Event::all(all).wait();
}

} // namespace
} // namespace headrace::test
