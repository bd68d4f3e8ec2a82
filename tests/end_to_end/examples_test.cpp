// apps/examples/ as a user runs it: every example on every list of devices. Each compares its result with a
// serial version, and says by its exit code whether they agree.
#include "end_to_end/path_tracer.hpp" // which devices there are

#include <core/environment_variable.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace::end_to_end {
namespace {

struct Example {
    const char* program; ///< behind "headrace-"
    const char* size;
    const char*
        answer; ///< that it prints: known, or computed by a program that has no line in common with it
};

constexpr Example every_example[] = {
    {"n-queens", "1", "1 queens: 1 solutions\n"},
    {"n-queens", "3", "3 queens: 0 solutions\n"},
    {"n-queens", "8", "8 queens: 92 solutions\n"},
    {"n-queens", "10", "10 queens: 724 solutions\n"},
    {"primes", "1", "2 primes\n"},
    {"primes", "49", "25 primes\n"},
    {"primes", "500000", "78498 primes\n"},
    {"quadrature", "1", "integral: 3136.8307621"}, // 1000 (atan 700 + atan 300)
    {"quadrature", "500", "integral: 3136.8307621"},
    {"two-jobs", "30000", "496 numbers take 51 steps"},
    {"breadth-first", "1", "0 of 1 vertices cannot be reached\n"},
    {"breadth-first", "100000", "209 of 100000 vertices cannot be reached\n"},
    {"shortest-paths", "1", "the farthest field is at a distance of 0\n"},
    {"shortest-paths", "40", "the farthest field is at a distance of 263\n"},
    {"tree-search", "1", "1 nodes, depth 1\n"},
    {"tree-search", "1000", "25444 nodes, depth 36\n"},
    {"mariani-silver", "200", "65536 pixels, 0 of them wrong"},
#ifdef HEADRACE_HAS_BATCHED_PRODUCTS
    {"batched-products", "1", "1 products of 16 x 16\n"},
    {"batched-products", "1000", "1000 products of 16 x 16\n"},
#endif
};

Outcome run(const Scratch& folder, const std::string& program, const Options& options) {
    return Program(HEADRACE_PROGRAMS "/headrace-" + program, options, folder.path()).wait();
}

void run_well(const Scratch& folder, const Example& example, const char* devices) {
    const Outcome outcome = run(folder, example.program, {example.size, "--devices", devices});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(outcome.output.starts_with(example.answer)) << outcome.output;
}

class Examples : public testing::TestWithParam<std::tuple<Example, const char*>> {};

std::string name_of(const testing::TestParamInfo<Examples::ParamType>& info) {
    const auto& [example, devices] = info.param;
    return test_name(std::string(example.program) + "_" + example.size + "_" + devices);
}
INSTANTIATE_TEST_SUITE_P(On, Examples,
                         testing::Combine(testing::ValuesIn(every_example),
                                          testing::Values("cpu", test::two_private_cpus, "opencl:pocl",
                                                          "cuda:0", "cpu,opencl:pocl", "cpu,cuda:0")),
                         name_of);

TEST_P(Examples, HaveTheResultOfTheSerialVersionAndTheKnownOne) {
    const auto& [example, devices] = GetParam();
    HEADRACE_SKIP_WITHOUT(devices);
    const Scratch folder;
    run_well(folder, example, devices);
}

/// An example in sizes that grow, from work enough for two processors on.
struct MixedExample {
    const char* program;
    std::vector<std::pair<const char*, const char*>> sizes; ///< and the answer
    /// False: a GPU is through, in all sizes that the serial version can check, before it would pay to give
    /// the processor a part.
    bool needs_both_with_a_gpu = true;
};

const MixedExample mixed_examples[] = {
    {"n-queens",
     {{"12", "12 queens: 14200 solutions\n"},
      {"14", "14 queens: 365596 solutions\n"},
      {"15", "15 queens: 2279184 solutions\n"}},
     false},
    {"primes", {{"100000", ""}, {"1000000", ""}, {"3000000", ""}}, false},
    {"quadrature", {{"5000", "integral: 3136.8307621"}, {"500000", "integral: 3136.8307621"}}},
    {"two-jobs", {{"300000", ""}, {"3000000", ""}}},
    {"breadth-first", {{"100000", "209 of 100000 vertices cannot be reached\n"}, {"1000000", ""}}},
    {"shortest-paths", {{"100", ""}, {"400", ""}, {"1600", ""}}},
    {"tree-search", {{"10000", ""}, {"100000", ""}}},
    {"mariani-silver", {{"400", ""}, {"2000", ""}, {"8000", ""}}},
#ifdef HEADRACE_HAS_BATCHED_PRODUCTS
    {"batched-products", {{"20000", "20000 products of 16 x 16\n"}}},
#endif
};

class ExamplesOfMixes : public testing::TestWithParam<std::tuple<MixedExample, const char*>> {};
std::string name_of_mix(const testing::TestParamInfo<ExamplesOfMixes::ParamType>& info) {
    const auto& [example, devices] = info.param;
    return test_name(std::string(example.program) + "_" + devices);
}
INSTANTIATE_TEST_SUITE_P(On, ExamplesOfMixes,
                         testing::Combine(testing::ValuesIn(mixed_examples),
                                          testing::Values("cpu,opencl:pocl", "cpu,cuda:0")),
                         name_of_mix);

/// Devices whose speed was measured have worked.
std::set<std::string> devices_that_worked(const std::filesystem::path& measurements) {
    std::ifstream file(measurements);
    std::set<std::string> worked;
    for (const auto measured = nlohmann::json::parse(file); const auto& entry : measured.at("entries"))
        if (entry.contains("units_per_second")) worked.insert(entry.at("device"));
    return worked;
}

/// A GPU may end small work before the processor has begun. So larger sizes follow until both have worked.
TEST_P(ExamplesOfMixes, AreRightAndBothDevicesWorkWhereThereIsEnoughToDo) {
    const auto& [example, devices] = GetParam();
    HEADRACE_SKIP_WITHOUT(devices);
    const Scratch folder;
    for (const auto& [size, answer] : example.sizes) {
        const auto measurements = folder.path() / (std::string(size) + ".json");
        const test::EnvironmentVariable variable("HEADRACE_CALIBRATIONS", measurements.string());
        run_well(folder, {example.program, size, answer}, devices);
        if (devices_that_worked(measurements).size() == 2) return;
    }
    const bool has_gpu = std::string_view(devices).find("cuda") != std::string_view::npos;
    EXPECT_TRUE(has_gpu && !example.needs_both_with_a_gpu) << "one device did all, whatever the size";
}

TEST(ExamplesMistakes, AreToldInALine) {
    const Scratch folder;
    const std::pair<Options, const char*> mistakes[] = {
        {{"--size", "8"}, "usage"},
        {{"many"}, "usage"},
        {{"8", "--devices"}, "usage"},
        {{"0"}, "SIZE"},
        {{"99"}, "SIZE"},
        {{"8", "--devices", "abacus:0"}, "abacus:0"},
        {{"12345678901234567890"}, "usage"},
    };
    for (const auto& [options, words] : mistakes) {
        const Outcome outcome = run(folder, "n-queens", options);
        EXPECT_EQ(outcome.exit_code, 2) << words << ": " << outcome.errors;
        EXPECT_NE(outcome.errors.find(words), std::string::npos) << outcome.errors;
        EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
        EXPECT_TRUE(outcome.output.empty());
    }
}

} // namespace
} // namespace headrace::end_to_end
