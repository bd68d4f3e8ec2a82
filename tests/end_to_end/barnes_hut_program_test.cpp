// headrace-barnes-hut as a user runs it: every option, every device and kernel, splits over devices, and what
// can be wrong with what it is given.
#include "end_to_end/barnes_hut_runs.hpp"
#include "end_to_end/path_tracer.hpp" // which devices there are

#include <core/environment_variable.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <tuple>

namespace headrace::end_to_end {
namespace {

using nlohmann::json;
using Rows = std::vector<std::array<double, 3>>;

/// The report of a run that must succeed.
json report_of(const Scratch& folder, const Options& options) {
    const Outcome outcome = run(folder, options + Options{"--quiet", "--report", "r.json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(outcome.output.empty());
    return json::parse(text_of(folder, "r.json"), nullptr, false);
}

/// Of a file that --accelerations wrote.
Rows rows_of(const Scratch& folder, const std::string& name) {
    std::istringstream text(text_of(folder, name));
    std::string line;
    std::getline(text, line);
    EXPECT_EQ(line, "ax,ay,az");
    Rows rows;
    while (std::getline(text, line)) {
        std::array<double, 3> row{};
        EXPECT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf", row.data(), &row[1], &row[2]), 3) << line;
        rows.push_back(row);
    }
    return rows;
}

void expect_near(const Rows& found, const Rows& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        double apart = 0, length = 0;
        for (unsigned axis = 0; axis < 3; ++axis) {
            apart = std::hypot(apart, found[i][axis] - expected[i][axis]);
            length = std::hypot(length, expected[i][axis]);
        }
        EXPECT_LE(apart, 2e-5 * length) << i;
    }
}

/// Device, kernel.
class BarnesHut : public testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(std::get<0>(GetParam())); }
    [[nodiscard]] static Options chosen() {
        return {"--devices", std::get<0>(GetParam()), "--kernel", std::get<1>(GetParam())};
    }
};

INSTANTIATE_TEST_SUITE_P(Every, BarnesHut,
                         testing::Combine(testing::ValuesIn(every_device),
                                          testing::Values("consumer", "producer", "producer-node")),
                         [](const auto& each) {
                             std::string kernel = std::get<1>(each.param);
                             std::replace(kernel.begin(), kernel.end(), '-', '_');
                             return test_name(std::get<0>(each.param)) + "_" + kernel;
                         });

TEST_P(BarnesHut, FindsTheForcesThatAllOthersFind) {
    const Scratch folder;
    for (const char* order : {"monopole", "quadrupole"}) {
        const Options what{"--plummer",   "3000", "--seed",  "4",   "--theta", "0.6",
                           "--softening", "0.01", "--order", order, "--quiet"};
        EXPECT_EQ(run(folder, what + chosen() + Options{"--accelerations", "a.csv"}).exit_code, 0);
        EXPECT_EQ(run(folder,
                      what + Options{"--devices", "cpu", "--kernel", "consumer", "--accelerations", "b.csv"})
                      .exit_code,
                  0);
        expect_near(rows_of(folder, "a.csv"), rows_of(folder, "b.csv"));
    }
}

/// Against the sum over all pairs, in the order of the input, through text and arrays.
TEST_P(BarnesHut, WritesThePotentialOfEachBody) {
    const Scratch folder;
    std::string text = "m,x,y,z\n";
    std::vector<std::array<double, 4>> bodies;
    for (int i = 0; i < 150; ++i) {
        const auto part = [&](int factor) { return (i * factor % 151) / 151.0; };
        bodies.push_back(
            {part(7) + (i == 5 ? 100 : 0), part(31), part(58) * part(58), i % 9 == 0 ? 0 : part(3)});
        std::ostringstream line;
        line.precision(17);
        line << bodies.back()[3] << ',' << bodies.back()[0] << ',' << bodies.back()[1] << ','
             << bodies.back()[2];
        text += line.str() + '\n';
    }
    folder.write("b.csv", text);
    for (const char* softening : {"0", "0.25"}) {
        const Options what{"--input", "b.csv",       "--theta", "0",      "--G",
                           "3",       "--softening", softening, "--quiet"};
        ASSERT_EQ(run(folder, what + chosen() + Options{"--potentials", "p.csv"}).exit_code, 0);
        ASSERT_EQ(run(folder, what + chosen() + Options{"--potentials", "p.npy"}).exit_code, 0);
        std::istringstream lines(text_of(folder, "p.csv"));
        std::string line;
        std::getline(lines, line);
        EXPECT_EQ(line, "potential");
        const std::string array = text_of(folder, "p.npy");
        EXPECT_NE(array.find("'shape': (150, )"), std::string::npos);
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < bodies.size(); ++j)
                if (j != i)
                    sum -= 3 * bodies[j][3] /
                           std::hypot(std::hypot(bodies[i][0] - bodies[j][0], bodies[i][1] - bodies[j][1]),
                                      std::hypot(bodies[i][2] - bodies[j][2], std::stod(softening)));
            ASSERT_TRUE(std::getline(lines, line));
            EXPECT_NEAR(std::stod(line), sum, 4e-6 * -sum) << i; // barnes_hut_ranges_test says why
            double number = 0;
            std::memcpy(&number, array.data() + array.size() - 8 * (bodies.size() - i), sizeof number);
            EXPECT_NEAR(number, sum, 4e-6 * -sum);
        }
        EXPECT_FALSE(std::getline(lines, line));
    }
}

