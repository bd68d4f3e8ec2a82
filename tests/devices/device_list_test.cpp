// tests/devices/device_list_test.cpp - what a device list means, on machines that are made up.
#include <core/environment_variable.hpp>
#include <devices/devices_fixture.hpp>
#include <headrace/internal/devices/device_list.hpp>
#include <headrace/internal/devices/selection.hpp>

#include <gmock/gmock.h>

namespace headrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

DeviceCandidate candidate(std::string id, std::string silicon, std::vector<std::string> aliases = {}) {
    DeviceCandidate made_up;
    made_up.info.technology = id.substr(0, id.find(':'));
    made_up.info.id = std::move(id);
    made_up.info.name = "made up";
    made_up.info.physical_id = std::move(silicon);
    made_up.aliases = std::move(aliases);
    return made_up;
}

/// A workstation: a processor, which PoCL shows too, and two GPUs, which CUDA and OpenCL show.
DeviceCandidates workstation() {
    DeviceCandidates found;
    found.devices = {candidate("cpu", "cpu"),
                     candidate("cuda:0", "pci:1"),
                     candidate("cuda:1", "pci:2"),
                     candidate("opencl:0", "pci:1", {"opencl:nvidia"}),
                     candidate("opencl:1", "pci:2", {"opencl:nvidia"}),
                     candidate("opencl:2", "cpu", {"opencl:pocl"})};
    found.left_out = {{"hip", "", "no AMD driver"}};
    return found;
}

std::vector<DeviceRequest> requests(const std::vector<std::string>& names) {
    std::vector<DeviceRequest> all;
    for (const std::string& name : names) all.push_back({name});
    return all;
}

std::vector<std::string> chosen(const DeviceCandidates& found, const std::vector<std::string>& names) {
    std::vector<std::string> ids;
    for (const Choice& choice : choose(found, requests(names)))
        ids.push_back(found.devices[choice.candidates.front()].info.id);
    return ids;
}

TEST(Choose, EverythingMeansEachProcessorAndGpuOnceByItsOwnTechnology) {
    EXPECT_THAT(chosen(workstation(), {"all"}), ElementsAre("cpu", "cuda:0", "cuda:1"));
}

TEST(Choose, EverythingKeepsTheOtherViewsForWhenTheFirstDoesNotStart) {
    const auto choices = choose(workstation(), requests({"all"}));
    ASSERT_EQ(choices.size(), 3u);
    EXPECT_THAT(choices[0].candidates, ElementsAre(0, 5));
    EXPECT_THAT(choices[1].candidates, ElementsAre(1, 3));
    EXPECT_FALSE(choices[1].named);
}

TEST(Choose, ATechnologyMeansAllOfIts) {
    EXPECT_THAT(chosen(workstation(), {"cuda"}), ElementsAre("cuda:0", "cuda:1"));
    EXPECT_THAT(chosen(workstation(), {"opencl"}), ElementsAre("opencl:0", "opencl:1", "opencl:2"));
    EXPECT_THAT(chosen(workstation(), {"opencl:nvidia"}), ElementsAre("opencl:0", "opencl:1"));
}

TEST(Choose, NamedDevicesComeInTheOrderOfTheList) {
    EXPECT_THAT(chosen(workstation(), {"cuda:1", "cpu"}), ElementsAre("cuda:1", "cpu"));
}

TEST(Choose, TwoNamesMayMeanTheSameHardware) {
    EXPECT_THAT(chosen(workstation(), {"cuda:0", "opencl:0"}), ElementsAre("cuda:0", "opencl:0"));
    EXPECT_THAT(chosen(workstation(), {"cpu", "opencl:pocl"}), ElementsAre("cpu", "opencl:2"));
    EXPECT_THAT(chosen(workstation(), {"all", "opencl:pocl"}),
                ElementsAre("cpu", "cuda:0", "cuda:1", "opencl:2"));
}

TEST(Choose, TheSameNameTwiceIsOneDevice) {
    EXPECT_THAT(chosen(workstation(), {"cpu", "cpu", "cuda:0", "cuda"}),
                ElementsAre("cpu", "cuda:0", "cuda:1"));
}

