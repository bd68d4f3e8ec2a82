// Ranks of MPI that are killed while a program runs: the others write the files of a run that nothing has
// disturbed, or end in words.
#include "end_to_end/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace headrace::end_to_end {
namespace {

const char* const sample = "1.0\n1\ns.mco A\n150000\n0.01 0.01\n40 50 30\n2\n1.0\n1.37 1 100 .9 .1\n"
                           "1.37 1 10 0 .1\n1.0\n";

/// Open MPI 4 lets the others live with the last of these, and then its mpirun always returns 0.
class Losses : public Cluster {
protected:
    void SetUp() override {
        Cluster::SetUp();
        if (IsSkipped()) return;
        setenv("OMPI_MCA_orte_enable_recovery", "1", 1);
        folder_.write("sample.mci", sample);
    }
    void TearDown() override { unsetenv("OMPI_MCA_orte_enable_recovery"); }

    /// Each of `killed` kills itself when the n-th checkpoint is there, n by its place: a loss follows
    /// another.
    [[nodiscard]] Outcome run_and_kill(int ranks, const std::vector<int>& killed,
                                       const std::string& options) {
        std::string script = "rank=$OMPI_COMM_WORLD_RANK$PMI_RANK\n";
        for (std::size_t i = 0; i < killed.size(); ++i)
            script += "if [ $rank = " + std::to_string(killed[i]) +
                      " ]; then\n"
                      "    ( n=0; last=; while [ $n -le " +
                      std::to_string(i) +
                      " ]; do kill -0 $$ || exit; now=$(ls -i c 2>/dev/null); [ \"$now\" = \"$last\" ] || "
                      "n=$((n + 1)); last=$now; "
                      "sleep 0.05; done; kill -9 $$ ) &\n"
                      "fi\n";
        script += "exec '" HEADRACE_PROGRAMS "/headrace-fluorescence' --input sample.mci --devices cpu "
                  "--grids g --checkpoint c --checkpoint-every 0.1 " +
                  options + "\n";
        folder_.write("run.sh", script);
        return shell(folder_.path(), std::string("timeout -k 5 ") + seconds_of_a_run + " " + quoted(mpirun) +
                                         " -n " + std::to_string(ranks) + " /bin/sh run.sh");
    }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> take_grids() const {
        std::vector<std::pair<std::string, std::string>> files;
        for (const std::string& name : folder_.list()) {
            if (!name.starts_with("g.")) continue;
            files.emplace_back(name, content(folder_.path() / name));
            fs::remove(folder_.path() / name);
        }
        return files;
    }
    /// Names alone are printed.
    void expect_files_of_an_undisturbed_run() const {
        const auto files = take_grids();
        const Outcome alone =
            run(0, "fluorescence", {"--input", "sample.mci", "--devices", "cpu", "--quiet", "--grids", "g"});
        ASSERT_EQ(alone.exit_code, 0) << alone.errors;
        const auto wanted = take_grids();
        ASSERT_GE(wanted.size(), 6u);
        ASSERT_EQ(files.size(), wanted.size());
        for (std::size_t i = 0; i < files.size(); ++i) {
            EXPECT_EQ(files[i].first, wanted[i].first);
            EXPECT_TRUE(files[i].second == wanted[i].second) << files[i].first;
        }
    }
};

TEST_F(Losses, OthersWriteTheSameFiles) {
    const Outcome outcome = run_and_kill(4, {2, 1}, "--on-loss continue --report r.json");
    SCOPED_TRACE(outcome.errors);
    EXPECT_EQ(count(outcome.errors, "is lost: the other ranks go on without it"), 2u); // rank 0 says so
    EXPECT_TRUE(fs::exists(folder_.path() / "r.json"));
    expect_files_of_an_undisturbed_run();
}

TEST_F(Losses, OfRankZeroEndsTheOthersInWordsAndAnotherRunGoesOn) {
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = run_and_kill(3, {0}, "--on-loss continue");
    SCOPED_TRACE(outcome.errors);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
    EXPECT_GE(count(outcome.errors, "rank 0 on "), 1u);
    EXPECT_TRUE(take_grids().empty());
    const Outcome resumed =
        run(2, "fluorescence",
            {"--input", "sample.mci", "--devices", "cpu", "--quiet", "--grids", "g", "--resume", "c"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
    expect_files_of_an_undisturbed_run();
}

} // namespace
} // namespace headrace::end_to_end