TEST_P(BarnesHut, KeepsEnergy) {
    const Scratch folder;
    const json found = report_of(folder, chosen() + Options{"--plummer", "1000", "--steps", "16", "--dt",
                                                            "0.00390625", "--softening", "0.01",
                                                            "--energy-every", "4", "--synthetic-load", "10"});
    EXPECT_EQ(found["energies"].size(), 5u);
    EXPECT_EQ(found["steps"], 16);
    EXPECT_EQ(found["energies"][4]["time"], 0.0625);
    EXPECT_NEAR(found["energies"][0]["total"].get<double>(), -0.25, 0.03);
    EXPECT_LT(found["energy_drift"].get<double>(), 5e-5);
    EXPECT_GT(found["energy_drift"].get<double>(), 0);
    EXPECT_EQ(found["forces_computed"], 17);
    // Of a sphere at rest. Floats, and nodes that pull without being pulled at: 1e-4 of forces of about 1.
    for (const json& totals : {found["energies"][0], found["energies"][4]})
        for (unsigned axis = 0; axis < 3; ++axis) {
            EXPECT_NEAR(totals["momentum"][axis].get<double>(), 0, 1e-5);
            EXPECT_NEAR(totals["angular_momentum"][axis].get<double>(),
                        found["energies"][0]["angular_momentum"][axis].get<double>(), 1e-5);
        }
    EXPECT_GT(found["interactions"]["body_body"].get<double>(), 1000.0 * 17 * 64);
}

/// Device lists.
class BarnesHutSplit : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Lists, BarnesHutSplit,
                         testing::Values(test::two_private_cpus, "cpu,opencl:pocl", "cpu,cuda:0",
                                         "cuda:0,cuda:1"),
                         [](const auto& each) { return test_name(each.param); });

TEST_P(BarnesHutSplit, OverDevicesFindsWhatOneDeviceFinds) {
    const Scratch folder;
    const Options what{"--plummer", "20000", "--steps", "2", "--softening", "0.01", "--policy", "demand:20"};
    for (const char* kernel : {"consumer", "producer", "producer-node"}) {
        const json found = report_of(
            folder, what + Options{"--devices", GetParam(), "--kernel", kernel, "--accelerations", "a.csv"});
        report_of(folder, what + Options{"--devices", "cpu", "--accelerations", "b.csv"});
        expect_near(rows_of(folder, "a.csv"), rows_of(folder, "b.csv"));
        double shares = 0;
        for (const json& device : found["devices"]) shares += device["share"].get<double>();
        EXPECT_NEAR(shares, 1, 1e-9);
    }
}

