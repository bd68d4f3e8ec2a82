// headrace-matrix-pow and headrace-chain-matmul, as a user runs them.
#include "end_to_end/program.hpp"
#include "matrices/npy.hpp"

#include <devices/two_private_cpus.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace headrace::end_to_end {
namespace {

struct Named {
    const char *name, *executable, *count; ///< count: the option that says how often
};

/// The programs in a folder of their own.
class InFolder {
protected:
    [[nodiscard]] Outcome run(const char* executable, std::vector<std::string> arguments) const {
        return Program(executable, std::move(arguments), scratch_.path()).wait();
    }
    [[nodiscard]] nlohmann::json report_of(const char* executable, std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"--quiet", "--report", "report.json"});
        const Outcome outcome = run(executable, std::move(arguments));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        EXPECT_EQ(outcome.output + outcome.errors, "") << "although it was to be quiet";
        return nlohmann::json::parse(std::ifstream(scratch_.path() / "report.json"));
    }
    std::string matrix(const std::string& name, const std::vector<float>& four) const {
        return scratch_.write(name, matrices::npy_of(four, {2, 2})).filename().string();
    }
    void expect_written(const std::string& name, const std::vector<double>& expected) const {
        std::vector<float> four(4);
        matrices::NpyFile(scratch_.path() / name).read({2, 2}, four);
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(four[i], expected[i], 1e-6) << i; // floats below 1
    }

    Scratch scratch_;
};

class MatrixProgram : public InFolder, public testing::TestWithParam<Named> {};
class MatrixFiles : public InFolder, public testing::Test {};
INSTANTIATE_TEST_SUITE_P(Both, MatrixProgram,
                         testing::Values(Named{"MatrixPow", HEADRACE_MATRIX_POW, "--steps"},
                                         Named{"ChainMatmul", HEADRACE_CHAIN_MATMUL, "--iterations"}),
                         [](const auto& program) { return std::string(program.param.name); });

TEST_P(MatrixProgram, ModesAndDevicesAgreeAboutTheChecksum) {
    const std::vector<std::string> work{"--size", "150", GetParam().count, "5"};
    double first = 0;
    for (const std::string devices : {"cpu", test::two_private_cpus, "opencl:pocl", "cpu,opencl:pocl"})
        for (const std::string mode : {"async", "sync"}) {
            std::vector<std::string> arguments = work;
            arguments.insert(arguments.end(), {"--devices", devices, "--mode", mode});
            const nlohmann::json report = report_of(GetParam().executable, arguments);
            EXPECT_EQ(report.at("mode"), mode);
            EXPECT_EQ(report.at("norms").size(), 5u);
            EXPECT_GT(report.at("seconds"), 0);
            const double checksum = report.at("checksum");
            if (first == 0) first = checksum;
            EXPECT_GT(checksum, 1); // normalised numbers are positive, and 22500 of them have the 2-norm 1
            EXPECT_NEAR(checksum / first, 1, 1e-4) << devices << " " << mode; // see matrix_power_test
        }
}

TEST_P(MatrixProgram, TellsMistakesInALineAndEndsWith2) {
    struct Mistake {
        std::vector<std::string> arguments;
        const char* named;
    };
    for (const auto& [arguments, named] : {Mistake{{"--size", "0"}, "--size 0"},
                                           {{"--size", "few"}, "--size few"},
                                           {{GetParam().count, "-1"}, GetParam().count},
                                           {{"--devices", "abacus"}, "abacus"},
                                           {{"--mode", "fast"}, "--mode fast"},
                                           {{"--out", "absent/out.npy"}, "absent"}}) {
        const Outcome outcome = run(GetParam().executable, arguments);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
        EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
        EXPECT_NE(outcome.errors.find(named), std::string::npos) << outcome.errors;
    }
}

// The fourth power of 1 1 | 0 1 is 1 4 | 0 1; nothing to subtract, and a norm of the root of 18.
TEST_F(MatrixFiles, ThePowersOfAMatrixOfOnesOwn) {
    const double root = std::sqrt(18.0);
    static_cast<void>(
        report_of(HEADRACE_MATRIX_POW, {"--devices", "cpu", "--matrix", matrix("a.npy", {1, 1, 0, 1}),
                                        "--steps", "3", "--out", "out.npy"}));
    expect_written("out.npy", {1 / root, 4 / root, 0, 1 / root});
}

