// tests/devices/device_list_test.cpp - what a device list means, on machines that are made up.
#include <devices/devices_fixture.hpp>
#include <headrace/devices/device_list.hpp>
#include <headrace/devices/selection.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace headrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

std::vector<std::string> chosen(const DeviceCandidates& found, std::vector<std::string> names) {
    std::vector<std::string> ids;
    for (const Choice& choice : choose(found, names))
        ids.push_back(found.devices[choice.candidates.front()].info.id);
    return ids;
}

TEST(Choose, EverythingMeansEachProcessorAndGpuOnceByItsOwnTechnology) {
    EXPECT_THAT(chosen(workstation(), {"all"}), ElementsAre("cpu", "cuda:0", "cuda:1"));
}

TEST(Choose, EverythingKeepsTheOtherViewsForWhenTheFirstDoesNotStart) {
    const auto choices = choose(workstation(), std::array{std::string("all")});
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
    const auto choices = choose(workstation(), std::vector<std::string>{"all", "cuda:0"});
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

TEST(Choose, AnUnknownNameIsToldWhatIsThere) {
    try {
        static_cast<void>(choose(workstation(), std::array{std::string("cuda:7")}));
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

/// The list as read, with the environment's word set for that long.
std::vector<std::string> read_with_environment(const char* environment, std::string_view request) {
    if (environment)
        setenv("HEADRACE_DEVICES", environment, 1);
    else
        unsetenv("HEADRACE_DEVICES");
    auto names = read_device_list(request);
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

TEST(DeviceList, NamesAreTrimmedAndNoneIsEmpty) {
    EXPECT_THAT(read_device_list(" cpu , opencl:pocl"), ElementsAre("cpu", "opencl:pocl"));
    for (const char* list : {"cpu,", ",", "cpu,,cuda"})
        EXPECT_THROW(static_cast<void>(read_device_list(list)), Error);
}

/// A file with this text, for as long as the test runs.
class TomlFile {
public:
    explicit TomlFile(std::string_view text)
        : path_(std::filesystem::path(testing::TempDir()) /
                ("headrace-" + std::to_string(getpid()) + ".toml")) {
        std::ofstream(path_) << text;
    }
    ~TomlFile() { std::filesystem::remove(path_); }
    TomlFile(const TomlFile&) = delete;
    TomlFile& operator=(const TomlFile&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

TEST(DeviceList, IsReadFromAFile) {
    const TomlFile file("# ours\ndevices = [\"cpu\", \"opencl:pocl\"]\n");
    EXPECT_THAT(read_device_list("@" + file.path()), ElementsAre("cpu", "opencl:pocl"));
    EXPECT_THAT(read_device_list(file.path()), ElementsAre("cpu", "opencl:pocl"));
    EXPECT_THAT(read_with_environment(file.path().c_str(), ""), ElementsAre("cpu", "opencl:pocl"));
}

TEST(DeviceList, AFileThatIsWrongIsToldWhereAndWhy) {
    for (const auto& [text, why] : {std::pair{"devices = [1]", "name in quotes"},
                                    {"devices = []", "empty"},
                                    {"device = [\"cpu\"]", "no list of devices"},
                                    {"\ndevices = [\"cpu\"", "line 2"}}) {
        const TomlFile file(text);
        try {
            static_cast<void>(read_device_list(file.path()));
            FAIL() << "no throw: " << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
            EXPECT_THAT(error.what(), HasSubstr(file.path()));
            EXPECT_THAT(error.what(), HasSubstr(why));
        }
    }
    try {
        static_cast<void>(read_device_list("@/nowhere/devices.toml"));
        FAIL() << "no throw";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::not_found);
    }
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