TEST(BarnesHutBaselines, SayWhatWorkingTogetherGainsAndCountNowhere) {
    HEADRACE_SKIP_WITHOUT("cpu,opencl:pocl");
    const Scratch folder;
    const test::EnvironmentVariable nowhere("HEADRACE_CALIBRATIONS", "");
    const Options what{"--plummer",       "3000",     "--steps",  "2", "--devices",
                       "cpu,opencl:pocl", "--policy", "demand:20"};
    const json without = report_of(folder, what), with = report_of(folder, what + Options{"--baselines"});
    EXPECT_EQ(with["interactions"], without["interactions"]);
    EXPECT_EQ(with["forces_computed"], 3);
    EXPECT_NE(without["heterogeneous_efficiency"].dump().find("--baselines"), std::string::npos);
    ASSERT_TRUE(with["heterogeneous_efficiency"].is_number()) << with["heterogeneous_efficiency"];
    EXPECT_GT(with["heterogeneous_efficiency"], 0);
    EXPECT_GT(with["heterogeneous_speed_up"], with["heterogeneous_efficiency"]);
}

#if defined(HEADRACE_HAS_HDF5)
constexpr std::array file_kinds{".csv", ".npy", ".hdf5"};

TEST(BarnesHutProgram, GoesOnWithSnapshotsOfGadgetFromWhereTheyAre) {
    const Scratch folder;
    const Options what{"--devices", "cpu", "--kernel", "consumer", "--dt", "0.25"};
    const json first = report_of(folder, what + Options{"--plummer", "300", "--steps", "2", "--output",
                                                        "a.hdf5", "--output-every", "1"});
    EXPECT_EQ(first["energies"][1]["time"], 0.5);
    // The time goes on, and so do bodies.
    const json then =
        report_of(folder, what + Options{"--input", "a.000001.hdf5", "--steps", "1", "--output", "b.hdf5"});
    EXPECT_EQ(then["energies"][0]["time"], 0.25);
    EXPECT_EQ(then["energies"][1]["time"], 0.5);
    EXPECT_EQ(text_of(folder, "b.hdf5"), text_of(folder, "a.hdf5"));
    // What bodies are called and when it is are in our own snapshots, too.
    report_of(folder, what + Options{"--input", "a.000001.hdf5", "--steps", "1", "--output", "c.hdf5",
                                     "--snapshot-every", "1"});
    report_of(folder,
              {"--devices", "cpu", "--restart", "c.000001.snapshot", "--steps", "1", "--output", "d.hdf5"});
    EXPECT_EQ(text_of(folder, "d.hdf5"), text_of(folder, "b.hdf5"));
}
#else
constexpr std::array file_kinds{".csv", ".npy"};

TEST(BarnesHutProgram, SaysThatItHasNoHdf5) {
    const Scratch folder;
    folder.write("a.hdf5", "\x89HDF\r\n\x1a\n");
    for (const Options& use :
         {Options{"--input", "a.hdf5"}, Options{"--plummer", "5", "--output", "b.hdf5"}}) {
        const Outcome outcome = run(folder, use);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_NE(outcome.errors.find("built without HDF5"), std::string::npos) << outcome.errors;
    }
}
#endif

TEST(BarnesHutProgram, ReadsWhatItWrites) {
    const Scratch folder;
    for (const std::string end : file_kinds) {
        ASSERT_EQ(run(folder, {"--plummer", "200", "--devices", "cpu", "--output", "bodies" + end,
                               "--accelerations", "a.csv", "--quiet"})
                      .exit_code,
                  0);
        ASSERT_EQ(run(folder,
                      {"--input", "bodies" + end, "--devices", "cpu", "--accelerations", "b.csv", "--quiet"})
                      .exit_code,
                  0);
        EXPECT_EQ(rows_of(folder, "a.csv"), rows_of(folder, "b.csv"));
    }
}

