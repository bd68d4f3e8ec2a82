// The programs as several ranks of MPI on this machine: what they write, what they refuse, how they end.
#include "end_to_end/path_tracer.hpp"
#include "end_to_end/ranks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::end_to_end {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// With so many ranks.
class Ranks : public Cluster, public testing::WithParamInterface<int> {
protected:
    [[nodiscard]] Outcome run(const std::string& program, const Options& options) const {
        return Cluster::run(GetParam(), program, options);
    }
};
INSTANTIATE_TEST_SUITE_P(Of, Ranks, testing::Values(2, 4), testing::PrintToStringParamName());

const char* const sample = "1.0\n1\ns.mco A\n3000\n0.01 0.01\n40 50 30\n3\n1.0\n1.37 1 100 .9 .1\n"
                           "1.37 1 10 0 .1\n1.37 2 10 .7 .2\n1.0\n";

/// MCML's results have a line that says how long the run took.
std::string without_time(std::string text) {
    const auto begin = text.find("# User time:");
    if (begin != std::string::npos) text.erase(begin, text.find('\n', begin) - begin);
    return text;
}

/// Returns how many files there are.
std::size_t expect_same_files(const fs::path& expected, const fs::path& found) {
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(expected)) {
        const fs::path name = entry.path().filename();
        EXPECT_TRUE(without_time(content(expected / name)) == without_time(content(found / name))) << name;
        ++files;
    }
    EXPECT_EQ(files, static_cast<std::size_t>(std::distance(fs::directory_iterator(found), {})));
    return files;
}

struct Run {
    int ranks;
    const char* grid;
    int delay; ///< of each message, ms
};
class Grids : public Cluster, public testing::WithParamInterface<Run> {
protected:
    /// A command that makes messages late.
    [[nodiscard]] static std::string delayed() {
#ifdef HEADRACE_SLOW_MPI
        return "env ASAN_OPTIONS=verify_asan_link_order=0 HEADRACE_TEST_MESSAGE_DELAY=" +
               std::to_string(GetParam().delay) + " LD_PRELOAD=" + quoted(HEADRACE_SLOW_MPI) + " ";
#else
        return "";
#endif
    }
};
INSTANTIATE_TEST_SUITE_P(Of, Grids,
                         testing::Values(Run{2, "rz", 0}, Run{4, "rz", 0}, Run{2, "xyz", 0}, Run{4, "xyz", 0},
                                         Run{3, "rz", 1}, Run{7, "xyz", 10}),
                         [](const auto& each) {
                             const Run& run = each.param;
                             return std::to_string(run.ranks) + "_" + run.grid + "_" +
                                    std::to_string(run.delay) + "ms";
                         });

TEST_P(Grids, FluorescenceWritesTheSameFiles) {
    const auto& [number, grid, delay] = GetParam();
    folder_.write("sample.mci", sample);
    Options options{"--input", "../sample.mci", "--devices", "cpu", "--grid", grid, "--grids", "g"};
    if (grid == std::string("rz")) options = options + Options{"--mco", "."};
    const fs::path alone = folder_.path() / "alone", ranks = folder_.path() / "ranks";
    fs::create_directory(alone);
    fs::create_directory(ranks);
    const Outcome expected = shell(alone, command_line(0, "fluorescence", options));
    ASSERT_EQ(expected.exit_code, 0) << expected.errors;
    const std::string before = delay > 0 ? delayed() : "";
    const Outcome outcome = shell(ranks, command_line(number, "fluorescence", options, before));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(count(outcome.output, "3000 packets"), 1u) << outcome.output;
    EXPECT_GE(expect_same_files(alone, ranks), 6u);
}

