// headrace-barnes-hut that stops and goes on: --snapshot-every and --restart.
#include "end_to_end/barnes_hut_runs.hpp"
#include "end_to_end/path_tracer.hpp" // which devices there are

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

namespace headrace::end_to_end {
namespace {

using nlohmann::json;

/// Device lists, of devices of one kind each.
class Restart : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Lists, Restart,
                         testing::Values("cpu", test::two_private_cpus, "opencl:pocl", "opencl:nvidia",
                                         "cuda:0", "cuda:0,cuda:1"),
                         [](const auto& each) { return test_name(each.param); });

TEST_P(Restart, GoesOnToTheBit) {
    for (const char* accuracy : {"0", "0.0012"}) {
        const Scratch folder;
        const Options what{"--devices", GetParam(), "--steps", "6", "--quiet"};
        const Options begin =
            what + Options{"--plummer",   "3000", "--kernel", "consumer", "--dt",       "0.01",  "--G", "3",
                           "--softening", "0.02", "--order",  "monopole", "--accuracy", accuracy};
        const auto results = [](const std::string& name) {
            return Options{"--output",     name + ".npy",   "--accelerations", name + ".a.npy",
                           "--potentials", name + ".p.npy", "--report",        name + ".json"};
        };
        ASSERT_EQ(run(folder, begin + results("whole")).exit_code, 0);
        ASSERT_EQ(run(folder, begin + results("first") + Options{"--snapshot-every", "2"}).exit_code, 0);
        const Outcome outcome =
            run(folder, what + results("then") +
                            Options{"--restart", "first.000002.snapshot", "--snapshot-every", "2"});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
        EXPECT_FALSE(std::filesystem::exists(folder.path() / "then.000002.snapshot"));
        for (const std::string end : {".npy", ".a.npy", ".p.npy"}) {
            EXPECT_EQ(text_of(folder, "first" + end), text_of(folder, "whole" + end)) << end;
            EXPECT_EQ(text_of(folder, "then" + end), text_of(folder, "whole" + end)) << end;
        }
        for (const std::string end : {".000004.snapshot", ".000006.snapshot"}) {
            EXPECT_FALSE(text_of(folder, "then" + end).empty());
            EXPECT_EQ(text_of(folder, "then" + end), text_of(folder, "first" + end)) << end;
        }
        const auto report = [&](const std::string& name) {
            return json::parse(text_of(folder, name), nullptr, false);
        };
        EXPECT_EQ(report("then.json")["energies"], report("first.json")["energies"]);
        EXPECT_EQ(report("then.json")["energies"].size(), 4u);
        EXPECT_EQ(report("then.json")["energy_drift"], report("first.json")["energy_drift"]);
        EXPECT_EQ(report("then.json")["restarted_from"], "first.000002.snapshot");
        EXPECT_EQ(report("then.json")["G"], 3);
        // All that is left to do is to write.
        ASSERT_EQ(run(folder, what + results("end") + Options{"--restart", "then.000006.snapshot"}).exit_code,
                  0);
        for (const std::string end : {".npy", ".a.npy", ".p.npy"})
            EXPECT_EQ(text_of(folder, "end" + end), text_of(folder, "whole" + end)) << end;
    }
}

/// Other kernels add in another order each time.
TEST_P(Restart, GoesOnWithEveryKernel) {
    const Scratch folder;
    for (const char* kernel : {"producer", "producer-node"}) {
        const Options what{"--devices", GetParam(), "--steps",  "4",    "--quiet",
                           "--report",  "r.json",   "--output", "o.csv"};
        ASSERT_EQ(
            run(folder, what + Options{"--plummer", "2000", "--kernel", kernel, "--snapshot-every", "2"})
                .exit_code,
            0);
        const json whole = json::parse(text_of(folder, "r.json"), nullptr, false);
        ASSERT_EQ(run(folder, what + Options{"--restart", "o.000002.snapshot"}).exit_code, 0);
        const json found = json::parse(text_of(folder, "r.json"), nullptr, false);
        EXPECT_EQ(found["kernel"], kernel);
        EXPECT_EQ(found["energies"][1], whole["energies"][1]);
        EXPECT_NEAR(found["energies"][2]["kinetic"].get<double>(),
                    whole["energies"][2]["kinetic"].get<double>(), 1e-6);
        EXPECT_NEAR(found["energies"][2]["total"].get<double>(), whole["energies"][2]["total"].get<double>(),
                    1e-6);
    }
}

/// Nothing is left to compute, so there is nothing to divide by, and nothing has been counted.
TEST(BarnesHutRestart, ReportsNoForcesWhereAllStepsAreDone) {
    const Scratch folder;
    const Options cpu{"--devices", "cpu", "--steps", "2", "--softening", "0"};
    ASSERT_EQ(
        run(folder, cpu + Options{"--plummer", "50", "--output", "o.csv", "--snapshot-every", "2", "--quiet"})
            .exit_code,
        0);
    const Outcome outcome = run(folder, cpu + Options{"--restart", "o.000002.snapshot", "--report", "r.json",
                                                      "--potentials", "p.csv"});
    ASSERT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.errors.find("warning"), std::string::npos) << outcome.errors;
    EXPECT_NE(outcome.output.find("50 bodies, 2 steps"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("no forces were computed"), std::string::npos) << outcome.output;
    for (const char* word : {"nan", "inf", "each body met", "()"})
        EXPECT_EQ(outcome.output.find(word), std::string::npos) << outcome.output;
    const std::string text = text_of(folder, "r.json");
    const json report = json::parse(text, nullptr, false);
    EXPECT_EQ(report["forces_computed"], 0);
    EXPECT_EQ(report["interactions"], (json{{"body_node", 0}, {"body_body", 0}}));
    EXPECT_EQ(report["balance"], (json{{"absent", "no forces were computed"}}));
    EXPECT_EQ(text.find("null"), std::string::npos) << text;
}

TEST(BarnesHutRestart, RefusesInOneLineWhatCannotBe) {
    const Scratch folder;
    const Options cpu{"--devices", "cpu", "--quiet"};
    ASSERT_EQ(run(folder, cpu + Options{"--plummer", "50", "--steps", "2", "--dt", "0.02", "--output",
                                        "o.csv", "--snapshot-every", "2"})
                  .exit_code,
              0);
    const std::string whole = text_of(folder, "o.000002.snapshot");
    folder.write("cut.snapshot", whole.substr(0, whole.size() - 9));
    folder.write("table.snapshot", "x,y,z,m\n1,2,3,4\n");
    std::string wrong = whole;
    wrong[whole.size() - 100] = static_cast<char>(wrong[whole.size() - 100] ^ 1);
    folder.write("wrong.snapshot", wrong);
    const auto refuses = [&](const Options& options, std::initializer_list<const char*> words) {
        const Outcome outcome = run(folder, options + cpu);
        SCOPED_TRACE(outcome.errors);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
        for (const char* word : words) EXPECT_NE(outcome.errors.find(word), std::string::npos) << word;
    };
    const Options on{"--restart", "o.000002.snapshot", "--steps", "4"};
    refuses({"--restart", "cut.snapshot", "--steps", "4"}, {"cut.snapshot: is a broken snapshot"});
    refuses({"--restart", "wrong.snapshot", "--steps", "4"},
            {"wrong.snapshot: is a broken snapshot", "checksum"});
    refuses({"--restart", "table.snapshot", "--steps", "4"}, {"table.snapshot: is no snapshot"});
    refuses({"--restart", "/dev/zero", "--steps", "4"}, {"/dev/zero: is no snapshot"});
    refuses({"--restart", "lost.snapshot"}, {"lost.snapshot", "cannot be read"});
    refuses({"--restart", "o.000002.snapshot", "--steps", "1"}, {"--steps 1", "has done 2"});
    refuses(on + Options{"--plummer", "5"}, {"either"});
    refuses(on + Options{"--input", "o.csv"}, {"either"});
    // Even what is usual unless it is said.
    refuses(on + Options{"--dt", "0.01"}, {"--dt 0.01", "goes on with 0.02", "leave the option out"});
    refuses(on + Options{"--G", "2"}, {"--G 2", "goes on with 1"});
    refuses(on + Options{"--softening", "0"}, {"--softening 0", "goes on with 0.001"});
    refuses(on + Options{"--theta", "0.4"}, {"--theta", "goes on with 0.5"});
    refuses(on + Options{"--accuracy", "0.1"}, {"--accuracy", "goes on with 0"});
    refuses(on + Options{"--order", "monopole"}, {"--order monopole", "goes on with quadrupole"});
    refuses(on + Options{"--kernel", "consumer"}, {"--kernel consumer", "goes on with producer"});
    refuses({"--plummer", "5", "--snapshot-every", "2"}, {"--snapshot-every", "--output"});
    refuses({"--plummer", "5", "--snapshot-every", "x", "--output", "o.csv"}, {"--snapshot-every x"});
    // Files that would be overwritten.
    folder.write("p.000004.snapshot", whole);
    refuses({"--restart", "p.000004.snapshot", "--steps", "4", "--output", "p.csv", "--snapshot-every", "1"},
            {"p.000004.snapshot", "--snapshot-every"});
    EXPECT_EQ(text_of(folder, "p.000004.snapshot"), whole);
    const Outcome outcome =
        run(folder, cpu + on + Options{"--dt", "0.02", "--output", "o.csv", "--snapshot-every", "1"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(text_of(folder, "o.000002.snapshot"), whole);
}

} // namespace
} // namespace headrace::end_to_end
