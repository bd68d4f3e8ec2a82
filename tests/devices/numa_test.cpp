// tests/devices/numa_test.cpp - where memory comes from, as far as a machine with one node can tell.
#include <headrace/internal/devices/numa.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace headrace {
namespace {

int mode_of_thread() {
    int mode = -1;
    return syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) == 0 ? mode : -1;
}

class Numa : public testing::Test {
protected:
    void SetUp() override {
        if (mode_of_thread() != MPOL_DEFAULT)
            GTEST_SKIP() << "the system does not tell of NUMA policies, or this process has one";
    }
    void TearDown() override { syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0); }
};

TEST_F(Numa, OnNodeLastsAsLongAsItLives) {
    {
        const OnNode here(0);
        EXPECT_EQ(mode_of_thread(), MPOL_PREFERRED);
        const OnNode nested(0);
        EXPECT_EQ(mode_of_thread(), MPOL_PREFERRED);
    }
    EXPECT_EQ(mode_of_thread(), MPOL_DEFAULT);
}

TEST_F(Numa, OnNoNodeNothingChanges) {
    const OnNode nowhere(std::nullopt);
    EXPECT_EQ(mode_of_thread(), MPOL_DEFAULT);
    const OnNode absent(1000);
    EXPECT_EQ(mode_of_thread(), MPOL_DEFAULT) << "there is no such node";
}

TEST_F(Numa, WhatSomebodyAskedForStays) {
    ASSERT_TRUE(prefer_node(0));
    { const OnNode here(0); }
    EXPECT_EQ(mode_of_thread(), MPOL_PREFERRED);
}

TEST(NumaOfDevices, IsWhatTheBusSays) {
    const auto bus = std::filesystem::path(testing::TempDir()) / ("bus" + std::to_string(::getpid()));
    const auto says = [&](const std::string& address, const std::string& text) {
        std::filesystem::create_directories(bus / address);
        std::ofstream(bus / address / "numa_node") << text;
    };
    says("0000:1b:00.0", "1\n");
    says("0000:1c:00.0", "-1\n");
    says("0000:1d:00.0", "");
    EXPECT_EQ(node_of("pci:0000:1b:00.0", bus), 1U);
    EXPECT_EQ(node_of("pci:0000:1c:00.0", bus), std::nullopt) << "the machine has one";
    EXPECT_EQ(node_of("pci:0000:1d:00.0", bus), std::nullopt);
    EXPECT_EQ(node_of("pci:0000:1e:00.0", bus), std::nullopt) << "there is no such device";
    EXPECT_EQ(node_of("cpu", bus), std::nullopt);
    EXPECT_EQ(node_of("", bus), std::nullopt);
    std::filesystem::remove_all(bus);
}

} // namespace
} // namespace headrace