TEST_P(Ranks, ExamplesFindTheKnownAnswers) {
    const std::array<std::array<const char*, 3>, 5> examples{
        {{"n-queens", "8", "8 queens: 92 solutions\n"},
         {"tree-search", "1000", "25444 nodes, depth 36\n"},
         {"quadrature", "500", "integral: 3136.8307621"},
         {"shortest-paths", "40", "the farthest field is at a distance of 263\n"},
         {"breadth-first", "100000", "209 of 100000 vertices cannot be reached\n"}}};
    for (const auto& [program, size, answer] : examples) {
        const Outcome outcome = run(program, {size, "--devices", "cpu"});
        EXPECT_EQ(outcome.exit_code, 0) << program << ": " << outcome.errors;
        EXPECT_TRUE(outcome.output.starts_with(answer)) << outcome.output;
        EXPECT_EQ(count(outcome.output, answer), 1u) << outcome.output;
    }
}

// Each rank adds up samples in the order in which its devices computed them: the last bits differ.
TEST_P(Ranks, PathTracerMakesTheSamePicture) {
    const Options options =
        matt_room(folder_) +
        Options{"--devices", "cpu", "--width", "32", "--height", "24", "--spp", "16", "--quiet"};
    const Outcome expected = Cluster::run(0, "path-tracer", options + Options{"--out", "alone.pfm"});
    ASSERT_EQ(expected.exit_code, 0) << expected.errors;
    const Outcome outcome = run("path-tracer", options + Options{"--out", "ranks.pfm"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_LT(
        largest_difference(read_pfm(folder_.path() / "alone.pfm"), read_pfm(folder_.path() / "ranks.pfm")),
        1e-5);
}

/// Of the seven columns of bodies.
std::vector<double> numbers_of(const std::string& bodies) {
    std::istringstream lines(bodies);
    std::string line;
    std::getline(lines, line); // names
    std::vector<double> numbers;
    while (std::getline(lines, line)) {
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, ',');) numbers.push_back(std::stod(field));
    }
    return numbers;
}

