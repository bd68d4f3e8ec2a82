// What holds of every program: no output is an input, what cannot be printed is a failure, and signals, cores
// and stacks are as they come.
#include "end_to_end/path_tracer.hpp" // which devices there are
#include "end_to_end/program.hpp"

#include <core/environment_variable.hpp>
#include <core/eventually.hpp>
#include <core/quiet_machine.hpp>
#include <core/waiting_call.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace headrace::end_to_end {
namespace {

namespace fs = std::filesystem;

class EveryProgram : public testing::Test {
protected:
    /// `command` names programs without their folder, as "$bin/headrace-sobel".
    [[nodiscard]] Outcome shell(const std::string& command) const {
        return Program("/bin/sh", {"-c", "bin='" HEADRACE_PROGRAMS "'; " + command}, folder_.path()).wait();
    }
    [[nodiscard]] std::string content(const fs::path& file) const {
        std::ifstream stream(folder_.path() / file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    /// Exit code 2, one line with `words`, and `file` as it was.
    void expect_kept(const std::string& file, const std::string& command, const std::string& words) const {
        SCOPED_TRACE(command);
        const std::string before = content(file);
        ASSERT_FALSE(before.empty());
        const Outcome outcome = shell(command);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
        EXPECT_NE(outcome.errors.find(words), std::string::npos) << outcome.errors;
        EXPECT_EQ(content(file), before);
    }

    Scratch folder_;
};

constexpr const char* short_runs[] = {
    "barnes-hut --plummer 100",
    "matrix-pow --size 32 --steps 2",
    "chain-matmul --size 32 --iterations 2",
    "hotspot --size 32 --iterations 4",
    "mandelbrot --width 32 --height 32 --frames 2",
    "sobel --input memory:2 --output memory:2 --width 32 --height 32",
    "optical-flow --input memory:3 --width 64 --height 64",
    "coexec --problem matmul --size 64",
    "path-tracer --scene s.obj --width 16 --height 16 --spp 1 --out o.pfm",
};
constexpr const char* triangle = "mtllib s.mtl\nusemtl a\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nf 1 2 3\n";

TEST_F(EveryProgram, WritesToNoFileThatItReads) {
    folder_.write("in.csv", "0,0,0,0,0,0,1\n1,0,0,0,0,0,1\n");
    folder_.write("devices.toml", "[[node]]\n[[node.device]]\nkind = \"cpu\"\n");
    folder_.write("s.obj", triangle);
    folder_.write("s.mtl", "newmtl a\nKd 0.5 0.5 0.5\n");
    std::string film = "YUV4MPEG2 W16 H16 C420\n";
    for (int i = 0; i < 2; ++i) film += "FRAME\n" + std::string(16 * 16 * 3 / 2, 'x');
    folder_.write("s.y4m", film);
    fs::create_symlink("in.csv", folder_.path() / "link.csv");
    fs::create_hard_link(folder_.path() / "in.csv", folder_.path() / "hard.csv");

    const std::string bodies = "$bin/headrace-barnes-hut --input in.csv --devices cpu ",
                      picture =
                          "$bin/headrace-path-tracer --scene s.obj --out o.pfm --width 8 --height 8 --spp 1 ";
    for (const char* name : {"in.csv", "link.csv", "hard.csv", "./in.csv"}) {
        expect_kept("in.csv", bodies + "--output " + name, "would be written, and is the input");
        expect_kept("in.csv", bodies + "--report " + name, "would be written, and is the input");
    }
    expect_kept("in.csv", bodies + "--report - >> in.csv", "standard output");
    expect_kept("devices.toml",
                "$bin/headrace-barnes-hut --plummer 10 --devices @devices.toml --report devices.toml",
                "is the input");
    expect_kept("s.obj", picture + "--devices cpu --report s.obj", "is the input");
    expect_kept("s.mtl", picture + "--devices cpu --report s.mtl", "--report would be written to it");
    expect_kept("s.mtl", picture + "--devices cpu --trace s.mtl", "--trace would be written to it");
    expect_kept("s.y4m", "$bin/headrace-sobel --devices cpu --input s.y4m --output s.y4m",
                "--output would be");
    expect_kept("s.y4m", "$bin/headrace-sobel --devices cpu --input - --output s.y4m < s.y4m",
                "standard input: is read");
    expect_kept("s.y4m", "$bin/headrace-sobel --devices cpu --input s.y4m --output - 1<> s.y4m",
                "standard output");
    EXPECT_EQ(shell(bodies + "--output other.csv --quiet").exit_code, 0);
}

TEST_F(EveryProgram, WritesNoTwoOutputsToOneFile) {
    const std::string run = "$bin/headrace-barnes-hut --plummer 10 --steps 2 --devices cpu ";
    const Outcome twice = shell(run + "--output a.csv --output-every 1 --accelerations a.000001.csv");
    EXPECT_EQ(twice.exit_code, 2);
    EXPECT_NE(twice.errors.find("may be overwritten by --output-every"), std::string::npos) << twice.errors;
    EXPECT_EQ(shell(run + "--report r.json > r.json").exit_code, 2);
    EXPECT_EQ(shell(run + "--report r.json > t.txt 2>&1").exit_code, 0);
}

TEST_F(EveryProgram, FailsIfItsWordsCannotBePrinted) {
    folder_.write("s.obj", triangle);
    for (const char* run : short_runs) {
        SCOPED_TRACE(run);
        const Outcome outcome = shell(std::string("$bin/headrace-") + run + " --devices cpu > /dev/full");
        EXPECT_EQ(outcome.exit_code, 1) << outcome.errors;
        EXPECT_NE(outcome.errors.find("standard output"), std::string::npos) << outcome.errors;
    }
    for (const char* run : {"fluorescence --help", "path-tracer --version", "barnes-hut --help"})
        EXPECT_EQ(shell(std::string("$bin/headrace-") + run + " > /dev/full").exit_code, 1) << run;
}

TEST_F(EveryProgram, RunsOnOneCoreAndInSmallStacksWithoutAWord) {
    folder_.write("s.obj", "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nf 1 2 3\n");
    for (const char* run : short_runs)
        for (const char* how : {"taskset -c 0", "ulimit -s 256;"}) {
            SCOPED_TRACE(std::string(how) + " " + run);
            const Outcome outcome =
                shell(std::string(how) + " $bin/headrace-" + run + " --devices cpu --quiet");
            EXPECT_EQ(outcome.exit_code, 0);
            EXPECT_EQ(outcome.errors + outcome.output, "");
        }
}

TEST_F(EveryProgram, EndsAtASignalWhileNobodyReadsItsPipe) {
    ASSERT_EQ(::mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
    test::on_a_quiet_machine([this] {
        Program program(HEADRACE_PROGRAMS "/headrace-barnes-hut",
                        {"--plummer", "50", "--devices", "cpu", "--quiet", "--report", "pipe"},
                        folder_.path());
        const auto has_ended = [&] { return !program.is_running(); };
        EXPECT_TRUE(test::eventually([&] { return program.handles(SIGTERM) || has_ended(); }));
        // The job of 50 bodies has ended, and it waits for a reader.
        EXPECT_TRUE(test::comes_to_wait([&] { return program.is_asleep(); }, has_ended));
        program.interrupt(SIGTERM);
        const Outcome outcome = program.wait();
        ASSERT_EQ(outcome.exit_code, 128 + SIGTERM) << outcome.errors;
        EXPECT_LT(outcome.seconds.count(), 2);
    });
}

TEST_F(EveryProgram, MayCompileForLongerThanTheWatchdogWaits) {
    HEADRACE_SKIP_WITHOUT("opencl:pocl");
    const test::EnvironmentVariable cache("XDG_CACHE_HOME", (folder_.path() / "cache").c_str());
    const test::EnvironmentVariable pocl("POCL_CACHE_DIR", (folder_.path() / "cache" / "pocl").c_str());
    fs::create_directory(folder_.path() / "cache");
    const Outcome outcome =
        shell("$bin/headrace-coexec --problem taylor --size 64 --devices opencl:pocl --quiet --watchdog 0.2");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(fs::status(folder_.path() / "cache" / "headrace").permissions(), fs::perms::owner_all);
}

} // namespace
} // namespace headrace::end_to_end