// The second of two matrices comes last of four; ones on the diagonal twice, then 2 and 1/2.
TEST_F(MatrixFiles, AStreamOfOnesOwnThroughConstantsOfOnesOwn) {
    const std::string one = matrix("one.npy", {1, 0, 0, 1}), two = matrix("two.npy", {2, 0, 0, 2});
    const std::string half = matrix("half.npy", {0.5f, 0, 0, 0.5f});
    const std::string stream = matrix("a.npy", {5, 6, 7, 9}) + "," + matrix("b.npy", {1, 2, 3, 4});
    const nlohmann::json report = report_of(
        HEADRACE_CHAIN_MATMUL, {"--devices", "cpu", "--constants", one + "," + two + "," + half + "," + one,
                                "--matrices", stream, "--iterations", "4", "--out", "out.npy"});
    const double root = std::sqrt(0.0 + 1 + 4 + 9);
    expect_written("out.npy", {0, 1 / root, 2 / root, 3 / root});
    EXPECT_EQ(
        report.at("parts"),
        "cpu: matrices 2x2 by C1; cpu: matrices 2x2 by C2; cpu: matrices 2x2 by C3; cpu: matrices 2x2 by C4");
    EXPECT_EQ(report.at("part_seconds").size(), 4u);
    EXPECT_GE(report.at("stream_seconds"), report.at("fill_seconds"));
    EXPECT_GE(report.at("stream_seconds"), report.at("drain_seconds"));
    EXPECT_NEAR(report.at("norms").at(3), root / 4, 1e-6);
    EXPECT_NEAR(report.at("norms").at(2), std::sqrt(0.0 + 1 + 4 + 16) / 9, 1e-6);
}

TEST_F(MatrixFiles, WhatIsBeyondFloatIsToldAndEndsWith2) {
    const std::string one = matrix("one.npy", {1, 0, 0, 1}), ones = one + "," + one + "," + one + "," + one;
    matrix("nan.npy", {1, std::nanf(""), 0, 1});
    const std::string huge = matrix("huge.npy", {1e20f, 0, 0, 1}),
                      both = one + "," + huge + "," + one + "," + huge;
    struct Case {
        const char* executable;
        std::vector<std::string> arguments;
        const char* named;
    };
    for (const std::string devices : {"cpu", test::two_private_cpus, "opencl:pocl"})
        for (const auto& [executable, arguments, named] :
             {Case{HEADRACE_MATRIX_POW, {"--matrix", "nan.npy"}, "nan.npy: number 2 is nan"},
              Case{HEADRACE_MATRIX_POW, {"--matrix", "huge.npy", "--steps", "1"}, "power 2: number 1"},
              Case{
                  HEADRACE_CHAIN_MATMUL, {"--matrices", "nan.npy", "--constants", ones}, "nan.npy: number 2"},
              Case{HEADRACE_CHAIN_MATMUL, {"--constants", "one.npy,one.npy,nan.npy,one.npy"}, "nan.npy"},
              Case{HEADRACE_CHAIN_MATMUL, {"--matrices", one, "--constants", both}, "B: number 1"}}) {
            std::vector<std::string> all = arguments;
            all.insert(all.end(), {"--devices", devices, "--out", "out.npy"});
            const Outcome outcome = run(executable, all);
            EXPECT_EQ(outcome.exit_code, 2) << devices << " " << outcome.errors;
            EXPECT_NE(outcome.errors.find(named), std::string::npos) << devices << " " << outcome.errors;
            EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "out.npy"));
        }
}

// A product that floats hold, less its least number, and the factor of a product near 0, are beyond float.
TEST_F(MatrixFiles, NormalisingReachesAsFarAsFloatsDo) {
    const std::string one = matrix("one.npy", {1, 0, 0, 1}), ones = one + "," + one + "," + one + "," + one;
    const auto normalised = [&](const std::vector<float>& four, const std::vector<double>& expected) {
        static_cast<void>(report_of(HEADRACE_CHAIN_MATMUL,
                                    {"--devices", "cpu", "--constants", ones, "--matrices",
                                     matrix("a.npy", four), "--iterations", "1", "--out", "out.npy"}));
        expect_written("out.npy", expected);
    };
    const double root = std::sqrt(6.0), small = std::sqrt(5.0);
    normalised({3e38f, -3e38f, 0, 0}, {2 / root, 0, 1 / root, 1 / root});
    normalised({0x1p-133f, 0, 0, 0x1p-132f}, {1 / small, 0, 0, 2 / small});
}

