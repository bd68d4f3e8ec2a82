// What --trace shows of a job: every task, on the device and at the time at which it ran.
#include "end_to_end/path_tracer.hpp"
#include "end_to_end/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>

namespace headrace::end_to_end {
namespace {

struct Tasks {
    std::uint64_t count = 0;
    double begin = 1e300, end = 0; ///< seconds
};

class JobTrace : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(GetParam()); }
};

TEST_P(JobTrace, HasTheTasksOfTheReport) {
    const Scratch folder;
    static_cast<void>(render(folder, matt_room(folder) + Options{"--width", "96", "--height", "54", "--spp",
                                                                 "16", "--devices", GetParam(), "--report",
                                                                 "report.json", "--trace", "trace.json"}));
    const Report report = read_report(folder.path() / "report.json");
    const auto trace = nlohmann::json::parse(std::ifstream(folder.path() / "trace.json"));

    std::map<int, std::string> devices;
    for (const auto& event : trace.at("traceEvents"))
        if (event.at("name") == "process_name") devices[event.at("pid")] = event.at("args").at("name");
    std::map<std::string, Tasks> tasks;
    for (const auto& event : trace.at("traceEvents")) {
        if (event.at("ph") != "X" || event.contains("args")) continue; // transfers have bytes
        Tasks& of = tasks[devices.at(event.at("pid"))];
        const double begin = event.at("ts"), length = event.at("dur");
        ++of.count;
        of.begin = std::min(of.begin, begin * 1e-6);
        of.end = std::max(of.end, (begin + length) * 1e-6);
    }
    for (const Report::Device& device : report.devices) {
        EXPECT_EQ(tasks[device.id].count, device.tasks) << device.id;
        if (device.tasks == 0) continue;
        const double span = tasks[device.id].end - tasks[device.id].begin;
        EXPECT_GT(span, 0) << device.id;
        EXPECT_LE(span, report.seconds * 1.01 + 1e-4) << device.id; // two clocks, for a device of its own
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, JobTrace,
                         testing::Values("cpu", "opencl:pocl", "cuda:0", "cpu,opencl:pocl"),
                         [](const auto& of) { return test_name(of.param); });

} // namespace
} // namespace headrace::end_to_end
