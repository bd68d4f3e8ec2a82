// headrace-coexec as a user runs it: every problem on every device, verified; its report; and what can be
// wrong with what it is given.
#include "core/eventually.hpp"
#include "core/quiet_machine.hpp"
#include "end_to_end/path_tracer.hpp" // which devices there are

#include <core/environment_variable.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>

namespace headrace::end_to_end {
namespace {

using nlohmann::json;

constexpr const char* every_problem[] = {"gaussian", "matmul", "taylor", "rap", "ray", "mandelbrot", "nbody"};

Outcome run(const Scratch& folder, const Options& options) {
    return Program(HEADRACE_COEXEC, options, folder.path()).wait();
}

json read_json(const Scratch& folder, const std::string& name) {
    std::ifstream stream(folder.path() / name);
    return json::parse(stream, nullptr, false);
}

/// The report of a run that must succeed.
json report_of(const Scratch& folder, const Options& options) {
    const Outcome outcome = run(folder, options + Options{"--quiet", "--report", "r.json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(outcome.output.empty());
    return read_json(folder, "r.json");
}

/// Problem, device list.
class CoexecProgram : public testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(std::get<1>(GetParam())); }
};

INSTANTIATE_TEST_SUITE_P(Every, CoexecProgram,
                         testing::Combine(testing::ValuesIn(every_problem),
                                          testing::Values("cpu", test::two_private_cpus, "opencl:pocl",
                                                          "opencl:nvidia", "cuda:0", "hip:0",
                                                          "cpu,opencl:pocl", "cpu,cuda:0")),
                         [](const auto& each) {
                             return std::string(std::get<0>(each.param)) + "_" +
                                    test_name(std::get<1>(each.param));
                         });

TEST(CoexecBaselines, GiveSpeedUpAndEfficiency) {
    HEADRACE_SKIP_WITHOUT("cpu,opencl:pocl");
    const Scratch folder;
    const test::EnvironmentVariable nowhere("HEADRACE_CALIBRATIONS", "");
    const json report = report_of(folder, {"--problem", "taylor", "--devices", "cpu,opencl:pocl", "--small",
                                           "--baselines", "--repeat", "3"});
    EXPECT_GT(report["job"]["heterogeneous_efficiency"].get<double>(), 0);
    EXPECT_GT(report["job"]["heterogeneous_speed_up"].get<double>(), 0);
}

TEST_P(CoexecProgram, IsRightAndTellsItsTimes) {
    const Scratch folder;
    const json report = report_of(folder, {"--problem", std::get<0>(GetParam()), "--devices",
                                           std::get<1>(GetParam()), "--small", "--verify", "--repeat", "3"});
    EXPECT_EQ(report["problem"], std::get<0>(GetParam()));
    EXPECT_EQ(report["verdict"]["wrong"], 0);
    EXPECT_GT(report["verdict"]["compared"], 1000);
    EXPECT_EQ(report["runs"], 3);
    EXPECT_GT(report["least_seconds"], 0);
    EXPECT_LE(report["least_seconds"], report["median_seconds"]);
    EXPECT_LE(report["median_seconds"], report["most_seconds"]);
    EXPECT_LE(report["job"]["seconds"], report["median_seconds"]);
    double shares = 0;
    for (const json& device : report["job"]["devices"]) shares += device["share"].get<double>();
    EXPECT_NEAR(shares, 1, 1e-9);
}

TEST(CoexecProgramOptions, EachHasItsEffect) {
    const Scratch folder;
    const auto describe = [&](const Options& options) {
        return report_of(folder, options + Options{"--devices", "cpu", "--verify"})["description"]
            .get<std::string>();
    };
    EXPECT_EQ(describe({"--problem", "gaussian", "--size", "33", "--filter", "5"}),
              "gaussian: 33 x 33 pixels, filter 5 x 5");
    EXPECT_EQ(describe({"--problem", "matmul", "--size", "5", "--columns", "6", "--inner", "7"}),
              "matmul: 5 x 7 times 7 x 6, single");
    EXPECT_EQ(describe({"--problem", "matmul", "--size", "65", "--precision", "double", "--no-blas"}),
              "matmul: 65 x 65 times 65 x 65, double");
    EXPECT_EQ(describe({"--problem", "taylor", "--size", "9", "--terms", "3"}), "taylor: 9 angles, 3 terms");
    EXPECT_EQ(describe({"--problem", "rap", "--size", "9", "--small"}), "rap: 9 amounts");
    EXPECT_EQ(describe({"--problem", "ray", "--size", "9", "--spheres", "3", "--bounces", "0"}),
              "ray: 9 x 9 pixels, 3 spheres, at most 0 bounces");
    EXPECT_EQ(describe({"--problem", "mandelbrot", "--size", "9", "--iterations", "4"}),
              "mandelbrot: 9 x 9 pixels, at most 4 steps");
    EXPECT_EQ(describe({"--problem", "nbody", "--size", "9"}), "nbody: 9 bodies");
}

TEST(CoexecProgramOptions, MemoryDecidesWhatMoves) {
    const Scratch folder;
    for (const char* const memory : {"natural", "unified", "buffers"}) {
        const json report = report_of(folder, {"--problem", "rap", "--size", "5000", "--devices", "cpu",
                                               "--memory", memory, "--verify"});
        EXPECT_EQ(report["memory"], memory);
        const json& cpu = report["job"]["devices"][0];
        EXPECT_EQ(cpu["bytes_in"], std::string(memory) == "buffers" ? 2 * 5000 * 4 : 0);
    }
}

TEST(CoexecProgramOptions, SomeValuesAreVerifiedIfAsked) {
    const Scratch folder;
    const json report = report_of(folder, {"--problem", "rap", "--size", "1000", "--devices", "cpu",
                                           "--verify", "--check-every", "10"});
    EXPECT_EQ(report["verdict"]["compared"], 100);
    EXPECT_FALSE(
        report_of(folder, {"--problem", "rap", "--size", "10", "--devices", "cpu"}).contains("verdict"));
}

TEST(CoexecProgramOutput, WithoutWarningsIfItIsToBeQuiet) {
    const Scratch folder;
    const test::EnvironmentVariable no_file("HEADRACE_CALIBRATIONS", folder.path());
    const Options options{"--problem", "mandelbrot", "--small", "--devices", "cpu", "--repeat", "3"};
    EXPECT_NE(run(folder, options).errors.find("calibrations"), std::string::npos);
    const Outcome quiet = run(folder, options + Options{"--quiet"});
    EXPECT_EQ(quiet.exit_code, 0);
    EXPECT_EQ(quiet.output + quiet.errors, "");
}

TEST(CoexecProgramOutput, IsATableAndOnRequestATrace) {
    const Scratch folder;
    const Options options{"--problem", "mandelbrot", "--small",  "--devices",
                          "cpu",       "--verify",   "--repeat", "2"};
    const Outcome outcome = run(folder, options + Options{"--trace", "t.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    for (const char* const words :
         {"mandelbrot: 256 x 256 pixels", "median of 2 runs", "65536 values compared, 0 wrong", "cpu"})
        EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
    EXPECT_FALSE(read_json(folder, "t.json").is_discarded());
    const Outcome piped = run(folder, options + Options{"--report", "-"});
    ASSERT_EQ(piped.exit_code, 0) << piped.errors;
    EXPECT_FALSE(json::parse(piped.output, nullptr, false).is_discarded()) << piped.output;
    EXPECT_NE(piped.errors.find("median of 2 runs"), std::string::npos);
}

TEST(CoexecProgramOptions, VerifyingEndsWhenTheUserWantsIt) {
    test::on_a_quiet_machine([&] {
        const Scratch folder;
        Program program(
            HEADRACE_COEXEC,
            {"--problem", "matmul", "--size", "3000", "--devices", "cpu", "--verify", "--progress"},
            folder.path());
        const auto has_ended = [&] { return !program.is_running(); };
        EXPECT_TRUE(test::eventually(
            [&] { return program.errors_so_far().find("100.0 %") != std::string::npos || has_ended(); }));
        // It computes on: that is the serial version, which takes seconds.
        const Seconds before = program.processor_time();
        EXPECT_TRUE(test::eventually(
            [&] { return program.processor_time() - before > Seconds{0.2} || has_ended(); }));
        program.interrupt(SIGINT);
        const Outcome outcome = program.wait(Seconds{20});
        EXPECT_EQ(outcome.exit_code, 128 + SIGINT) << outcome.errors;
        EXPECT_NE(outcome.errors.find("interrupted while results were compared"), std::string::npos)
            << outcome.errors;
        EXPECT_LT(outcome.seconds.count(), 1);
    });
}

TEST(CoexecProgramMistakes, AreToldInALine) {
    const Scratch folder;
    const std::pair<Options, const char*> mistakes[] = {
        {{}, "--problem"},
        {{"--problem", "sudoku"}, "gaussian"},
        {{"--problem", "matmul", "--size", "65536"}, "65535"},
        {{"--problem", "rap", "--size", "-1"}, "--size"},
        {{"--problem", "gaussian", "--filter", "4"}, "odd"},
        {{"--problem", "taylor", "--terms", "0"}, "--terms"},
        {{"--problem", "rap", "--repeat", "many"}, "--repeat"},
        {{"--problem", "rap", "--memory", "none"}, "--memory"},
        {{"--problem", "rap", "--policy", "no such"}, "no such"},
        {{"--problem", "rap", "--devices", "abacus:0"}, "abacus:0"},
        {{"--problem", "rap", "--devices", "cpu", "--power", "cuda:7=2"}, "'cuda:7'"},
        {{"--problem", "rap", "--model", "tarot"}, "tarot"},
        {{"--problem", "rap", "--precision", "half"}, "--precision"},
        {{"--problem", "rap", "--check-every", "0"}, "--check-every"},
        {{"--problem", "rap", "--report", "no/such/folder/r.json"}, "no/such/folder"},
        {{"--problems", "rap"}, "--problems"},
    };
    for (const auto& [options, words] : mistakes) {
        const Outcome outcome = run(folder, options);
        EXPECT_EQ(outcome.exit_code, 2) << words << ": " << outcome.errors;
        EXPECT_NE(outcome.errors.find(words), std::string::npos) << outcome.errors;
        EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
        EXPECT_TRUE(outcome.output.empty());
    }
    EXPECT_TRUE(folder.list().empty());
}

TEST(CoexecProgramMistakes, HelpNamesEveryOption) {
    const Scratch folder;
    const Outcome outcome = run(folder, {"--help"});
    EXPECT_EQ(outcome.exit_code, 0);
    for (const char* const option :
         {"--problem", "--size", "--small", "--verify", "--policy", "--memory", "--repeat", "--devices",
          "--report", "--trace", "--seed", "--quiet", "--check-every"})
        EXPECT_NE(outcome.output.find(option), std::string::npos) << option;
}

} // namespace
} // namespace headrace::end_to_end
