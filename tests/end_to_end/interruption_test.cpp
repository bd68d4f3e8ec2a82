// Ctrl-C in the middle of a rendering of hours: it ends within a second, leaves no process and no image.
#include "core/environment_variable.hpp"
#include "core/eventually.hpp"
#include "core/quiet_machine.hpp"
#include "end_to_end/path_tracer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <tuple>

namespace headrace::end_to_end {
namespace {

/// Before a process with AddressSanitizer ends, it looks for leaks: that is no time of the program's, and
/// other tests let it look.
std::string without_leak_check() {
    const char* before = std::getenv("ASAN_OPTIONS");
    return std::string(before ? before : "") + ":detect_leaks=0";
}

/// It hears signals, and has computed since; or somebody else computes for it, and has had the time.
void wait_until_at_work(Program& program, int signal) {
    const auto poll = [&](const auto& is_so) {
        EXPECT_TRUE(test::eventually([&] { return !program.is_running() || is_so(); }, test::hang_limit));
    };
    poll([&] { return program.handles(signal); });
    const Seconds before = program.processor_time();
    const auto since = std::chrono::steady_clock::now();
    poll([&] {
        const Seconds passed = std::chrono::steady_clock::now() - since;
        return passed > Seconds{program.processor_time() - before > Seconds{0.5} ? 0.5 : 5};
    });
}

/// A program that is at work ends within a second; returns what it said.
std::string interrupt(Program& program, int signal) {
    wait_until_at_work(program, signal);
    EXPECT_TRUE(program.is_running());
    program.interrupt(signal);
    const Outcome outcome = program.wait(Seconds{20});
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_LT(outcome.seconds.count(), 1.0);
    EXPECT_FALSE(outcome.left_processes);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_TRUE(outcome.signal == 0 || outcome.signal == signal) << "killed by signal " << outcome.signal;
    return outcome.errors;
}

/// Devices, kernel.
class Interruption : public testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(std::get<0>(GetParam())); }

    static void expect_end_within_a_second(int signal) {
        test::on_a_quiet_machine([&] {
            const Scratch folder;
            static_cast<void>(expect_end_of(folder, furnished_room(folder), signal));
        });
    }

    /// Of hours of rendering; returns what it said.
    static std::string expect_end_of(const Scratch& folder, const Options& scene, int signal) {
        const auto [devices, kernel] = GetParam();
        const Options hours =
            scene + Options{"--devices", devices, "--kernel", kernel,  "--width", "1920",     "--height",
                            "1080",      "--spp", "100000",   "--out", "out.png", "--report", "report.json"};
        const std::vector<std::string> before = folder.list();
        Program program = start_path_tracer(folder, hours);
        const std::string errors = interrupt(program, signal);
        EXPECT_EQ(folder.list(), before) << "something was left behind";
        return errors;
    }

private:
    const test::EnvironmentVariable sanitizer_{"ASAN_OPTIONS", without_leak_check()};
};

TEST_P(Interruption, CtrlCEndsItWithinASecond) { expect_end_within_a_second(SIGINT); }

/// What a signal does once it has arrived is the same for both, so one device will do for this one.
using Termination = Interruption;
TEST_P(Termination, EndsItWithinASecond) { expect_end_within_a_second(SIGTERM); }
INSTANTIATE_TEST_SUITE_P(Devices, Termination, testing::Values(std::tuple{"cpu", "producer"}),
                         [](const auto&) { return "cpu_producer"; });

/// Each path of this room takes minutes on its own, and a kernel ends where a path does.
class Unanswered : public Interruption {
protected:
    static void expect_to_be_left_behind(const Options& more) {
        test::on_a_quiet_machine([&] {
            const Scratch folder;
            const Options scene =
                glowing_room(folder, 1) + Options{"--max-depth", "1048576", "--shadow-rays", "64"} + more;
            const std::string errors = expect_end_of(folder, scene, SIGINT);
            EXPECT_NE(errors.find("did not answer in time"), std::string::npos);
        });
    }
};
TEST_P(Unanswered, KernelsAreLeftBehind) { expect_to_be_left_behind({}); }
TEST_P(Unanswered, BaselinesAreLeftBehind) { expect_to_be_left_behind({"--baselines"}); }
INSTANTIATE_TEST_SUITE_P(Devices, Unanswered, testing::Values(std::tuple{"cpu", "consumer"}),
                         [](const auto&) { return "cpu_consumer"; });

INSTANTIATE_TEST_SUITE_P(Devices, Interruption,
                         testing::Combine(testing::Values("cpu", "opencl:pocl", "opencl:nvidia", "cuda:0",
                                                          "hip:0", "cpu,opencl:pocl", "cpu,cuda:0"),
                                          testing::Values("consumer", "producer")),
                         [](const auto& chosen) {
                             return test_name(std::get<0>(chosen.param)) + "_" + std::get<1>(chosen.param);
                         });

#if defined(HEADRACE_BARNES_HUT)
/// Each job is over before anybody has waited for it.
TEST(InterruptionOfShortJobs, EndsTheProgramWithinASecond) {
    const test::EnvironmentVariable sanitizer("ASAN_OPTIONS", without_leak_check());
    test::on_a_quiet_machine([&] {
        const Scratch folder;
        Program program(HEADRACE_BARNES_HUT,
                        {"--plummer", "100", "--steps", "1000000", "--devices", "cpu", "--quiet"},
                        folder.path());
        static_cast<void>(interrupt(program, SIGINT));
    });
}
#endif

} // namespace
} // namespace headrace::end_to_end
