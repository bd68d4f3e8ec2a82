// tests/end_to_end/ranks.hpp - a program as several ranks of MPI on this machine.
#pragma once
#include "core/scratch_folder.hpp"
#include "end_to_end/program.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::end_to_end {

namespace fs = std::filesystem;

inline const std::string mpirun = HEADRACE_MPIRUN;
inline constexpr auto seconds_of_a_run = "60";

/// More ranks than cores, bound to none, also as root in a container. Open MPI 4 and 5 read these; as
/// options, other mpiruns would refuse them. Open MPI leaks, and unloads the parts whose names a suppression
/// would need.
inline constexpr std::array environment{std::pair{"LSAN_OPTIONS", "detect_leaks=0"},
                                        std::pair{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                        std::pair{"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                        std::pair{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                        std::pair{"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                        std::pair{"PRTE_ALLOW_RUN_AS_ROOT", "1"},
                                        std::pair{"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                        std::pair{"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                                        std::pair{"PRTE_MCA_hwloc_default_binding_policy", "none"}};

/// For the SetUp of a test: it is skipped without mpirun, else what it starts gets the environment.
inline void prepare_ranks() {
    if (mpirun.empty()) GTEST_SKIP() << "this build has no MPI, or there is no mpirun on this machine";
    for (const auto& [name, value] : environment) setenv(name, value, 1);
    // In a folder that all share, two that begin at once fail, if neither finds what both make there.
    static const test::ScratchFolder sessions;
    for (const char* const name : {"OMPI_MCA_orte_tmpdir_base", "PRTE_MCA_prte_tmpdir_base"})
        setenv(name, sessions.path().c_str(), 1);
}

inline std::string quoted(const std::string& word) { return std::string("'").append(word).append("'"); }

/// `program` without "headrace-". `ranks` of 0: without mpirun. `before`: a command that runs each rank.
inline std::string command_line(int ranks, const std::string& program, const Options& options,
                                const std::string& before = "") {
    std::string line("timeout -k 5 ");
    line.append(seconds_of_a_run).append(" ");
    if (ranks > 0) line.append(quoted(mpirun)).append(" -n ").append(std::to_string(ranks)).append(" ");
    line.append(before);
    line.append(quoted(HEADRACE_PROGRAMS "/headrace-" + program));
    for (const std::string& option : options) line.append(" ").append(quoted(option));
    return line;
}

inline Outcome shell(const fs::path& folder, const std::string& command) {
    return Program("/bin/sh", {"-c", command}, folder).wait();
}

inline std::string content(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    EXPECT_TRUE(stream.is_open()) << file;
    return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::size_t count(const std::string& text, std::string_view words) {
    std::size_t found = 0;
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
    return found;
}

/// The lines that ranks wrote, not mpirun.
inline std::vector<std::string> lines_of(const std::string& program, const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (line.find("headrace-" + program + ": ") != std::string::npos) lines.push_back(line);
    return lines;
}

class Cluster : public testing::Test {
protected:
    void SetUp() override { prepare_ranks(); }
    [[nodiscard]] Outcome run(int ranks, const std::string& program, const Options& options) const {
        return shell(folder_.path(), command_line(ranks, program, options));
    }
    /// A user's mistake: exit code 2, and one line with `words`.
    void expect_refusal(int ranks, const std::string& program, const Options& options,
                        std::string_view words) const {
        const Outcome outcome = run(ranks, program, options);
        SCOPED_TRACE(program + " said: " + outcome.errors);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_EQ(outcome.output, "");
        const std::vector<std::string> lines = lines_of(program, outcome.errors);
        ASSERT_EQ(lines.size(), 1u);
        EXPECT_NE(lines[0].find(words), std::string::npos);
    }

    Scratch folder_;
};

} // namespace headrace::end_to_end
