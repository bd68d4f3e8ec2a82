// tests/devices/energy_test.cpp - energy meters: counters that wrap, that are not there, that cannot be read.
#include <core/scratch_folder.hpp>
#include <headrace/devices/energy/meter_of.hpp>
#include <headrace/internal/devices/energy/nvml.hpp>
#include <headrace/internal/devices/energy/rapl.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace headrace {
namespace {

namespace fs = std::filesystem;

/// A made-up /sys/class/powercap.
class Rapl : public testing::Test {
protected:
    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((folder_ / file).parent_path());
        std::ofstream(folder_ / file) << text << '\n';
    }
    void zone(const std::string& folder, const std::string& name, const std::string& energy,
              const std::string& range = "1000000") const {
        write(folder + "/name", name);
        write(folder + "/energy_uj", energy);
        write(folder + "/max_energy_range_uj", range);
    }
    void expect_absent(const std::string& word) const {
        const Figure joules = RaplMeter(folder_).joules();
        EXPECT_FALSE(joules.value);
        EXPECT_NE(joules.why_absent.find(word), std::string::npos) << joules.why_absent;
    }

    const test::ScratchFolder scratch_;
    fs::path folder_ = scratch_.path();
};

TEST_F(Rapl, PackagesAndMemoryAreAddedAndNothingTwice) {
    zone("intel-rapl:0", "package-0", "100");
    zone("intel-rapl:0:0", "core", "100");
    zone("intel-rapl:0:1", "dram", "100");
    zone("intel-rapl:1", "package-1", "100");
    zone("intel-rapl:2", "psys", "100");
    zone("intel-rapl-mmio:0", "package-0", "100");
    write("intel-rapl/enabled", "1");
    RaplMeter meter(folder_);
    const double before = *meter.joules().value;
    zone("intel-rapl:0", "package-0", "200100");
    zone("intel-rapl:0:0", "core", "150100"); // in its package
    zone("intel-rapl:0:1", "dram", "30100");
    zone("intel-rapl:1", "package-1", "4100");
    zone("intel-rapl:2", "psys", "900100");           // has the packages in it
    zone("intel-rapl-mmio:0", "package-0", "200100"); // the first package once more
    EXPECT_NEAR(*meter.joules().value - before, 0.234, 1e-9);
}

TEST_F(Rapl, CountersMayWrapAtEveryReading) {
    zone("intel-rapl:0", "package-0", "999000");
    RaplMeter meter(folder_);
    const double before = *meter.joules().value;
    zone("intel-rapl:0", "package-0", "500");
    EXPECT_NEAR(*meter.joules().value - before, 0.0015, 1e-9);
    zone("intel-rapl:0", "package-0", "400");
    EXPECT_NEAR(*meter.joules().value - before, 1.0014, 1e-9);
}

TEST_F(Rapl, NothingThere) {
    expect_absent("no RAPL counters");
    folder_ /= "nowhere";
    expect_absent("nowhere");
}

TEST_F(Rapl, ZonesOfOtherThingsAreNotThere) {
    zone("intel-rapl:0", "psys", "1");
    expect_absent("no RAPL counters");
}

TEST_F(Rapl, FilesThatAreMissing) {
    zone("intel-rapl:0", "package-0", "1");
    fs::remove(folder_ / "intel-rapl:0/energy_uj");
    expect_absent("energy_uj: No such file");
}

TEST_F(Rapl, FilesThatCannotBeRead) {
    zone("intel-rapl:0", "package-0", "1");
    fs::remove(folder_ / "intel-rapl:0/energy_uj");
    fs::create_directory(folder_ / "intel-rapl:0/energy_uj"); // not even for root
    expect_absent("energy_uj: Is a directory");
}

TEST_F(Rapl, FilesThatHoldNoNumber) {
    for (const char* text : {"", "many", "-1", "12 uJ", "99999999999999999999999"}) {
        zone("intel-rapl:0", "package-0", text);
        expect_absent("energy_uj");
    }
    zone("intel-rapl:0", "package-0", "1", "much");
    expect_absent("max_energy_range_uj: holds no number");
    write("intel-rapl:0/max_energy_range_uj", "1000000");
    std::ofstream(folder_ / "intel-rapl:0/name").flush();
    expect_absent("name: is empty");
}

TEST_F(Rapl, ACounterThatGoesAwayIsTold) {
    zone("intel-rapl:0", "package-0", "1");
    RaplMeter meter(folder_);
    EXPECT_TRUE(meter.joules().value);
    fs::remove(folder_ / "intel-rapl:0/energy_uj");
    EXPECT_FALSE(meter.joules().value);
}

TEST(Nvml, CountsTheGpuAtItsAddress) {
    NvmlMeter meter("0000:3b:00.0", HEADRACE_FAKE_NVML);
    const double before = *meter.joules().value;
    EXPECT_NEAR(*meter.joules().value - before, 2.5, 1e-9);
}

TEST(Nvml, SaysWhyItCannotCount) {
    const auto why = [](const char* address, const char* library) {
        return NvmlMeter(address, library).joules().why_absent;
    };
    EXPECT_NE(why("0000:86:00.0", HEADRACE_FAKE_NVML).find("Not Supported"), std::string::npos);
    EXPECT_NE(why("0000:99:00.0", HEADRACE_FAKE_NVML).find("no GPU at 0000:99:00.0"), std::string::npos);
    EXPECT_NE(why("0000:3b:00.0", "libnone.so").find("libnone.so"), std::string::npos);
    EXPECT_NE(why("0000:3b:00.0", "libdl.so.2").find("too old"), std::string::npos);
}

TEST(EnergyMeterOf, FollowsTheHardwareAndNotTheTechnology) {
    const auto name = [](const char* technology, const char* physical_id) {
        DeviceInfo info;
        info.technology = technology;
        info.physical_id = physical_id;
        return std::string(energy_meter_of(info)->name());
    };
    EXPECT_EQ(name("cpu", "cpu"), "RAPL");
    EXPECT_EQ(name("opencl", "cpu"), "RAPL");
    EXPECT_EQ(name("cuda", "pci:0000:3b:00.0"), "NVML");
    EXPECT_EQ(name("opencl", "pci:0000:3b:00.0"), "NVML");
    EXPECT_EQ(name("hip", "pci:0000:3b:00.0"), "none");
    EXPECT_EQ(name("opencl", "opencl:0"), "none");
    DeviceInfo unknown;
    EXPECT_FALSE(energy_meter_of(unknown)->joules().why_absent.empty());
}

} // namespace
} // namespace headrace
