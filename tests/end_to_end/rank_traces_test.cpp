// tests/end_to_end/rank_traces_test.cpp - what rank 0 writes of all ranks: traces by one clock, charts, and
// the bytes between them.
#include "end_to_end/path_tracer.hpp"
#include "end_to_end/ranks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace headrace::end_to_end {
namespace {

using nlohmann::json;

const char* const sample = "1.0\n1\ns.mco A\n150000\n0.01 0.01\n40 50 30\n3\n1.0\n1.37 1 100 .9 .1\n"
                           "1.37 1 10 0 .1\n1.37 2 10 .7 .2\n1.0\n";

/// With so many ranks.
class RankTraces : public Cluster, public testing::WithParamInterface<int> {
protected:
    void SetUp() override {
        Cluster::SetUp();
        if (!IsSkipped()) folder_.write("sample.mci", sample);
    }
    [[nodiscard]] Outcome run_fluorescence(const Options& more) const {
        return Cluster::run(GetParam(), "fluorescence",
                            Options{"--input", "sample.mci", "--devices", "cpu", "--quiet"} + more);
    }
    [[nodiscard]] json read(const char* file) const { return json::parse(content(folder_.path() / file)); }
};
INSTANTIATE_TEST_SUITE_P(Of, RankTraces, testing::Values(2, 4), testing::PrintToStringParamName());

/// The requests of one unit: microseconds.
struct Requests {
    std::size_t count = 0;
    double begin = 1e300, end = 0;
};

/// By process and the name of the thread.
std::map<std::pair<int, std::string>, Requests> requests_in(const json& trace) {
    std::map<std::pair<int, int>, std::string> threads;
    for (const json& event : trace.at("traceEvents"))
        if (event.at("name") == "thread_name")
            threads[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
    std::map<std::pair<int, std::string>, Requests> all;
    for (const json& event : trace.at("traceEvents")) {
        if (event.at("ph") != "X") continue;
        const int rank = event.at("pid");
        const double begin = event.at("ts"), length = event.at("dur");
        Requests& unit = all[{rank, threads.at({rank, event.at("tid")})}];
        ++unit.count;
        unit.begin = std::min(unit.begin, begin);
        unit.end = std::max(unit.end, begin + length);
    }
    return all;
}

/// Rank 0 sees them all.
void expect_processes(const json& trace, const std::string& chart, int ranks) {
    std::map<int, std::string> processes;
    for (const json& event : trace.at("traceEvents"))
        if (event.at("name") == "process_name") {
            EXPECT_TRUE(processes.emplace(event.at("pid"), event.at("args").at("name")).second);
        }
    EXPECT_EQ(processes.size(), static_cast<std::size_t>(ranks));
    for (const auto& [rank, name] : processes) {
        EXPECT_TRUE(name.starts_with("rank " + std::to_string(rank) + " on ")) << name;
        EXPECT_EQ(count(chart, ">" + name + "</text>"), 1u);
    }
}

/// All ranks have the clock of this machine. A busy machine may answer pings late.
void expect_one_clock(const json& trace, const json& report, int ranks) {
    std::map<std::string, std::uint64_t> units; // of work, by device
    for (const json& device : report.at("devices")) units[device.at("id")] = device.at("work_units");
    const auto requests = requests_in(trace);
    const Requests job = requests.at({0, "jobs"});
    int ranks_at_work = 0;
    for (int rank = 1; rank < ranks; ++rank) {
        const json& process = trace.at("otherData").at("processes").at(static_cast<std::size_t>(rank));
        ASSERT_EQ(process.at("pid"), rank);
        const double offset = process.at("clock_offset_us"), error = process.at("clock_error_us");
        EXPECT_LE(std::abs(offset), error);
        if (units.at("rank:" + std::to_string(rank)) == 0) continue; // it had no time
        ++ranks_at_work;
        const Requests tasks = requests.at({rank, "cpu tasks"});
        EXPECT_GT(tasks.count, 0u);
        EXPECT_GE(tasks.begin, job.begin - error);
        EXPECT_LE(tasks.end, job.end + error);
    }
    EXPECT_GT(ranks_at_work, 0);
}

/// Each rank sends one private replica of each domain to rank 0, and gets each result once.
void expect_few_bytes(const json& report, int ranks) {
    double bytes = 0, least = 0;
    for (const json& rank : report.at("ranks")) {
        bytes += rank.at("results").at("bytes").get<double>();
        least += rank.at("least_result_bytes").get<double>();
    }
    EXPECT_EQ(report.at("ranks").size(), static_cast<std::size_t>(ranks));
    EXPECT_GT(least, 0);
    EXPECT_GE(bytes, least);
    EXPECT_LE(bytes, 1.1 * least);
}

TEST_P(RankTraces, ShowAllRanks) {
    const Outcome outcome = run_fluorescence({"--report", "r.json", "--trace", "t.json", "--gantt", "g.svg"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    const json trace = read("t.json"), report = read("r.json");
    expect_processes(trace, content(folder_.path() / "g.svg"), GetParam());
    expect_one_clock(trace, report, GetParam());
    expect_few_bytes(report, GetParam());
}

} // namespace
} // namespace headrace::end_to_end