TEST(BarnesHutProgram, KeepsTheOrderOfItsInput) {
    const Scratch folder;
    folder.write("three.csv", "x,y,z,vx,vy,vz,m\n5,0,0,0,0,0,0\n-1,0,0,0,0,0,4\n1,0,0,0,0,0,0\n");
    ASSERT_EQ(run(folder, {"--input", "three.csv", "--devices", "cpu", "--softening", "0", "--accelerations",
                           "a.csv", "--quiet"})
                  .exit_code,
              0);
    expect_near(rows_of(folder, "a.csv"), {{-1.0 / 9, 0, 0}, {0, 0, 0}, {-1, 0, 0}});
    ASSERT_EQ(run(folder, {"--input", "three.csv", "--devices", "cpu", "--accelerations", "a.npy", "--quiet"})
                  .exit_code,
              0);
    EXPECT_NE(text_of(folder, "a.npy").find("'shape': (3, 3)"), std::string::npos);
}

/// Infinite, or not there: what is in one place without softening.
TEST_P(BarnesHut, SaysWhichPotentialsAreInfinite) {
    const Scratch folder;
    folder.write("b.csv", "x,y,z,m\n1,1,1,2\n0,0,0,1\n1,1,1,0\n0,0,0,3\n-0,2,0,4\n0,2,-0,0\n5,5,5,0\n");
    const Options what{"--input", "b.csv", "--potentials", "p.csv", "--softening"};
    const json found = report_of(folder, chosen() + what + Options{"0"});
    EXPECT_TRUE(found["energies"][0]["potential"].is_null());
    std::istringstream lines(text_of(folder, "p.csv"));
    std::string line;
    std::getline(lines, line);
    for (const bool is_infinite : {false, true, true, true, false, true, false}) {
        ASSERT_TRUE(std::getline(lines, line));
        EXPECT_EQ(line == "-inf", is_infinite) << line;
        EXPECT_LT(std::stod(line), 0);
    }
    EXPECT_FALSE(report_of(folder, chosen() + what + Options{"0.1"})["energies"][0]["potential"].is_null());
    EXPECT_EQ(text_of(folder, "p.csv").find("inf"), std::string::npos);
}

