// Traces of real devices: requests that wait for each other are shown one after another, on one clock,
// although three parties measured them: the device, the copying of unpinned memory, the host.
#include "devices/devices_fixture.hpp"
#include <headrace/core/controller.hpp>
#include <headrace/core/trace.hpp>

#include <nlohmann/json.hpp>

#include <cstring>
#include <map>
#include <vector>

namespace headrace::test {
namespace {

using Traced = OnDevices;

/// How far a device's clock may be from the host's: what reading the two takes, on a busy machine.
constexpr double clocks_differ_us = 300;

struct Span {
    std::string unit;
    double begin, end; // microseconds
};

std::vector<Span> spans_of(Trace& trace) {
    const auto json = nlohmann::json::parse(trace.json());
    std::map<std::int64_t, std::string> units;
    std::vector<Span> spans;
    for (const auto& event : json.at("traceEvents"))
        if (event.at("name") == "thread_name") units[event.at("tid")] = event.at("args").at("name");
    for (const auto& event : json.at("traceEvents")) {
        if (event.at("ph") != "X") continue;
        const double begin = event.at("ts"), length = event.at("dur");
        spans.push_back({units.at(event.at("tid")), begin, begin + length});
    }
    return spans;
}

TEST_P(Traced, RequestsThatWaitForEachOtherAreShownOneAfterAnother) {
    constexpr Bytes size = Bytes{8} << 20;
    constexpr int rounds = 10;
    Storage data("data", size, device().allocate_host(size));
    const Tile tile = data.tile();
    Controller controller(device(), {.private_copies = true});
    HostLane lane("host");
    const auto run = [&] {
        lane.run("write", {{{tile, Access::write}}}, [&] { std::memset(data.host(), 1, size); });
        controller.launch("kernel", {{{tile, Access::update}}}, [](const NativeStream&) {});
        lane.run("read", {{{tile, Access::read}}}, [] {});
        lane.wait_all();
    };
    run(); // drivers allocate at first use
    Trace trace;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) run();
    const std::chrono::nanoseconds wall = std::chrono::steady_clock::now() - begin;

    std::chrono::nanoseconds busy{0};
    std::map<std::string, std::uint64_t> requests;
    for (const Trace::Unit& unit : trace.units()) {
        busy += unit.busy;
        requests[unit.name] = unit.requests;
        EXPECT_TRUE(unit.busy.count() > 0 || unit.name == "kernels") << unit.name; // those do nothing
    }
    const std::map<std::string, std::uint64_t> expected{
        {"host", 2 * rounds}, {"to device", rounds}, {"kernels", rounds}, {"from device", rounds}};
    EXPECT_EQ(requests, expected);
    EXPECT_LE(busy, wall + wall / 100 + std::chrono::milliseconds(1))
        << "one at a time, so no longer than all";

    const std::vector<Span> spans = spans_of(trace);
    ASSERT_EQ(spans.size(), std::size_t{5 * rounds});
    const char* const round[] = {"host", "to device", "kernels", "from device", "host"};
    std::map<std::string, std::vector<Span>> of;
    for (const Span& span : spans) of[span.unit].push_back(span); // in the order of their begins
    std::map<std::string, std::size_t> next;
    double last_end = -1e9;
    for (int i = 0; i < rounds; ++i)
        for (const char* unit : round) {
            const Span& span = of.at(unit).at(next[unit]++);
            EXPECT_GE(span.begin, last_end - clocks_differ_us) << unit << " of round " << i;
            last_end = span.end;
        }
}

INSTANTIATE_TEST_SUITE_P(Every, Traced, every_device(), test_name);

} // namespace
} // namespace headrace::test