TEST_F(MatrixFiles, MatricesComeFromPipes) {
    matrix("one.npy", {1, 0, 0, 1});
    matrix("a.npy", {1, 1, 0, 1});
    const auto written = [&](const std::string& executable, const std::string& options) {
        const std::string command = "cat a.npy | '" + executable + "' --devices cpu --quiet --out out.npy ";
        const Outcome outcome = Program("/bin/sh", {"-c", command + options}, scratch_.path()).wait();
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    };
    written(HEADRACE_MATRIX_POW, "--matrix /dev/stdin --steps 3");
    expect_written("out.npy", {1 / std::sqrt(18.0), 4 / std::sqrt(18.0), 0, 1 / std::sqrt(18.0)});
    const Outcome endless = run(HEADRACE_MATRIX_POW, {"--devices", "cpu", "--matrix", "/dev/zero"});
    EXPECT_EQ(endless.exit_code, 2);
    EXPECT_NE(endless.errors.find("/dev/zero: is no .npy file"), std::string::npos) << endless.errors;
    written(HEADRACE_CHAIN_MATMUL,
            "--matrices /dev/stdin --constants one.npy,one.npy,one.npy,one.npy --iterations 3");
    expect_written("out.npy", {1 / std::sqrt(3.0), 1 / std::sqrt(3.0), 0, 1 / std::sqrt(3.0)});
}

/// Memory grows with the numbers that there are, in files and in pipes.
TEST_F(MatrixFiles, AHeaderAloneTakesNoMemory) {
    std::string large = matrices::npy_of(std::vector<float>(4), {2, 2});
    large.replace(large.find("(2, 2), }          "), 19, "(32768, 32768), }  ");
    scratch_.write("large.npy", large);
    for (const char* matrix : {"large.npy", "/dev/stdin"}) {
        const std::string command = "cat large.npy | (" + within_memory(2) + "exec '" + HEADRACE_MATRIX_POW +
                                    "' --devices cpu --matrix " + matrix + ")";
        const Outcome outcome = Program("/bin/sh", {"-c", command}, scratch_.path()).wait();
        EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
        EXPECT_NE(outcome.errors.find("ends before its last number"), std::string::npos) << outcome.errors;
    }
}

TEST_F(MatrixFiles, OnesThatDoNotFitAreToldAndEndWith2) {
    matrix("small.npy", {1, 2, 3, 4});
    scratch_.write("wide.npy", matrices::npy_of(std::vector<float>(6), {2, 3}));
    std::string tall = matrices::npy_of(std::vector<float>(6), {2, 3}); // says so, and has six numbers
    tall.replace(tall.find("(2, 3), }      "), 15, "(999999, 1), } ");
    scratch_.write("tall.npy", tall);
    for (const auto& [program, option, files, named] :
         {std::array{HEADRACE_MATRIX_POW, "--matrix", "wide.npy", "2 x 3"},
          {HEADRACE_MATRIX_POW, "--matrix", "tall.npy", "999999 x 1"},
          {HEADRACE_CHAIN_MATMUL, "--constants", "tall.npy,tall.npy,tall.npy,tall.npy", "999999 x 1"},
          {HEADRACE_MATRIX_POW, "--matrix", "absent.npy", "absent.npy"},
          {HEADRACE_CHAIN_MATMUL, "--constants", "small.npy,small.npy", "four files"},
          {HEADRACE_CHAIN_MATMUL, "--matrices", "small.npy,wide.npy",
           "2 x 3"}}) { // found out when it is its turn
        const Outcome outcome = run(program, {"--devices", "cpu", option, files});
        EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
        EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
        EXPECT_NE(outcome.errors.find(named), std::string::npos) << outcome.errors;
    }
}

} // namespace
} // namespace headrace::end_to_end
