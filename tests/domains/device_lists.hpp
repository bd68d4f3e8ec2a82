// tests/domains/device_lists.hpp - tests on every device list of this machine, with random inputs.
#pragma once
#include <core/seeds.hpp>
#include <devices/devices_fixture.hpp>
#include <devices/two_private_cpus.hpp>
#include <headrace/domains/runtime.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <memory>
#include <random>
#include <sstream>
#include <string>

namespace headrace::test {

/// Its parameter is a list of devices. Where one is absent the test is skipped.
class OnDeviceLists : public testing::TestWithParam<std::string> {
protected:
    explicit OnDeviceLists(std::uint32_t seed = fresh_seed()) : seed_(seed) {}
    void SetUp() override {
        const std::string why = absent(device_list(GetParam()));
        if (why.empty()) return;
        std::istringstream list(GetParam());
        for (std::string name; std::getline(list, name, ',');)
            ASSERT_FALSE(device_is_required(name) && !absent(name).empty()) << why;
        GTEST_SKIP() << why;
    }
    Runtime& runtime() {
        if (!runtime_) runtime_ = make_runtime("dynamic:37");
        return *runtime_;
    }
    static std::unique_ptr<Runtime> make_runtime(const std::string& policy) {
        return std::make_unique<Runtime>(
            RuntimeOptions{.devices = device_list(GetParam()), .policy = policy});
    }
    const std::uint32_t seed_;
    std::mt19937_64 random_{seed_};

private:
    std::unique_ptr<Runtime> runtime_;
};

inline auto device_lists() {
    return testing::Values("cpu", two_private_cpus, "opencl:pocl", "cpu,opencl:pocl", "cuda:0", "cpu,cuda:0",
                           "cuda:0,cuda:1");
}
inline std::string by_list(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    for (char& letter : name)
        if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
    return name;
}

} // namespace headrace::test
