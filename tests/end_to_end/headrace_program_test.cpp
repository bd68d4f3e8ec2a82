// tests/end_to_end/headrace_program_test.cpp - `headrace devices` as a user runs it.
#include "end_to_end/path_tracer.hpp"
#include "end_to_end/program.hpp"
#include <core/environment_variable.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

namespace headrace::end_to_end {
namespace {

class HeadraceProgram : public testing::Test {
protected:
    [[nodiscard]] Outcome run(std::vector<std::string> arguments) const {
        return Program(HEADRACE_PROGRAM, std::move(arguments), folder_.path()).wait();
    }
    [[nodiscard]] nlohmann::json inventory(const std::string& devices) const {
        const Outcome outcome = run({"devices", "--devices", devices, "--json"});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        return nlohmann::json::parse(outcome.output);
    }
    /// One line on stderr with each of `words`, nothing on stdout.
    void expect_refusal(const std::vector<std::string>& arguments,
                        std::initializer_list<const char*> words) const {
        const Outcome outcome = run(arguments);
        SCOPED_TRACE(outcome.errors);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << "not one line";
        for (const char* word : words) EXPECT_NE(outcome.errors.find(word), std::string::npos) << word;
        EXPECT_TRUE(outcome.output.empty()) << outcome.output;
    }

