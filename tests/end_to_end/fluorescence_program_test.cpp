// headrace-fluorescence as a user runs it: known answers on every device with both kernels, over splits, and
// what can be wrong with what it is given.
#include "end_to_end/path_tracer.hpp" // which devices there are

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>

namespace headrace::end_to_end {
namespace {

using nlohmann::json;

const char* const tissue = R"(n_above = 1
n_below = 1.3
seed = 5
[grid]
dz = 0.005
dr = 0.01
nz = 22
nr = 30
na = 9
[[layer]]
n = 1.45
mua = 16
mus = 400
g = 0.8
d = 0.01
emission = { mua = 12, mus = 370, g = 0.8 }
[[layer]]
n = 1.40
mua = 3
mus = 250
g = 0.8
d = 0.10
fluorophore = { mua = 1, quantum_yield = 0.3 }
)";
const char* const mcmls_sample = "1.0\n1\ns.mco A\n100\n0.01 0.01\n40 50 30\n3\n1.0\n1.37 1 100 .9 .1\n"
                                 "1.37 1 10 0 .1\n1.37 2 10 .7 .2\n1.0\n";

Outcome run(const Scratch& folder, const Options& options) {
    return Program(HEADRACE_FLUORESCENCE, options, folder.path()).wait();
}

/// The report of a run that must succeed.
json report_of(const Scratch& folder, const std::string& input, const Options& options) {
    const Outcome outcome = run(folder, Options{"--input", input, "--quiet", "--report", "r.json"} + options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(outcome.output.empty());
    std::ifstream stream(folder.path() / "r.json");
    return json::parse(stream, nullptr, false);
}

double value(const json& figure) { return figure.at("value").get<double>(); }
double error(const json& figure) { return figure.at("standard_error").get<double>(); }

void expect_energy(const json& found) {
    EXPECT_NEAR(value(found["specular"]) + value(found["Rd"]) + value(found["Tt"]) + value(found["A"]), 1,
                2e-9);
    const json& light = found["fluorescence"];
    EXPECT_NEAR(value(light["emitted"]),
                value(light["escaped_top"]) + value(light["escaped_bottom"]) + value(light["absorbed"]),
                1e-12);
}

/// Device, kernel.
class Fluorescence : public testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(std::get<0>(GetParam())); }
    [[nodiscard]] static Options chosen() {
        return {"--devices", std::get<0>(GetParam()), "--kernel", std::get<1>(GetParam())};
    }
};

INSTANTIATE_TEST_SUITE_P(Every, Fluorescence,
                         testing::Combine(testing::ValuesIn(every_device),
                                          testing::Values("consumer", "producer")),
                         [](const auto& each) {
                             return test_name(std::get<0>(each.param)) + "_" + std::get<1>(each.param);
                         });

TEST_P(Fluorescence, FindsWhatMcmlsManualFinds) {
    const Scratch folder;
    folder.write("sample.mci", mcmls_sample);
    const json found = report_of(folder, "sample.mci", chosen() + Options{"--photons", "100000"});
    const auto expect = [&](const char* figure, double expected, double by) {
        EXPECT_NEAR(value(found[figure]), expected, 5.5 * std::hypot(error(found[figure]), by)) << figure;
    };
    EXPECT_NEAR(value(found["specular"]), 0.024373, 1e-6);
    expect("Rd", 0.23792, 0.00020);
    expect("A", 0.64153, 0.00020);
    expect("Tt", 0.09617, 0.00011);
    expect_energy(found);
}

// Packets are the same on every device but for the last bits of functions, which decide little.
TEST_P(Fluorescence, FindsWhatTheProcessorFinds) {
    const Scratch folder;
    folder.write("skin.toml", tissue);
    const json found = report_of(folder, "skin.toml", chosen() + Options{"--photons", "20000"});
    const json expected =
        report_of(folder, "skin.toml", {"--devices", "cpu", "--kernel", "consumer", "--photons", "20000"});
    for (const char* figure : {"Rd", "Tt", "A"})
        EXPECT_NEAR(value(found[figure]), value(expected[figure]), 0.5 * error(expected[figure])) << figure;
    for (const char* figure : {"emitted", "escaped_top", "escaped_bottom", "absorbed"}) {
        const json &a = found["fluorescence"][figure], &b = expected["fluorescence"][figure];
        EXPECT_NEAR(value(a), value(b), 0.5 * error(b)) << figure;
    }
    expect_energy(found);
}

