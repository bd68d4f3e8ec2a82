// A device that does not answer: with --watchdog the program says who waits for what, and leaves.
#include "end_to_end/path_tracer.hpp"

#include <gtest/gtest.h>

namespace headrace::end_to_end {
namespace {

class Hang : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(GetParam()); }
};

/// Each path of this room takes minutes on its own, and a launch ends no sooner than a path does.
TEST_P(Hang, IsReportedAndEndsTheProgram) {
    const Scratch folder;
    const Options scene = glowing_room(folder, 1) + Options{"--max-depth", "1048576", "--shadow-rays", "64"};
    const std::vector<std::string> before = folder.list();
    const Outcome outcome = run_path_tracer(
        folder, scene + Options{"--kernel", "consumer", "--devices", GetParam(), "--watchdog", "5"});
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_FALSE(outcome.left_processes);
    EXPECT_EQ(folder.list(), before) << "something was left behind";
    for (const char* words : {"job 'path tracing', 0 of ", " has given no sign of life for ",
                              "headrace-path-tracer: what hangs cannot be stopped"})
        EXPECT_NE(outcome.errors.find(words), std::string::npos) << outcome.errors;
}

INSTANTIATE_TEST_SUITE_P(Devices, Hang, testing::Values("cpu", "opencl:pocl", "cuda:0"),
                         [](const auto& chosen) { return test_name(chosen.param); });

} // namespace
} // namespace headrace::end_to_end