TEST(BarnesHutProgram, WritesSnapshotsPicturesAndWhatItDid) {
    const Scratch folder;
    const Outcome outcome =
        run(folder, {"--plummer", "500", "--steps", "4", "--devices", "cpu", "--output", "out.csv",
                     "--output-every", "2", "--image", "out.png", "--trace", "trace.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_NE(outcome.output.find("energy drift"), std::string::npos) << outcome.output;
    EXPECT_EQ(folder.list(), (std::vector<std::string>{"out.000000.csv", "out.000002.csv", "out.000004.csv",
                                                       "out.csv", "out.png", "trace.json"}));
    EXPECT_EQ(text_of(folder, "out.csv"), text_of(folder, "out.000004.csv"));
    EXPECT_NE(text_of(folder, "out.csv"), text_of(folder, "out.000002.csv"));
    EXPECT_EQ(text_of(folder, "out.png").substr(1, 3), "PNG");
    EXPECT_FALSE(json::parse(text_of(folder, "trace.json"), nullptr, false).is_discarded());
}

/// The Earth on its way around the Sun, in metres, seconds and kilograms.
TEST(BarnesHutProgram, TakesTheConstantOfAnyUnits) {
    const Scratch folder;
    folder.write("sun.csv",
                 "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1.98892e30\n1.495978707e11,0,0,0,29788.5570,0,5.9722e24\n");
    const json found = report_of(folder, {"--input", "sun.csv", "--G", "6.6743e-11", "--softening", "0",
                                          "--steps", "1000", "--dt", "31554.1013", "--devices", "cpu",
                                          "--kernel", "consumer", "--output", "after.csv"});
    EXPECT_EQ(found["G"], 6.6743e-11);
    std::istringstream text(text_of(folder, "after.csv"));
    std::string line;
    for (int i = 0; i < 3; ++i) std::getline(text, line);
    double x = 0, y = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf", &x, &y), 2) << line;
    // A year later: leapfrog with 1000 steps is 1e-5 late, and the Sun has moved by 3e6.
    EXPECT_NEAR(x, 1.495978707e11, 1e7);
    EXPECT_NEAR(y, 0, 1e7);
    const json& first = found["energies"][0];
    EXPECT_NEAR(first["total"].get<double>(), -2.64973e+33, 1e28); // - G m M / 2 r
    EXPECT_NEAR(first["momentum"][1].get<double>(), 1.77903e+29, 1e24);
    EXPECT_NEAR(first["angular_momentum"][2].get<double>(), 2.66139e+40, 1e35);
    EXPECT_NEAR(found["energies"][1]["angular_momentum"][2].get<double>(), 2.66139e+40, 1e35);
}

TEST(BarnesHutProgram, SaysWhatItsUnitsAndItsCriterionAre) {
    const Scratch folder;
    const Outcome outcome = run(folder, {"--help"});
    EXPECT_EQ(outcome.exit_code, 0);
    for (const char* word : {"G = 1", "size / theta", "softening^2", "leapfrog", "ax,ay,az"})
        EXPECT_NE(outcome.output.find(word), std::string::npos) << word;
}

TEST(BarnesHutProgram, RefusesInOneLineWhatCannotBe) {
    const Scratch folder;
    folder.write("bad.csv", "1,2,3,4,5,6,7\n1,2,3,4,x,6,7\n");
    folder.write("bad.npy", "no array");
    folder.write("none.csv", "\n");
    folder.write("bad.txt", "1,5;2;3;4;5;6;7\n");
    const auto refuses = [&](const Options& options, std::initializer_list<const char*> words) {
        const Outcome outcome = run(folder, options + Options{"--devices", "cpu"});
        SCOPED_TRACE(outcome.errors);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
        for (const char* word : words) EXPECT_NE(outcome.errors.find(word), std::string::npos) << word;
        EXPECT_TRUE(outcome.output.empty());
    };
    refuses({}, {"--input", "--plummer"});
    refuses({"--input", "bad.csv", "--plummer", "5"}, {"either"});
    refuses({"--input", "bad.csv"}, {"bad.csv: line 2: field 5 (vy): \"x\" is no number"});
    refuses({"--input", "bad.npy"}, {"bad.npy", "no .npy file"});
    refuses({"--input", "none.csv"}, {"none.csv: has no bodies"});
    refuses({"--input", "lost.csv"}, {"lost.csv", "cannot be read"});
    refuses({"--input", "bad.txt"}, {"bad.txt", "line 1: field 1 (x): \"1,5\" is no number"});
    refuses({"--plummer", "5", "--theta", "1.5"}, {"--theta 1.5"});
    refuses({"--plummer", "5", "--softening", "-1"}, {"--softening"});
    for (const char* constant : {"0", "-1", "nan", "inf", "1e101", "six", ""})
        refuses({"--plummer", "5", "--G", constant}, {"--G", "takes a number from 1e-100 to 1e+100"});
    refuses({"--plummer", "5", "--order", "octupole"}, {"--order octupole"});
    refuses({"--plummer", "5", "--kernel", "both"}, {"--kernel both"});
    refuses({"--plummer", "5", "--steps", "-1"}, {"--steps -1"});
    refuses({"--plummer", "5", "--output", "out.txt"}, {"--output out.txt", ".csv, .npy or .hdf5"});
    refuses({"--plummer", "5", "--accelerations", "no/folder/a.csv"}, {"no/folder"});
    refuses({"--plummer", "5", "--potentials", "p.txt"}, {"--potentials p.txt", ".csv or .npy"});
    refuses({"--plummer", "5", "--potentials", "p.csv", "--output", "p.csv"}, {"--potentials", "--output"});
    refuses({"--plummer", "5", "--image", "out.jpg"}, {"--image out.jpg", ".png"});
    refuses({"--plummer", "5", "--output-every", "2"}, {"--output-every", "--output"});
}

} // namespace
} // namespace headrace::end_to_end