TEST(Choose, EverythingIsContentWithTheViewThatWasNamed) {
    EXPECT_THAT(chosen(workstation(), {"opencl:0", "all"}), ElementsAre("opencl:0", "cpu", "cuda:1"));
}

TEST(Choose, ADeviceNamedAfterEverythingMustStart) {
    const auto choices = choose(workstation(), requests({"all", "cuda:0"}));
    ASSERT_EQ(choices.size(), 3u);
    EXPECT_TRUE(choices[1].named);
    EXPECT_THAT(choices[1].candidates, ElementsAre(1));
}

TEST(Choose, WithoutCudaTheGpuIsOpenCls) {
    DeviceCandidates found;
    found.devices = {candidate("cpu", "cpu"), candidate("opencl:0", "cpu"), candidate("opencl:1", "pci:1")};
    EXPECT_THAT(chosen(found, {"all"}), ElementsAre("cpu", "opencl:1"));
}

TEST(Choose, DevicesOfUnknownSiliconAreAllUsed) {
    DeviceCandidates found;
    found.devices = {candidate("opencl:0", ""), candidate("opencl:1", "")};
    EXPECT_THAT(chosen(found, {"all"}), ElementsAre("opencl:0", "opencl:1"));
}

TEST(Choose, CoresThatAFileChoseAreADeviceOfTheirOwn) {
    std::vector<DeviceRequest> two = requests({"cpu", "cpu"});
    two[0].settings.numa = {0, 0};
    two[1].settings.numa = {1, 1};
    const auto choices = choose(workstation(), two);
    ASSERT_EQ(choices.size(), 2u);
    EXPECT_EQ(choices[0].request, 0u);
    EXPECT_EQ(choices[1].request, 1u);
}

TEST(Choose, WhoTakesTheRestOfTheCoresIsADeviceOfItsOwnInAnyOrder) {
    for (const std::size_t with_say : {0u, 1u}) {
        std::vector<DeviceRequest> two = requests({"cpu", "cpu"});
        two[with_say].settings.threads = 4;
        EXPECT_EQ(choose(workstation(), two).size(), 2u) << with_say;
    }
    std::vector<DeviceRequest> three = requests({"cpu", "cpu", "cpu"});
    three[0].settings.threads = 4;
    EXPECT_EQ(choose(workstation(), three).size(), 2u) << "the rest is there once";
}

TEST(Choose, SettingsOfADeviceOutliveItsBareName) {
    std::vector<DeviceRequest> two = requests({"opencl:0", "opencl:0"});
    two[0].settings.threads = 2;
    const auto choices = choose(workstation(), two);
    ASSERT_EQ(choices.size(), 1u);
    EXPECT_EQ(choices[0].request, 0u);
}

TEST(Choose, AnUnknownNameIsToldWhatIsThere) {
    try {
        static_cast<void>(choose(workstation(), requests({"cuda:7"})));
        FAIL() << "no throw";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::not_found);
        EXPECT_THAT(error.what(), HasSubstr("cuda:7"));
        EXPECT_THAT(error.what(), HasSubstr("cuda:1 (made up)"));
        EXPECT_THAT(error.what(), HasSubstr("hip: no AMD driver"));
    }
}

TEST(CoresBesideOpenCl, AreTheLargerHalf) {
    EXPECT_EQ(cores_beside_opencl(2), 1u);
    EXPECT_EQ(cores_beside_opencl(5), 3u);
    EXPECT_EQ(cores_beside_opencl(64), 32u);
}

std::vector<std::string> names_in(std::string_view request) {
    std::vector<std::string> names;
    for (const DeviceRequest& device : read_device_list(request).devices) names.push_back(device.name);
    return names;
}

/// The list as read, with the environment's word set for that long.
std::vector<std::string> read_with_environment(const char* environment, std::string_view request) {
    if (environment)
        setenv("HEADRACE_DEVICES", environment, 1);
    else
        unsetenv("HEADRACE_DEVICES");
    auto names = names_in(request);
    unsetenv("HEADRACE_DEVICES");
    return names;
}

TEST(DeviceList, SaysAllIfNobodySaysAnything) {
    EXPECT_THAT(read_with_environment(nullptr, ""), ElementsAre("all"));
    EXPECT_THAT(read_with_environment("", " "), ElementsAre("all"));
}

