// Long runs that are killed, stopped and resumed: they write the files of a run that nothing has disturbed.
#include "core/environment_variable.hpp"
#include "core/eventually.hpp"
#include "end_to_end/path_tracer.hpp"
#include "end_to_end/ranks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace headrace::end_to_end {
namespace {

using nlohmann::json;

const char* const tissue = "photons = 150000\nseed = 5\n[grid]\nnz = 40\nnr = 50\nna = 9\n"
                           "[[layer]]\nn = 1.4\nmua = 3\nmus = 100\ng = 0.8\nd = 0.1\n"
                           "fluorophore = { mua = 1, quantum_yield = 0.3 }\n";

/// Changes when another file takes the name: a number alone may come again.
using FileId = std::tuple<ino_t, time_t, long>;
std::optional<FileId> id_of(const fs::path& file) {
    struct stat about {};
    if (::stat(file.c_str(), &about) != 0) return std::nullopt;
    return FileId{about.st_ino, about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
}

/// What a run writes: name and bytes of the grids.
using Files = std::vector<std::pair<std::string, std::string>>;
Files grids_in(const Scratch& folder, const std::string& prefix) {
    Files files;
    for (const std::string& name : folder.list())
        if (name.starts_with(prefix + "."))
            files.emplace_back(name.substr(prefix.size()), content(folder.path() / name));
    return files;
}

/// With `wanted`, of which only the names are printed.
void expect_same(const Files& files, const Files& wanted) {
    ASSERT_EQ(files.size(), wanted.size());
    ASSERT_GE(files.size(), 8u);
    for (std::size_t i = 0; i < files.size(); ++i) {
        EXPECT_EQ(files[i].first, wanted[i].first);
        EXPECT_TRUE(files[i].second == wanted[i].second) << files[i].first << " differs";
    }
}

class Checkpoints : public testing::Test {
protected:
    static void SetUpTestSuite() {
        undisturbed_.emplace();
        undisturbed_->write("tissue.toml", tissue);
        const Outcome outcome = Program(HEADRACE_FLUORESCENCE, options({}), undisturbed_->path()).wait();
        ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
        wanted_ = grids_in(*undisturbed_, "g");
    }
    static void TearDownTestSuite() { undisturbed_.reset(); }

    /// Two threads: the runs take long enough on any machine.
    static Options options(const Options& more, const std::string& devices = test::two_private_cpus) {
        return Options{"--input", "tissue.toml", "--quiet", "--grids", "g", "--devices", devices} + more;
    }
    [[nodiscard]] Program start(const Options& more) const {
        return {HEADRACE_FLUORESCENCE, options(more), folder_.path()};
    }
    [[nodiscard]] Outcome run(const Options& more) const { return start(more).wait(); }
    [[nodiscard]] fs::path file() const { return folder_.path() / "c"; }

    /// Until it has written a checkpoint since; it still runs then.
    void wait_for_checkpoint(Program& program, std::optional<FileId> before = {}) const {
        ASSERT_TRUE(test::eventually([&] { return !program.is_running() || id_of(file()) != before; },
                                     test::hang_limit));
        ASSERT_TRUE(program.is_running()) << program.errors_so_far();
    }
    /// A run that goes on has the files of one that was not disturbed.
    [[nodiscard]] json expect_it_ends_well(const Options& more = {}) const {
        for (const auto& [name, ignored] : grids_in(folder_, "g")) fs::remove(folder_.path() / ("g" + name));
        const Outcome outcome = run(Options{"--resume", "c", "--report", "r.json"} + more);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        expect_same(grids_in(folder_, "g"), wanted_);
        return json::parse(content(folder_.path() / "r.json"));
    }
    void expect_refusal(const Options& more, const std::string& words, int exit_code = 2) const {
        const Outcome outcome = run(more);
        EXPECT_EQ(outcome.exit_code, exit_code);
        EXPECT_NE(outcome.errors.find(words), std::string::npos) << outcome.errors;
        EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
    }

    const Scratch folder_;
    const fs::path input_ = folder_.write("tissue.toml", tissue);
    static inline std::optional<Scratch> undisturbed_;
    static inline Files wanted_;
};

TEST_F(Checkpoints, AKilledRunGoesOn) {
    for (int kill = 0; kill < 2; ++kill) {
        const auto before = id_of(file());
        Program program = start(Options{"--checkpoint", "c", "--checkpoint-every", "0.1"} +
                                (kill == 0 ? Options{} : Options{"--resume", "c"}));
        wait_for_checkpoint(program, before);
        if (HasFatalFailure()) return;
        program.interrupt(SIGKILL);
        EXPECT_EQ(program.wait().signal, SIGKILL);
        EXPECT_TRUE(grids_in(folder_, "g").empty());
    }
    const json report = expect_it_ends_well();
    EXPECT_GT(report.at("resumed_units"), 0);
    EXPECT_EQ(report.at("resumed_units").get<int>() + report.at("work_units").get<int>(), 150'000);
}

TEST_F(Checkpoints, GoOnWithOtherDevices) {
    Program program = start({"--checkpoint", "c", "--checkpoint-every", "0.1"});
    wait_for_checkpoint(program);
    if (HasFatalFailure()) return;
    program.interrupt(SIGKILL);
    static_cast<void>(program.wait());
    const Outcome outcome =
        Program(HEADRACE_FLUORESCENCE,
                {"--input", "tissue.toml", "--quiet", "--devices", "cpu", "--resume", "c", "--grids", "g"},
                folder_.path())
            .wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    expect_same(grids_in(folder_, "g"), wanted_);
}

/// By which signal.
class StoppedRuns : public Checkpoints, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(By, StoppedRuns, testing::Values(SIGTERM, SIGINT),
                         [](const auto& each) { return each.param == SIGTERM ? "SIGTERM" : "SIGINT"; });

TEST_P(StoppedRuns, StoreWhatIsDone) {
    // No interval ends meanwhile, so the signal alone writes it.
    Program program = start({"--checkpoint", "c"});
    ASSERT_TRUE(test::eventually(
        [&] { return !program.is_running() || program.processor_time() > Seconds{0.3}; }, test::hang_limit));
    ASSERT_TRUE(program.handles(GetParam()));
    program.interrupt(GetParam());
    program.interrupt(GetParam()); // as mpirun and a batch system do together
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exit_code, 128 + GetParam()) << outcome.errors;
    EXPECT_NE(outcome.errors.find("of 150000 work units are done, and are stored in c; --resume c goes on"),
              std::string::npos)
        << outcome.errors;
    EXPECT_TRUE(grids_in(folder_, "g").empty());
    static_cast<void>(expect_it_ends_well());
}

TEST_F(Checkpoints, ARunThatCannotStoreWhatIsDoneSaysWhy) {
    fs::create_directory(folder_.path() / "away");
    Program program = start({"--checkpoint", "away/c"});
    ASSERT_TRUE(test::eventually(
        [&] { return !program.is_running() || program.processor_time() > Seconds{0.3}; }, test::hang_limit));
    fs::remove_all(folder_.path() / "away");
    program.interrupt(SIGTERM);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.errors.find("away/c: the checkpoint cannot be written: No such file"),
              std::string::npos)
        << outcome.errors;
}

/// A shell limits the size of files to `blocks` of 1024 bytes, and lets the program see that.
Options within(const std::string& blocks, const Options& options) {
    std::string line = "trap '' XFSZ; ulimit -f " + blocks + "; exec '" HEADRACE_FLUORESCENCE "'";
    for (const std::string& option : options) line += " '" + option + "'";
    return {"-c", line};
}

TEST_F(Checkpoints, AFullDiskStopsNoRun) {
    const Outcome outcome =
        Program("/bin/bash",
                within("4", {"--input", "tissue.toml", "--quiet", "--devices", "cpu", "--checkpoint", "c",
                             "--checkpoint-every", "0.1", "--report", "r.json"}),
                folder_.path())
            .wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_NE(outcome.errors.find("c: the checkpoint cannot be written: File too large"), std::string::npos)
        << outcome.errors;
    EXPECT_TRUE(fs::exists(folder_.path() / "r.json"));
    EXPECT_FALSE(fs::exists(file()));
}

TEST_F(Checkpoints, ACompleteOneHasTheResultAtOnce) {
    ASSERT_EQ(run({"--checkpoint", "c"}).exit_code, 0);
    const json report = expect_it_ends_well({"--checkpoint", "c"}); // the same file
    EXPECT_EQ(report.at("resumed_units"), 150'000);
    EXPECT_EQ(report.at("work_units"), 0);
}

TEST_F(Checkpoints, OfSeveralRunsHaveAFileEach) {
    folder_.write("two.mci", "1.0\n2\na.mco A\n20000\n0.01 0.01\n40 50 30\n1\n1.0\n1.37 1 100 .9 .1\n1.0\n"
                             "b.mco A\n30000\n0.01 0.01\n40 50 30\n1\n1.0\n1.37 2 50 .9 .1\n1.0\n");
    const Options both{"--input", "two.mci", "--quiet", "--devices", "cpu"};
    const auto outcome = [&](const Options& more) {
        return Program(HEADRACE_FLUORESCENCE, both + more, folder_.path()).wait();
    };
    ASSERT_EQ(outcome({"--grids", "once", "--checkpoint", "c"}).exit_code, 0);
    EXPECT_TRUE(fs::exists(folder_.path() / "c.1") && fs::exists(folder_.path() / "c.2"));
    fs::remove(folder_.path() / "c.2"); // as if it had been killed in between
    ASSERT_EQ(outcome({"--grids", "again", "--resume", "c"}).exit_code, 0);
    expect_same(grids_in(folder_, "again"), grids_in(folder_, "once"));
    fs::remove(folder_.path() / "c.1");
    EXPECT_EQ(outcome({"--resume", "c"}).exit_code, 2);
}

TEST_F(Checkpoints, OfSomethingElseAreRefused) {
    expect_refusal({"--resume", "c"}, "c: there is no such checkpoint");
    folder_.write("foreign", "a file");
    expect_refusal({"--resume", "foreign"}, "foreign: is no checkpoint of Headrace");
    expect_refusal({"--resume", "tissue.toml"}, "is no checkpoint of Headrace");
    expect_refusal({"--checkpoint", "tissue.toml"}, "tissue.toml");
    expect_refusal({"--checkpoint", "-"}, "--checkpoint and --resume take a file");
    expect_refusal({"--checkpoint", "/dev/full"}, "is no regular file");
    ASSERT_EQ(run({"--photons", "1000", "--checkpoint", "c"}).exit_code, 0);
    const std::string whole = content(file());
    EXPECT_NE(whole.find("\nkernels: "), std::string::npos) << "other kernels would be accepted";
    expect_refusal({"--photons", "1000", "--seed", "6", "--resume", "c"}, "--seed: 5 there, 6 here");
    expect_refusal({"--resume", "c"}, "--photons: 1000 there, 150000 here");
    for (const std::string every : {"0", "60"}) {
        expect_refusal({"--photons", "1000", "--seed", "6", "--checkpoint", "c", "--resume", "c",
                        "--checkpoint-every", every},
                       "--seed: 5 there, 6 here");
        EXPECT_TRUE(content(file()) == whole) << "a refused checkpoint was replaced";
    }
    expect_refusal({"--photons", "1000", "--resume", "c", "--kernel", "consumer"},
                   "--kernel: producer there, consumer here");
    folder_.write("tissue.toml", std::string(tissue).replace(std::string(tissue).find("0.3"), 3, "0.4"));
    expect_refusal({"--photons", "1000", "--resume", "c"}, "(layers of the input: ");
    EXPECT_EQ(content(file()), whole);
    folder_.write("c", whole.substr(0, whole.size() / 2));
    expect_refusal({"--photons", "1000", "--resume", "c"}, "c: is truncated");
}

TEST_F(Checkpoints, OfThePathTracerGoOn) {
    const Options room =
        matt_room(folder_) +
        Options{"--devices", test::two_private_cpus, "--width", "64", "--height", "48", "--spp", "150"};
    const Image undisturbed = render(folder_, room);
    Program program = start_path_tracer(folder_, room + Options{"--out", "o.pfm", "--checkpoint", "c"});
    ASSERT_TRUE(test::eventually(
        [&] { return !program.is_running() || program.processor_time() > Seconds{0.3}; }, test::hang_limit));
    program.interrupt(SIGTERM);
    const Outcome outcome = program.wait();
    ASSERT_EQ(outcome.exit_code, 128 + SIGTERM) << outcome.errors;
    EXPECT_NE(outcome.errors.find("are stored in c; --resume c goes on"), std::string::npos)
        << outcome.errors;
    EXPECT_FALSE(fs::exists(folder_.path() / "o.pfm"));
    const Outcome other =
        run_path_tracer(folder_, room + Options{"--seed", "2", "--resume", "c", "--out", "o.pfm"});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_NE(other.errors.find("--seed: 1 there, 2 here"), std::string::npos) << other.errors;
    // Sums of floats are rounded where they are joined: the last bits differ.
    EXPECT_LT(largest_difference(render(folder_, room + Options{"--resume", "c"}), undisturbed), 1e-4);
}

class CheckpointsOfRanks : public Checkpoints {
protected:
    void SetUp() override {
        prepare_ranks();
        if (IsSkipped()) return;
        folder_.write("one.toml", "[[node]]\n[[node.device]]\nkind = \"cpu\"\nthreads = 1\n"); // of a rank
    }
    [[nodiscard]] Program start_ranks(const Options& more) const {
        return {mpirun, Options{"-n", "2", HEADRACE_FLUORESCENCE} + options(more, "@one.toml"),
                folder_.path()};
    }
};

TEST_F(CheckpointsOfRanks, OneProcessAndTwoRanksGoOnFromEachOther) {
    Program alone = start({"--checkpoint", "c", "--checkpoint-every", "0.1"});
    wait_for_checkpoint(alone);
    if (HasFatalFailure()) return;
    alone.interrupt(SIGKILL);
    static_cast<void>(alone.wait());
    const auto before = id_of(file());
    Program ranks = start_ranks({"--resume", "c", "--checkpoint", "c", "--checkpoint-every", "0.1"});
    wait_for_checkpoint(ranks, before);
    if (HasFatalFailure()) return;
    ranks.interrupt(SIGTERM); // after SIGKILL of mpirun, its ranks would live on for a while
    static_cast<void>(ranks.wait());
    const Outcome outcome = start_ranks({"--resume", "c"}).wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    expect_same(grids_in(folder_, "g"), wanted_);
    static_cast<void>(expect_it_ends_well());
}

TEST_F(CheckpointsOfRanks, OneLineTellsWhyACheckpointIsRefused) {
    folder_.write("foreign", "a file");
    const Outcome outcome = start_ranks({"--resume", "foreign"}).wait();
    EXPECT_EQ(outcome.exit_code, 2);
    const std::string words = "is no checkpoint of Headrace";
    const auto first = outcome.errors.find(words);
    EXPECT_NE(first, std::string::npos) << outcome.errors;
    EXPECT_EQ(outcome.errors.find(words, first + 1), std::string::npos) << outcome.errors;
}

} // namespace
} // namespace headrace::end_to_end