// Even without ranks, the order in which threads add forces decides the last bits.
TEST_P(Ranks, BarnesHutMovesBodiesToTheSamePlaces) {
    const Options options{"--plummer", "1000", "--steps", "3", "--devices", "cpu", "--quiet"};
    const Outcome expected = Cluster::run(0, "barnes-hut", options + Options{"--output", "alone.csv"});
    ASSERT_EQ(expected.exit_code, 0) << expected.errors;
    const Outcome outcome = run("barnes-hut", options + Options{"--output", "ranks.csv"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    const std::vector<double> a = numbers_of(content(folder_.path() / "alone.csv")),
                              b = numbers_of(content(folder_.path() / "ranks.csv"));
    ASSERT_EQ(a.size(), 7000u);
    ASSERT_EQ(b.size(), 7000u);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6 * std::max(1.0, std::abs(a[i])));
}

// Only rank 0 has it.
TEST_P(Ranks, BarnesHutReadsStandardInputOnce) {
    std::string bodies;
    for (int i = 0; i < 300; ++i)
        bodies += std::to_string(i % 7) + "," + std::to_string(i % 11) + "," + std::to_string(i) + ",1\n";
    folder_.write("bodies.csv", bodies);
    const Options options{"--devices", "cpu", "--quiet", "--steps", "1", "--softening", "0.1", "--input"};
    const Outcome expected =
        Cluster::run(0, "barnes-hut", options + Options{"bodies.csv", "--output", "alone.csv"});
    ASSERT_EQ(expected.exit_code, 0) << expected.errors;
    const std::string reader =
        command_line(GetParam(), "barnes-hut", options + Options{"/dev/stdin", "--output", "ranks.csv"});
    const Outcome outcome = shell(folder_.path(), "cat bodies.csv | " + reader);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(content(folder_.path() / "alone.csv") == content(folder_.path() / "ranks.csv"));
}

TEST_P(Ranks, CoexecFindsTheRightProduct) {
    const Outcome outcome =
        run("coexec", {"--problem", "matmul", "--size", "64", "--verify", "--devices", "cpu"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
}

/// Small pictures, and little work for each.
const Options flow{"--devices", "cpu", "--quiet", "--iterations", "5", "--warps", "1"};

TEST_P(Ranks, OpticalFlowWritesTheSameFiles) {
    const Options generated = flow + Options{"--width", "64", "--height", "48", "--input", "memory:23"};
    const Outcome first = Cluster::run(
        0, "optical-flow", generated + Options{"--output", "film.y4m", "--output-dir", "pictures"});
    ASSERT_EQ(first.exit_code, 0) << first.errors;
    for (const Options& options :
         {generated, flow + Options{"--input", "film.y4m"},
          flow + Options{"--input", "pictures/flow_%05d.png"},
          flow + Options{"--input", "film.y4m", "--frames", "6"}, generated + Options{"--frames", "2"}}) {
        for (const char* folder : {"alone", "ranks"}) fs::remove_all(folder_.path() / folder);
        const Outcome expected = Cluster::run(
            0, "optical-flow",
            options + Options{"--output", "alone.y4m", "--output-dir", "alone", "--report", "alone.json"});
        ASSERT_EQ(expected.exit_code, 0) << expected.errors;
        const Outcome outcome = run("optical-flow", options + Options{"--output", "ranks.y4m", "--output-dir",
                                                                      "ranks", "--report", "ranks.json"});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
        expect_same_files(folder_.path() / "alone", folder_.path() / "ranks");
        EXPECT_TRUE(content(folder_.path() / "alone.y4m") == content(folder_.path() / "ranks.y4m"));
        const json a = json::parse(content(folder_.path() / "alone.json")),
                   b = json::parse(content(folder_.path() / "ranks.json"));
        EXPECT_EQ(a.at("norms"), b.at("norms"));
        EXPECT_EQ(a.at("pairs"), b.at("pairs"));
        const auto of_ranks = b.at("rank_pairs").get<std::vector<double>>();
        EXPECT_EQ(of_ranks.size(), static_cast<std::size_t>(GetParam()));
        EXPECT_EQ(std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0), b.at("pairs").get<double>());
    }
}

TEST_P(Ranks, OpticalFlowWritesWhatComesBeforeABrokenFrame) {
    const Outcome made = Cluster::run(0, "optical-flow",
                                      flow + Options{"--width", "64", "--height", "48", "--input",
                                                     "memory:23", "--output-dir", "pictures"});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    folder_.write("pictures/flow_00014.png", "no picture");
    const Options options = flow + Options{"--input", "pictures/flow_%05d.png", "--output-dir"};
    EXPECT_EQ(Cluster::run(0, "optical-flow", options + Options{"alone"}).exit_code, 2);
    expect_refusal(GetParam(), "optical-flow", options + Options{"ranks"}, "flow_00014.png");
    expect_same_files(folder_.path() / "alone", folder_.path() / "ranks");
}

TEST_P(Ranks, PrintATableOnce) {
    folder_.write("sample.mci", sample);
    const std::vector<std::pair<std::string, Options>> runs{
        {"fluorescence", {"--input", "sample.mci"}},
        {"barnes-hut", {"--plummer", "100"}},
        {"optical-flow", {"--input", "memory:3", "--width", "64", "--height", "48"}}};
    for (const auto& [program, options] : runs) {
        const Outcome outcome = run(program, options + Options{"--devices", "cpu", "--report", "-"});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
        EXPECT_TRUE(json::accept(outcome.output)) << outcome.output;
        EXPECT_EQ(count(outcome.errors, "  device "), 1u) << program << ": " << outcome.errors;
    }
}

TEST_P(Ranks, OpticalFlowRefusesAPipe) {
    expect_refusal(GetParam(), "optical-flow", flow + Options{"--input", "-"}, "is a pipe");
}

TEST_P(Ranks, AreDevicesOfTheReport) {
    folder_.write("sample.mci", sample);
    const Outcome outcome = run("fluorescence", {"--input", "sample.mci", "--photons", "100000", "--devices",
                                                 "cpu", "--quiet", "--report", "r.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    const json devices = json::parse(content(folder_.path() / "r.json")).at("devices");
    std::vector<std::string> ids;
    for (const json& device : devices) ids.push_back(device.at("id"));
    std::vector<std::string> expected{"cpu"};
    for (int rank = 1; rank < GetParam(); ++rank) expected.push_back("rank:" + std::to_string(rank));
    EXPECT_EQ(ids, expected);
}

TEST_F(Cluster, RanksDivideTheCores) {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "this machine has one core";
    folder_.write("sample.mci", sample);
    const auto groups = [&](int ranks) {
        const Outcome outcome = run(ranks, "fluorescence",
                                    {"--input", "sample.mci", "--photons", "100000", "--devices", "cpu",
                                     "--quiet", "--report", "r.json"});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        return json::parse(content(folder_.path() / "r.json"))
            .at("devices")
            .at(0)
            .at("engine")
            .at("groups")
            .get<int>();
    };
    EXPECT_LT(groups(2), groups(0));
}

TEST_P(Ranks, TellAUsersMistakeOnce) {
    folder_.write("sample.mci", sample);
    folder_.write("wrong.mci", "1.0\n1\na.mco A\n1X\n");
    expect_refusal(GetParam(), "fluorescence", {"--input", "wrong.mci"}, "wrong.mci");
    expect_refusal(GetParam(), "fluorescence", {"--input", "sample.mci", "--grid", "round"}, "--grid");
}

TEST_P(Ranks, TellOnceThatAFileIsMissing) {
    expect_refusal(GetParam(), "fluorescence", {"--input", "lost.mci"}, "lost.mci");
    expect_refusal(GetParam(), "path-tracer", {"--scene", "lost.ply", "--out", "o.pfm"}, "lost.ply");
    expect_refusal(GetParam(), "barnes-hut", {"--input", "lost.csv"}, "lost.csv");
}

TEST_F(Cluster, TellsAnErrorOfOneRank) {
    folder_.write("sample.mci", sample);
    folder_.write("run.sh", "cd \"$OMPI_COMM_WORLD_RANK$PMI_RANK\" && exec '" HEADRACE_PROGRAMS
                            "/headrace-fluorescence' --input sample.mci --devices cpu --quiet\n");
    for (const char* rank : {"0", "1"}) fs::create_directory(folder_.path() / rank);
    fs::copy(folder_.path() / "sample.mci", folder_.path() / "0");
    const Outcome outcome = shell(folder_.path(), std::string("timeout -k 5 ") + seconds_of_a_run + " " +
                                                      quoted(mpirun) + " -n 2 /bin/sh run.sh");
    EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
    const std::vector<std::string> lines = lines_of("fluorescence", outcome.errors);
    ASSERT_EQ(lines.size(), 1u) << outcome.errors;
    EXPECT_NE(lines[0].find("rank 1"), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("there is no such file"), std::string::npos) << lines[0];
}

TEST_F(Cluster, HelpIsPrintedOnce) {
    for (const char* program : {"fluorescence", "sobel"}) {
        const Outcome outcome = run(2, program, {"--help"});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        EXPECT_EQ(count(outcome.output, "--report"), 1u) << outcome.output;
    }
}

/// A program that shares nothing over ranks.
class OneProcess : public Cluster, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Of, OneProcess,
                         testing::Values("chain-matmul", "hotspot", "mandelbrot", "matrix-pow", "sobel"),
                         [](const auto& each) { return test_name(each.param); });

TEST_P(OneProcess, SaysSo) { expect_refusal(2, GetParam(), {"--quiet"}, "runs as one process"); }

TEST_F(Cluster, OfOneRankRunsAnyProgram) {
    const Outcome alone = run(1, "matrix-pow", {"--size", "16", "--devices", "cpu", "--quiet"});
    EXPECT_EQ(alone.exit_code, 0) << alone.errors;
}

} // namespace
} // namespace headrace::end_to_end
