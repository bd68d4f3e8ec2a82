// tests/devices/two_private_cpus.hpp - two CPU devices with memories of their own, as one of the device lists
// that tests run on: what is wrong on two GPUs mostly shows on them.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace headrace::test {

/// As a parameter of tests.
inline constexpr const char* two_private_cpus = "two private CPUs";

/// What RuntimeOptions::devices takes for a parameter of tests: itself, or a file for `two_private_cpus`.
inline std::string device_list(const std::string& parameter) {
    if (parameter != two_private_cpus) return parameter;
    struct File {
        const std::string path = (std::filesystem::path(testing::TempDir()) /
                                  ("headrace-two-private-cpus-" + std::to_string(getpid()) + ".toml"))
                                     .string();
        File() {
            std::ofstream(path) << "[[node]]\n"
                                   "[[node.device]]\nkind = \"cpu\"\nthreads = 1\ncopies = \"private\"\n"
                                   "[[node.device]]\nkind = \"cpu\"\nthreads = 1\ncopies = \"private\"\n";
        }
        ~File() { std::filesystem::remove(path); }
    };
    static const File file;
    return "@" + file.path;
}

} // namespace headrace::test
