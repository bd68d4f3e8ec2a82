// tests/devices/devices_fixture.hpp - who decides whether a test that needs a device runs, is skipped or
// fails. Absent: skipped, in words. There, but its driver fails: a failure. Absent although the environment's
// HEADRACE_REQUIRE_DEVICES ("cuda,opencl:nvidia") names it or its technology: a failure.
#pragma once
#include "core/test_deadline.hpp"
#include "devices/two_private_cpus.hpp"

#include <headrace/devices/discovery.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

namespace headrace::test {

/// True if a run on this machine may not do without `device` ("cuda:0") or its technology ("cuda", which does
/// not ask for a second GPU: that is "cuda:1").
inline bool device_is_required(std::string_view device) {
    const char* const environment = std::getenv("HEADRACE_REQUIRE_DEVICES");
    std::istringstream list(environment ? environment : "");
    const std::size_t colon = std::min(device.find(':'), device.size());
    const std::string_view which = device.substr(colon);
    const bool is_another = which.size() == 2 && which[1] >= '1' && which[1] <= '9';
    for (std::string name; std::getline(list, name, ',');)
        if (name == device || (name == device.substr(0, colon) && !is_another)) return true;
    return device == "cpu"; // every machine has one
}

/// Opens the devices of a list; empty, with `why` in words, if one is absent. A broken driver throws.
inline std::vector<std::unique_ptr<Device>> open_devices(const std::string& list, std::string& why) {
    try {
        return select_devices(list).devices;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::not_found) throw;
        why = error.message();
        return {};
    }
}

/// Why a device of the list is absent; empty if all are there.
inline std::string absent(const std::string& list) {
    std::string why;
    static_cast<void>(open_devices(list, why));
    return why;
}

/// A test on the devices of a list, its parameter: `device()` is the first.
class OnDevices : public ::testing::TestWithParam<std::string> {
protected:
    explicit OnDevices(std::chrono::seconds limit = hang_limit)
        : deadline_("a test on " + GetParam(), limit) {}
    void SetUp() override {
        std::string why;
        devices_ = open_devices(device_list(GetParam()), why);
        if (!devices_.empty()) return;
        std::istringstream list(GetParam());
        for (std::string name; std::getline(list, name, ',');)
            ASSERT_FALSE(device_is_required(name) && !absent(name).empty()) << why;
        GTEST_SKIP() << why;
    }

    [[nodiscard]] Device& device(std::size_t i = 0) { return *devices_.at(i); }
    std::vector<std::unique_ptr<Device>> devices_;

private:
    TestDeadline deadline_;
};

/// "cuda:0" as part of a test's name, which takes letters and digits only.
inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
}

/// Every technology once. The names are fixed, because CTest learns them on the machine that builds.
inline auto every_device() {
#if defined(HEADRACE_TEST_FAKE_HIP)
    return ::testing::Values("hip:0"); // all else is another program's
#else
    return ::testing::Values("cpu", "opencl:pocl", "opencl:nvidia", "cuda:0", "hip:0");
#endif
}

} // namespace headrace::test
