// tests/end_to_end/doctor_test.cpp - `headrace doctor` on machines with something wrong: folders like those
// of the system, and the program as a user runs it.
#include "end_to_end/program.hpp"
#include "headrace/findings.hpp"
#include <core/environment_variable.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace headrace::end_to_end {
namespace {

using namespace headrace_program;
using Level = Finding::Level;

/// A machine made of files.
class Doctor : public testing::Test {
protected:
    Doctor() {
        places_.devices = machine_.path() / "dev";
        places_.buses = machine_.path() / "bus";
        places_.control_groups = machine_.path() / "groups";
        places_.nodes = machine_.path() / "nodes";
        places_.icds = machine_.path() / "vendors";
        for (const auto& folder :
             {places_.devices, places_.buses, places_.control_groups, places_.nodes, places_.icds})
            std::filesystem::create_directories(folder);
    }
    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((machine_.path() / name).parent_path());
        machine_.write(name, text);
    }
    static void expect(const Findings& findings, Level level, const std::string& words) {
        std::string all;
        bool is_found = false;
        for (const Finding& finding : findings) {
            const std::string text = finding.what + " -> " + finding.todo;
            all += text + "\n";
            is_found |= finding.level == level && text.find(words) != std::string::npos;
        }
        EXPECT_TRUE(is_found) << words << ", in\n" << all;
    }
    static void expect_fine(const Findings& findings) {
        for (const Finding& finding : findings) EXPECT_NE(finding.level, Level::problem) << finding.what;
    }

    const Scratch machine_;
    Places places_;
};

TEST_F(Doctor, AMachineWithoutGpusIsFine) {
    write("bus/0000:00:01.0/vendor", "0x1234\n");
    write("bus/0000:00:01.0/class", "0x030000\n"); // a virtual screen
    write("bus/0000:00:02.0/vendor", "0x10de\n");
    write("bus/0000:00:02.0/class", "0x0c0330\n"); // not a GPU: NVIDIA makes USB controllers, too
    const Findings findings = look_at_gpus(places_);
    EXPECT_TRUE(findings.empty());
    expect_fine(look_at_compilers(places_));
}

TEST_F(Doctor, FindsGpusWithoutADriver) {
    for (const char* const slot : {"0000:17:00.0", "0000:65:00.0"}) {
        write(std::string("bus/") + slot + "/vendor", "0x10de\n");
        write(std::string("bus/") + slot + "/class", "0x030200\n");
    }
    write("bus/0000:99:00.0/vendor", "0x1002\n");
    write("bus/0000:99:00.0/class", "0x038000\n");
    expect(look_at_gpus(places_), Level::problem, "2 GPUs of NVIDIA");
    expect(look_at_gpus(places_), Level::problem, "--gpus all");
    expect(look_at_gpus(places_), Level::problem, "1 GPU of AMD");
    write("dev/nvidiactl", "");
    write("dev/kfd", "");
    expect_fine(look_at_gpus(places_));
    expect(look_at_gpus(places_), Level::fine, "NVIDIA's is loaded");
}

TEST_F(Doctor, FindsFilesThatMayNotBeOpened) {
    write("dev/nvidiactl", "");
    write("dev/nvidia0", "");
    write("dev/dri/renderD128", "");
    ASSERT_EQ(::chmod((places_.devices / "nvidia0").c_str(), 0), 0);
    ASSERT_EQ(::chmod((places_.devices / "dri/renderD128").c_str(), 0), 0);
    if (::getuid() == 0) GTEST_SKIP() << "root may open everything";
    const Findings findings = look_at_gpus(places_);
    expect(findings, Level::problem, "nvidia0 may not be opened");
    expect(findings, Level::problem, "usermod -a -G");
    expect(findings, Level::problem, "renderD128");
}

TEST_F(Doctor, FindsDriversOfOpenClThatDoNotLoad) {
    expect(look_at_opencl(places_), Level::note, "no implementation");
    write("vendors/here.icd", "libc.so.6\n");
    write("vendors/README", "not an entry\n");
    expect_fine(look_at_opencl(places_));
    expect(look_at_opencl(places_), Level::fine, "1 implementation in");
    write("vendors/gone.icd", "libgone-opencl.so.1\n");
    write("vendors/empty.icd", "");
    const Findings findings = look_at_opencl(places_);
    expect(findings, Level::problem, "gone.icd names a library that does not load: libgone-opencl.so.1");
    expect(findings, Level::problem, "empty.icd names no library");
}

TEST_F(Doctor, FindsAContainerThatGetsLessThanItShows) {
    expect_fine(look_at_processors(places_));
    write("groups/cpu.max", "max 100000\n");
    expect_fine(look_at_processors(places_));
    write("groups/cpu.max", "40000 100000\n");
    expect(look_at_processors(places_), Level::note, "the time of 0.4; ");
    std::filesystem::remove(places_.control_groups / "cpu.max");
    write("groups/cpu/cpu.cfs_quota_us", "-1\n");
    write("groups/cpu/cpu.cfs_period_us", "100000\n");
    expect_fine(look_at_processors(places_));
    write("groups/cpu/cpu.cfs_quota_us", "30000\n");
    expect(look_at_processors(places_), Level::note, "the time of 0.3; ");
}

TEST_F(Doctor, TellsOfNumaNodes) {
    write("nodes/node0/cpulist", "0");
    write("nodes/has_cpu", "0");
    expect_fine(look_at_processors(places_));
    write("nodes/node1/cpulist", "1");
    expect(look_at_processors(places_), Level::note, "2 NUMA nodes");
}

TEST_F(Doctor, FindsCachesThatCannotBeKept) {
    {
        const test::EnvironmentVariable cache("XDG_CACHE_HOME", machine_.path().string());
        const test::EnvironmentVariable calibrations("HEADRACE_CALIBRATIONS", std::string());
        expect_fine(look_at_caches());
    }
    write("file", "");
    const test::EnvironmentVariable cache("XDG_CACHE_HOME", (machine_.path() / "file").string());
    expect(look_at_caches(), Level::problem, "cannot be written");
    const test::EnvironmentVariable nowhere("XDG_CACHE_HOME", std::string()), home("HOME", std::string());
    expect(look_at_caches(), Level::problem, "set HOME");
}

/// Exit code 0 if it is in order, and 1 with what is not, in words on standard output.
TEST_F(Doctor, ExitCodeSaysWhetherSomethingIsWrong) {
    const test::EnvironmentVariable vendors("OCL_ICD_VENDORS", places_.icds.string());
    const auto run = [&] { return Program(HEADRACE_PROGRAM, {"doctor"}, machine_.path()).wait(); };
    const Outcome before = run();
    EXPECT_EQ(before.exit_code, before.output.find("PROBLEM") == std::string::npos ? 0 : 1) << before.output;
    EXPECT_NE(before.output.find("cpu ("), std::string::npos) << before.output;
    EXPECT_NE(before.output.find("computes"), std::string::npos) << before.output;
    write("vendors/gone.icd", "libgone-opencl.so.1\n");
    const Outcome after = run();
    EXPECT_EQ(after.exit_code, 1) << after.output;
    EXPECT_NE(after.output.find("libgone-opencl.so.1"), std::string::npos) << after.output;
    EXPECT_NE(after.output.find(" -> "), std::string::npos) << after.output;
    const Outcome mistake = Program(HEADRACE_PROGRAM, {"doctor", "--fast"}, machine_.path()).wait();
    EXPECT_EQ(mistake.exit_code, 2);
}

} // namespace
} // namespace headrace::end_to_end
