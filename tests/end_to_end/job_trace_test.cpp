// What --trace shows of a job: every task, on the device and at the time at which it ran, with arrows from
// the job and to what was moved for it.
#include "end_to_end/path_tracer.hpp"
#include "end_to_end/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace headrace::end_to_end {
namespace {

struct Tasks {
    std::uint64_t count = 0;
    double begin = 1e300, end = 0; ///< seconds
};

/// A slice of a trace, as arrows name it.
struct Slice {
    std::string process, name;
    double begin, end; ///< microseconds
    bool is_transfer;
    std::vector<std::size_t> linked; ///< by an arrow, in either direction
};

/// All slices, and which of them arrows join: one end of each arrow lies in one slice, the other in another.
std::vector<Slice> slices_of(const nlohmann::json& trace) {
    std::map<int, std::string> processes;
    for (const auto& event : trace.at("traceEvents"))
        if (event.at("name") == "process_name") processes[event.at("pid")] = event.at("args").at("name");
    std::vector<Slice> slices;
    std::vector<std::pair<int, int>> rows; // process and thread of each
    for (const auto& event : trace.at("traceEvents")) {
        if (event.at("ph") != "X") continue;
        const double begin = event.at("ts"), length = event.at("dur");
        slices.push_back({processes.at(event.at("pid")),
                          event.at("name"),
                          begin,
                          begin + length,
                          event.contains("args"),
                          {}});
        rows.emplace_back(event.at("pid"), event.at("tid"));
    }
    const auto under = [&](const nlohmann::json& end) {
        for (std::size_t i = 0; i < slices.size(); ++i)
            if (rows[i] == std::pair<int, int>(end.at("pid"), end.at("tid")) &&
                slices[i].begin <= end.at("ts") && end.at("ts") <= slices[i].end)
                return i;
        throw std::runtime_error("an arrow ends outside of all slices");
    };
    std::map<int, nlohmann::json> begun;
    for (const auto& event : trace.at("traceEvents")) {
        if (event.at("ph") == "s" && !begun.emplace(event.at("id"), event).second)
            throw std::runtime_error("two arrows have one number");
        if (event.at("ph") != "f") continue;
        const auto begin = begun.extract(event.at("id"));
        if (begin.empty()) throw std::runtime_error("an arrow has no begin");
        EXPECT_LE(begin.mapped().at("ts"), event.at("ts"));
        const std::size_t from = under(begin.mapped()), to = under(event);
        slices[from].linked.push_back(to);
        slices[to].linked.push_back(from);
    }
    if (!begun.empty()) throw std::runtime_error("an arrow has no end");
    return slices;
}

class JobTrace : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(GetParam()); }
};

TEST_P(JobTrace, HasTheTasksOfTheReport) {
    const Scratch folder;
    static_cast<void>(
        render(folder, matt_room(folder) + Options{"--width", "96", "--height", "54", "--spp", "16",
                                                   "--devices", GetParam(), "--report", "report.json",
                                                   "--trace", "trace.json", "--gantt", "chart.svg"}));
    const Report report = read_report(folder.path() / "report.json");
    std::ostringstream chart;
    chart << std::ifstream(folder.path() / "chart.svg").rdbuf();
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
    std::uint64_t shown = 0;
    for (const Report::Device& device : report.devices) {
        // Short tasks that adjoin are held, and shown, as one.
        EXPECT_LE(tasks[device.id].count, device.tasks) << device.id;
        if (device.tasks == 0) continue;
        EXPECT_GT(tasks[device.id].count, 0U) << device.id;
        shown += tasks[device.id].count;
        EXPECT_NE(chart.str().find(">" + device.id + "</text>"), std::string::npos);
        const double span = tasks[device.id].end - tasks[device.id].begin;
        EXPECT_GT(span, 0) << device.id;
        // Two clocks, for a device of its own; and a busy machine may stop a thread between two looks at
        // them.
        EXPECT_LE(span, report.seconds * 1.01 + 0.01) << device.id;
    }

    const std::vector<Slice> slices = slices_of(trace);
    const auto job = std::ranges::find(slices, "jobs", &Slice::process);
    ASSERT_NE(job, slices.end());
    EXPECT_EQ(std::ranges::count(slices, "jobs", &Slice::process), 1);
    EXPECT_NEAR((job->end - job->begin) * 1e-6, report.seconds, 0.01);
    std::uint64_t of_job = 0;
    for (const std::size_t i : job->linked) {
        EXPECT_FALSE(slices[i].is_transfer);
        EXPECT_TRUE(slices[i].name.starts_with(job->name)) << slices[i].name;
        ++of_job;
    }
    EXPECT_EQ(of_job, shown);
    for (const Slice& slice : slices) {
        if (!slice.is_transfer || slice.begin > job->end) continue; // the picture is gathered after the job
        const auto is_task = [&](std::size_t i) {
            return !slices[i].is_transfer && slices[i].process == slice.process;
        };
        EXPECT_TRUE(std::ranges::any_of(slice.linked, is_task)) << slice.name << " was moved for no task";
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, JobTrace,
                         testing::Values("cpu", test::two_private_cpus, "opencl:pocl", "cuda:0",
                                         "cpu,opencl:pocl"),
                         [](const auto& of) { return test_name(of.param); });

} // namespace
} // namespace headrace::end_to_end