TEST(DeviceList, TheEnvironmentSpeaksWhenTheCallerDoesNot) {
    EXPECT_THAT(read_with_environment("cpu,cuda:0", ""), ElementsAre("cpu", "cuda:0"));
    EXPECT_THAT(read_with_environment("cuda:0", "cpu"), ElementsAre("cpu"));
}

TEST(DeviceList, WhatIsWrongInTheEnvironmentNamesTheVariable) {
    const auto error = [](const char* list) -> std::string {
        const EnvironmentVariable devices("HEADRACE_DEVICES", list);
        try {
            static_cast<void>(select_devices(""));
        } catch (const Error& refused) {
            return refused.what();
        }
        return "none";
    };
    EXPECT_THAT(error("no-such-device"),
                StartsWith("HEADRACE_DEVICES: no device answers to \"no-such-device\""));
    EXPECT_THAT(error("cpu,,cpu"), StartsWith("HEADRACE_DEVICES: an empty name"));
    EXPECT_THAT(error("@no/such/file"), StartsWith("HEADRACE_DEVICES: no/such/file"));
}

TEST(DeviceList, IsADefaultOnlyIfNobodySaysAnything) {
    unsetenv("HEADRACE_DEVICES");
    EXPECT_TRUE(read_device_list("").by_default);
    EXPECT_FALSE(read_device_list("all").by_default);
    setenv("HEADRACE_DEVICES", "all", 1);
    EXPECT_FALSE(read_device_list("").by_default);
    setenv("HEADRACE_DEVICES", " ", 1);
    EXPECT_TRUE(read_device_list("").by_default);
    unsetenv("HEADRACE_DEVICES");
}

TEST(DeviceList, NamesAreTrimmedAndNoneIsEmpty) {
    EXPECT_THAT(names_in(" cpu , opencl:pocl"), ElementsAre("cpu", "opencl:pocl"));
    for (const char* list : {"cpu,", ",", "cpu,,cuda"})
        EXPECT_THROW(static_cast<void>(read_device_list(list)), Error);
}

TEST(SelectDevices, OpensTheProcessor) {
    const DeviceSelection selection = select_devices("cpu");
    ASSERT_EQ(selection.devices.size(), 1u);
    EXPECT_EQ(selection.devices[0]->info().id, "cpu");
}

TEST(SelectDevices, UsesNothingTwiceAndSaysWhatItLeftOut) {
    const DeviceSelection selection = select_devices("all");
    std::vector<std::string> silicon;
    for (const auto& device : selection.devices) silicon.push_back(device->info().physical_id);
    std::ranges::sort(silicon);
    EXPECT_EQ(std::ranges::adjacent_find(silicon), silicon.end());
    for (const LeftOut& out : selection.left_out) {
        EXPECT_FALSE(out.id.empty());
        EXPECT_FALSE(out.why.empty()) << out.id;
    }
}

TEST(SelectDevices, TheProcessorsCoresAreDivided) {
    if (const auto why = absent("opencl:pocl"); !why.empty()) {
        ASSERT_FALSE(device_is_required("opencl:pocl")) << why;
        GTEST_SKIP() << why;
    }
    const unsigned all = select_devices("cpu").devices[0]->info().compute_units;
    if (all < 2) GTEST_SKIP() << "there is one core";
    const DeviceSelection both = select_devices("cpu,opencl:pocl");
    ASSERT_EQ(both.devices.size(), 2u);
    EXPECT_EQ(both.devices[0]->info().compute_units, cores_beside_opencl(all));
    EXPECT_EQ(both.devices[1]->info().compute_units, all - cores_beside_opencl(all));
}

TEST(SelectDevices, AnUnknownNameListsEverythingThatIsThere) {
    try {
        static_cast<void>(select_devices("gpu9"));
        FAIL() << "no throw";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::not_found);
        EXPECT_THAT(error.what(), HasSubstr("cpu ("));
        EXPECT_THAT(error.what(), HasSubstr("cuda")); // there, or why it is not
    }
}

} // namespace
} // namespace headrace::test