TEST_P(Fluorescence, FindsTheSameAgain) {
    const Scratch folder;
    folder.write("skin.toml", tissue);
    json reports[2];
    for (json& found : reports) {
        found =
            report_of(folder, "skin.toml", chosen() + Options{"--photons", "3000", "--policy", "demand:7"});
        for (const char* figure : {"seconds", "devices", "left_out", "balance"}) found.erase(figure);
    }
    EXPECT_EQ(reports[0]["Rd"], reports[1]["Rd"]);
    EXPECT_EQ(reports[0]["fluorescence"], reports[1]["fluorescence"]);
}

/// Device lists.
class FluorescenceSplit : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Lists, FluorescenceSplit,
                         testing::Values(test::two_private_cpus, "cpu,opencl:pocl", "cpu,cuda:0",
                                         "cpu,cuda:0,opencl:pocl"),
                         [](const auto& each) { return test_name(each.param); });

TEST_P(FluorescenceSplit, OverDevicesFindsWhatOneDeviceFinds) {
    const Scratch folder;
    folder.write("skin.toml", tissue);
    const json found =
        report_of(folder, "skin.toml",
                  {"--devices", GetParam(), "--photons", "20000", "--grids", "g", "--policy", "demand:20"});
    const json expected = report_of(folder, "skin.toml", {"--devices", "cpu", "--photons", "20000"});
    EXPECT_NEAR(value(found["Rd"]), value(expected["Rd"]), 0.5 * error(expected["Rd"]));
    EXPECT_NEAR(value(found["fluorescence"]["emitted"]), value(expected["fluorescence"]["emitted"]),
                0.5 * error(expected["fluorescence"]["emitted"]));
    expect_energy(found);
    double shares = 0;
    for (const json& device : found["devices"]) shares += device["share"].get<double>();
    EXPECT_NEAR(shares, 1, 1e-9);
}

TEST(FluorescenceProgram, WritesGridsThatNumpyReads) {
    const Scratch folder;
    folder.write("skin.toml", tissue);
    for (const auto& [grid, shape] : {std::pair("rz", "(22, 30)"), std::pair("xyz", "(22, 60, 60)")}) {
        const Outcome outcome = run(folder, {"--input", "skin.toml", "--photons", "1000", "--devices", "cpu",
                                             "--grid", grid, "--grids", grid});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
        EXPECT_NE(outcome.output.find("fluorescence emitted"), std::string::npos);
        for (const char* name : {"absorption", "reflectance", "transmittance", "emission_absorption",
                                 "emission_top", "emission_bottom", "fluence", "emission_fluence"}) {
            std::ifstream stream(folder.path() / (std::string(grid) + "." + name + ".npy"), std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
            ASSERT_GT(bytes.size(), 128u) << name;
            EXPECT_EQ(bytes.substr(1, 5), "NUMPY");
            const bool is_by_depth =
                std::string(name).ends_with("absorption") || std::string(name).ends_with("fluence");
            EXPECT_EQ(bytes.find(shape) != std::string::npos, is_by_depth) << bytes.substr(0, 128);
        }
    }
    const Outcome without = run(folder, {"--input", "skin.toml", "--photons", "1000", "--devices", "cpu",
                                         "--no-fluence", "--grids", "less"});
    EXPECT_EQ(without.exit_code, 0) << without.errors;
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "less.absorption.npy"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "less.fluence.npy"));
}