    Scratch folder_;
};

TEST_F(HeadraceProgram, CalibratingFillsTheModelsAndListsThem) {
    const auto file = folder_.path() / "calibrations.json";
    const test::EnvironmentVariable where("HEADRACE_CALIBRATIONS", file.string());
    const Outcome outcome = run({"calibrate", "--devices", "cpu", "--small", "--repeat", "2"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_NE(outcome.errors.find("100"), std::string::npos) << "progress: " << outcome.errors;
    EXPECT_NE(outcome.output.find("mandelbrot"), std::string::npos) << outcome.output;
    const auto calibrations = inventory("cpu").at("calibrations");
    ASSERT_GE(calibrations.size(), 14u) << "seven problems, each with a rate and a time";
    for (const auto& entry : calibrations) {
        EXPECT_EQ(entry.at("measurements"), 2);
        EXPECT_GE(entry.at("spread"), 0);
        EXPECT_GE(entry.at("age_seconds"), 0);
    }
}

TEST_F(HeadraceProgram, DevicesOfAFileAreCalibratedAsTheFileHasThem) {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "this machine has one core";
    folder_.write("two.toml", "[[node]]\n"
                              "[[node.device]]\nkind = \"cpu\"\nthreads = 1\n"
                              "[[node.device]]\nkind = \"cpu\"\nthreads = 1\n");
    const test::EnvironmentVariable where("HEADRACE_CALIBRATIONS", (folder_.path() / "c.json").string());
    const Outcome outcome =
        run({"calibrate", "--devices", "@two.toml", "--small", "--repeat", "1", "--quiet"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    const auto calibrations = inventory("cpu").at("calibrations");
    ASSERT_GE(calibrations.size(), 14u);
    for (const auto& entry : calibrations) {
        EXPECT_EQ(entry.at("measurements"), 2) << "of two devices that are alike";
        EXPECT_NE(entry.at("device").get<std::string>().find(" / "), std::string::npos) << entry.dump();
    }
}

TEST_F(HeadraceProgram, CalibratingNeedsAFile) {
    const test::EnvironmentVariable nowhere("HEADRACE_CALIBRATIONS", "");
    expect_refusal({"calibrate", "--small"}, {"HEADRACE_CALIBRATIONS"});
    const test::EnvironmentVariable never("HEADRACE_CALIBRATIONS", "/proc/no such/c.json");
    expect_refusal({"calibrate", "--small"}, {"/proc/no such"});
}

TEST_F(HeadraceProgram, EveryDeviceIsListedWithWhatItCanDo) {
    const auto all = inventory("all");
    ASSERT_FALSE(all.at("devices").empty());
    EXPECT_EQ(all.at("devices")[0].at("id"), "cpu");
    for (const auto& device : all.at("devices")) {
        SCOPED_TRACE(device.dump());
        for (const char* text : {"id", "name", "technology", "driver", "physical_id", "kind"})
            EXPECT_FALSE(device.at(text).get<std::string>().empty()) << text;
        for (const char* number :
             {"memory", "largest_allocation", "compute_units", "lane_group", "peak_gflops"})
            EXPECT_GT(device.at(number).get<double>(), 0) << number;
        EXPECT_LE(device.at("free_memory"), device.at("memory"));
        EXPECT_TRUE(device.at("shares_host_memory").is_boolean() && device.at("hears_host").is_boolean());
        EXPECT_TRUE(device.at("reaches").is_array());
        const auto& meter = device.at("energy_meter");
        EXPECT_FALSE((meter.is_string() ? meter : meter.at("absent")).get<std::string>().empty());
    }
    for (const auto& device : all.at("left_out")) {
        EXPECT_FALSE(device.at("id").get<std::string>().empty());
        EXPECT_FALSE(device.at("why").get<std::string>().empty()) << device.at("id");
    }
}

TEST_F(HeadraceProgram, WhateverThisBuildHasIsUsedOrLeftOutInWords) {
    const auto all = inventory("all");
    for (const std::string technology : {"cpu", "cuda", "hip", "opencl"}) {
        const auto is_of = [&](const auto& device) {
            return device.at("id").template get<std::string>().starts_with(technology);
        };
        EXPECT_TRUE(std::ranges::any_of(all.at("devices"), is_of) ||
                    std::ranges::any_of(all.at("left_out"), is_of))
            << technology;
    }
}

TEST_F(HeadraceProgram, TheTableHasTheSameDevices) {
    const Outcome outcome = run({"devices"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    const auto all = inventory("all");
    for (const auto& device : all.at("devices"))
        EXPECT_NE(outcome.output.find(device.at("id").get<std::string>() + ": " +
                                      device.at("name").get<std::string>() + "\n"),
                  std::string::npos);
    for (const auto& device : all.at("left_out"))
        EXPECT_NE(outcome.output.find("left out: " + device.at("why").get<std::string>()), std::string::npos);
}

TEST_F(HeadraceProgram, AListIsOpenedAsProgramsWould) {
    HEADRACE_SKIP_WITHOUT("cpu,opencl:pocl");
    const auto both = inventory("opencl:pocl,cpu");
    ASSERT_EQ(both.at("devices").size(), 2U);
    EXPECT_EQ(both.at("devices")[0].at("technology"), "opencl");
    EXPECT_EQ(both.at("devices")[0].at("physical_id"), both.at("devices")[1].at("physical_id"));
    EXPECT_EQ(both.at("devices")[0].at("energy_meter"), both.at("devices")[1].at("energy_meter"));
}

TEST_F(HeadraceProgram, SaysWhatIsWrongWithACommand) {
    expect_refusal({}, {"headrace:", "devices"});
    expect_refusal({"device"}, {"\"device\"", "devices"});
    expect_refusal({"--colour"}, {"--colour"});
    expect_refusal({"devices", "--colour"}, {"headrace devices:", "--colour"});
    expect_refusal({"devices", "cpu"}, {"cpu"});
}

TEST_F(HeadraceProgram, SaysWhatIsWrongWithADeviceList) {
    for (const char* list : {"toaster", "cuda:99", "cpu,toaster", "cpu:"})
        expect_refusal({"devices", "--devices", list}, {"headrace devices:", "cpu"});
    expect_refusal({"devices", "--devices", "@lost.toml"}, {"lost.toml"});
}

TEST_F(HeadraceProgram, HelpNamesTheCommands) {
    const Outcome help = run({"--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.output.find("headrace devices"), std::string::npos);
    EXPECT_NE(run({"devices", "--help"}).output.find("--json"), std::string::npos);
    EXPECT_EQ(run({"--version"}).exit_code, 0);
}

TEST_F(HeadraceProgram, AFullDiskIsAFailure) {
    const Outcome outcome =
        Program("/bin/sh", {"-c", "'" HEADRACE_PROGRAM "' devices > /dev/full"}, folder_.path()).wait();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.errors.find("writing failed"), std::string::npos) << outcome.errors;
}

} // namespace
} // namespace headrace::end_to_end