TEST(FluorescenceProgram, ReportsDetectorsAndWritesGates) {
    const Scratch folder;
    folder.write("skin.toml",
                 std::string(tissue) +
                     "[source]\nkind = 'disc'\nradius = 0.02\n[[detector]]\nposition = [0.05, 0]\n"
                     "radius = 0.05\nnumerical_aperture = 0.5\n[time]\nstep = 5\ngates = 40\n");
    const json found =
        report_of(folder, "skin.toml", {"--photons", "5000", "--devices", "cpu", "--grids", "g"});
    const json& detector = found["detectors"].at(0);
    EXPECT_GT(detector["packets"].get<int>(), 0);
    EXPECT_GT(value(detector["part"]), 0);
    EXPECT_EQ(detector["mean_path_per_layer"].size(), 2u);
    EXPECT_EQ(detector["numerical_aperture"], 0.5);
    EXPECT_TRUE(detector.contains("fluorescence"));
    for (const char* which : {"time_", "emission_time_"})
        for (const auto& [name, shape] :
             {std::pair("reflectance", "(40, )"), std::pair("transmittance", "(40, )"),
              std::pair("detectors", "(1, 40)")}) {
            std::ifstream stream(folder.path() / ("g." + std::string(which) + name + ".npy"),
                                 std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
            EXPECT_NE(bytes.find(shape), std::string::npos) << which << name;
        }
}

TEST(FluorescenceProgram, WritesMcmlsResultsUnderTheNamesThatItsInputSays) {
    const Scratch folder;
    std::string elsewhere = mcmls_sample;
    elsewhere.replace(elsewhere.find("s.mco"), 5, "../../s.mco"); // must not leave the folder
    folder.write("sample.mci", elsewhere);
    const Outcome outcome = run(folder, {"--input", "sample.mci", "--devices", "cpu", "--mco", "."});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    std::ifstream stream(folder.path() / "s.mco");
    std::string first;
    std::getline(stream, first);
    EXPECT_TRUE(first.starts_with("A1")) << first;
}

TEST(FluorescenceProgram, RefusesResultsThatWouldTakeEachOthersPlace) {
    const Scratch folder;
    std::string two = mcmls_sample;
    two.replace(two.find("\n1\n"), 3, "\n2\n");
    const std::string run_two = two.substr(two.find("s.mco"));
    const auto exit_code = [&](const std::string& second) {
        std::string text = two + run_two;
        text.replace(text.rfind("s.mco"), 5, second);
        folder.write("two.mci", text);
        std::filesystem::remove(folder.path() / "s.mco");
        const Outcome outcome = run(folder, {"--input", "two.mci", "--devices", "cpu", "--mco", "."});
        if (outcome.exit_code == 2) {
            EXPECT_NE(outcome.errors.find("runs 1 and 2"), std::string::npos) << outcome.errors;
            EXPECT_FALSE(std::filesystem::exists(folder.path() / "s.mco"));
        }
        return outcome.exit_code;
    };
    EXPECT_EQ(exit_code("s.mco"), 2);
    EXPECT_EQ(exit_code("elsewhere/s.mco"), 2); // folders are not followed
    EXPECT_EQ(exit_code("t.mco"), 0);
    std::filesystem::remove(folder.path() / "t.mco");
    folder.write("u.mco", "");
    std::filesystem::create_symlink("u.mco", folder.path() / "t.mco");
    std::string linked = two + run_two;
    linked.replace(linked.find("s.mco"), 5, "u.mco");
    linked.replace(linked.rfind("s.mco"), 5, "t.mco");
    folder.write("two.mci", linked);
    EXPECT_EQ(run(folder, {"--input", "two.mci", "--devices", "cpu", "--mco", "."}).exit_code, 2);
}

TEST(FluorescenceProgram, SendsNoControlCharactersToTheTerminal) {
    const Scratch folder;
    folder.write("wrong.mci", "1.0\n1\na.mco A\n1\x1b[31mX\n");
    folder.write("name.toml", std::string("name = \"a\\u001b[31mb\\u009bc\"\n") + tissue);
    const Outcome wrong = run(folder, {"--input", "wrong.mci", "--devices", "cpu"});
    EXPECT_EQ(wrong.exit_code, 2);
    const Outcome named = run(folder, {"--input", "name.toml", "--devices", "cpu", "--photons", "10"});
    EXPECT_EQ(named.exit_code, 0);
    EXPECT_NE(named.output.find("a?[31mb?c: 10 packets"), std::string::npos) << named.output;
    const Outcome option = run(folder, {"--input", "no\x1b[31m.mci", "--devices", "cpu"});
    EXPECT_EQ(option.exit_code, 2);
    for (const std::string& text : {wrong.errors, named.output, named.errors, option.errors})
        EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST(FluorescenceProgram, SaysWhatItCutOff) {
    const Scratch folder;
    folder.write("endless.mci", "1.0\n1\na.mco A\n2000\n1 1\n10 10 1\n1\n1\n1.4 0 100 0 inf\n1\n");
    const Outcome outcome =
        run(folder, {"--input", "endless.mci", "--devices", "cpu", "--most-steps", "1000", "--quiet"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.errors.find("still under way after 1000 steps"), std::string::npos) << outcome.errors;
}

TEST(FluorescenceProgram, SaysThatGatesNeedGrids) {
    const Scratch folder;
    folder.write("skin.toml", std::string(tissue) + "[time]\nstep = 5\ngates = 40\n");
    const Options options{"--input", "skin.toml", "--photons", "100", "--devices", "cpu", "--quiet"};
    const Outcome without = run(folder, options), with = run(folder, options + Options{"--grids", "g"});
    EXPECT_EQ(without.exit_code, 0);
    EXPECT_NE(without.errors.find("[time] are not written without --grids"), std::string::npos)
        << without.errors;
    EXPECT_EQ(with.errors, "");
}

TEST(FluorescenceProgram, GivesEmissionTheLayersG) {
    const Scratch folder;
    const auto write = [&](const std::string& name, const std::string& g) {
        folder.write(name, "seed = 5\n[[layer]]\nn = 1.4\nmua = 3\nmus = 100\ng = 0.9\nd = 0.1\n"
                           "emission = { mua = 1, mus = 100" +
                               g + " }\nfluorophore = { mua = 1, quantum_yield = 0.5 }\n");
    };
    write("left_out.toml", "");
    write("given.toml", ", g = 0.9");
    write("other.toml", ", g = 0.0");
    const auto light = [&](const std::string& input) {
        return report_of(folder, input, {"--devices", "cpu", "--photons", "5000"})["fluorescence"];
    };
    EXPECT_EQ(light("left_out.toml"), light("given.toml"));
    EXPECT_NE(light("other.toml"), light("given.toml"));
}

TEST(FluorescenceProgram, RunsEveryRunOfAFile) {
    const Scratch folder;
    std::string two = mcmls_sample;
    two.replace(two.find("\n1\n"), 3, "\n2\n");
    two += two.substr(two.find("s.mco"));
    folder.write("two.mci", two);
    const json found = report_of(folder, "two.mci", {"--devices", "cpu", "--plot", "light.png"});
    ASSERT_EQ(found["runs"].size(), 2u);
    for (const char* name : {"light.1.png", "light.2.png"}) {
        std::ifstream stream(folder.path() / name, std::ios::binary);
        std::string begin(8, ' ');
        stream.read(begin.data(), 8);
        EXPECT_EQ(begin, "\x89PNG\r\n\x1a\n") << name;
    }
    EXPECT_EQ(found["runs"][0]["Rd"], found["runs"][1]["Rd"]);
    EXPECT_TRUE(found["runs"][0]["Rd"]["standard_error"].is_null()); // 100 packets are too few to tell
}

TEST(FluorescenceProgram, RefusesInOneLineWhatCannotBe) {
    const Scratch folder;
    folder.write("skin.toml", tissue);
    const auto with_phase = [](const std::string& phase) {
        return std::string(tissue).replace(std::string(tissue).find("g = 0.8"), 7, "phase = " + phase);
    };
    folder.write("air.toml", with_phase("'rayleigh'"));
    folder.write("cut.mci", std::string(mcmls_sample).substr(0, 60));
    folder.write("large.toml", std::string(tissue).replace(std::string(tissue).find("nr = 30"), 7,
                                                           "nr = 1000000\nnx = 1000000"));
    const auto refuses = [&](const Options& options, std::initializer_list<const char*> words) {
        const Outcome outcome = run(folder, options + Options{"--devices", "cpu"});
        SCOPED_TRACE(outcome.errors);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
        for (const char* word : words) EXPECT_NE(outcome.errors.find(word), std::string::npos) << word;
        EXPECT_TRUE(outcome.output.empty());
    };
    refuses({}, {"--input"});
    refuses({"--input", "lost.mci"}, {"lost.mci", "no such file"});
    refuses({"--input", "cut.mci"}, {"cut.mci: line"});
    refuses({"--input", "skin.toml", "--emission-weight", "0"}, {"--emission-weight"});
    refuses({"--input", "skin.toml", "--kernel", "both"}, {"--kernel"});
    refuses({"--input", "skin.toml", "--report", "no/folder/r.json"}, {"no/folder"});
    refuses({"--input", "skin.toml", "--grids", "no/folder/g"}, {"no/folder"});
    refuses({"--input", "large.toml", "--grid", "xyz"}, {"2^31"});
    folder.write("depths.toml",
                 "[grid]\ndz = 0.01\ndr = 1e12\nnr = 1\n[[layer]]\nn = 1.4\nmua = 2\nmus = 60\n"
                 "d = 0.1\n[[layer]]\nn = 1\nmua = 0\nmus = 0\nd = inf\n");
    refuses({"--input", "depths.toml", "--grids", "g"}, {"cells are too thin", "--no-fluence"});
    refuses({"--input", "skin.toml", "--plot", "no/folder/p.png"}, {"no/folder"});
    refuses({"--input", "skin.toml", "--mco", "no/folder"}, {"no/folder"});
    refuses({"--input", "skin.toml", "--mco", ".", "--grid", "xyz"}, {"--mco", "--grid rz"});
    refuses({"--input", "air.toml", "--mco", "."}, {"--mco", "phase function"});
    folder.write("p.csv", "cos_theta,p\n-1,1\n1,1\n");
    folder.write("mie.toml", with_phase("{ kind = 'tabulated', file = 'p.csv' }"));
    refuses({"--input", "mie.toml", "--report", "p.csv"}, {"p.csv", "--report"}); // not over an input
}

} // namespace
} // namespace headrace::end_to_end
