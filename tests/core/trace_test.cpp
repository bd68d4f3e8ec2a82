// tests/core/trace_test.cpp - what a trace says of requests: where they ran, when, and from where their data
// came.
#include <core/fake_device.hpp>
#include <core/takes.hpp>
#include <headrace/core/controller.hpp>
#include <headrace/core/trace.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <barrier>
#include <future>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace headrace {
namespace {

using namespace std::chrono_literals;
using test::FakeDevice;
using test::FakeEvent;
using test::takes;

/// A trace's JSON, as a viewer reads it.
struct Shown {
    struct Span {
        std::string device, unit, name;
        std::int64_t thread;
        double begin, end; ///< microseconds
        std::uint64_t bytes;
    };
    std::vector<Span> spans;                             ///< in the order of the file
    std::set<std::pair<std::string, std::string>> flows; ///< of data, names of spans: from, to
    std::set<std::pair<std::string, std::string>> parts; ///< the same, of wholes and their parts

    explicit Shown(Trace& trace) {
        const auto json = nlohmann::json::parse(trace.json());
        std::map<int, std::string> processes;
        std::map<std::pair<int, std::int64_t>, std::string> threads;
        for (const auto& event : json.at("traceEvents")) {
            if (event.at("name") == "process_name") processes[event.at("pid")] = event.at("args").at("name");
            if (event.at("name") == "thread_name")
                threads[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
        }
        for (const auto& event : json.at("traceEvents")) {
            if (event.at("ph") != "X") continue;
            const int process = event.at("pid");
            const std::int64_t thread = event.at("tid");
            const double begin = event.at("ts"), length = event.at("dur");
            const std::uint64_t bytes =
                event.contains("args") ? event.at("args").at("bytes").get<std::uint64_t>() : 0;
            spans.push_back({processes.at(process), threads.at({process, thread}), event.at("name"), thread,
                             begin, begin + length, bytes});
        }
        std::map<int, nlohmann::json> begun;
        for (const auto& event : json.at("traceEvents")) {
            if (event.at("ph") == "s") begun[event.at("id")] = event;
            if (event.at("ph") != "f") continue;
            const auto& begin = begun.at(event.at("id"));
            if (begin.at("ts") > event.at("ts") || begin.at("cat") != event.at("cat"))
                throw std::runtime_error("an arrow that viewers drop");
            (event.at("cat") == "data" ? flows : parts).emplace(under(begin), under(event));
        }
    }
    [[nodiscard]] const Span& span(const std::string& name) const {
        const auto found = std::ranges::find(spans, name, &Span::name);
        if (found == spans.end()) throw std::runtime_error("no span is called " + name);
        return *found;
    }

private:
    /// The span that a flow's end is bound to: the one on its thread that encloses its time.
    [[nodiscard]] std::string under(const nlohmann::json& flow) const {
        for (const Span& span : spans)
            if (span.thread == flow.at("tid") && span.begin <= flow.at("ts") && flow.at("ts") <= span.end)
                return span.unit + ": " + span.name;
        return "nothing";
    }
};

const Trace::Unit& find(const std::vector<Trace::Unit>& units, const std::string& device,
                        const std::string& name) {
    const auto found = std::ranges::find_if(
        units, [&](const Trace::Unit& unit) { return unit.device == device && unit.name == name; });
    if (found == units.end()) throw std::runtime_error("no unit " + device + " " + name);
    return *found;
}

class TraceTest : public ::testing::Test {
protected:
    /// Reading, a kernel and writing of `data_`, all submitted before any of it may begin.
    void run_chain() {
        std::promise<void> submitted;
        HostLane reading("reading"), writing("writing");
        reading.run("read", {{{tile_, Access::write}}}, [&] {
            submitted.get_future().wait();
            takes(2ms);
        });
        controller_.launch("kernel", {{{tile_, Access::update}}}, [](const NativeStream&) { takes(2ms); });
        writing.run("write", {{{tile_, Access::read}}}, [] { takes(2ms); });
        submitted.set_value();
        writing.wait_all();
    }

    FakeDevice device_;
    Storage data_{"data", 4096};
    const Tile tile_ = data_.tile();
    Controller controller_{device_};
};

TEST_F(TraceTest, ShowsEveryRequestWhereItRan) {
    Trace trace;
    run_chain();
    const Shown shown(trace);
    ASSERT_EQ(shown.spans.size(), 5u);
    EXPECT_EQ(shown.span("read").device, "host");
    EXPECT_EQ(shown.span("read").unit, "reading");
    EXPECT_EQ(shown.span("kernel").device, "fake:0");
    EXPECT_EQ(shown.span("kernel").unit, "kernels");
    EXPECT_EQ(shown.span("write").unit, "writing");
    std::vector<std::string> copies;
    for (const Shown::Span& span : shown.spans)
        if (span.name == "data") {
            copies.push_back(span.unit);
            EXPECT_EQ(span.device, "fake:0");
            EXPECT_EQ(span.bytes, 4096u);
        }
    EXPECT_EQ(copies, (std::vector<std::string>{"to device", "from device"}));
}

TEST_F(TraceTest, TimesAreThoseOfTheWork) {
    Trace trace;
    const auto begin = std::chrono::steady_clock::now();
    run_chain();
    const double wall =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    const Shown shown(trace);
    EXPECT_GE(shown.span("kernel").begin, shown.span("read").end);
    EXPECT_GE(shown.span("write").begin, shown.span("kernel").end);
    for (const char* name : {"read", "kernel", "write"})
        EXPECT_GE(shown.span(name).end - shown.span(name).begin, 2000) << name;
    EXPECT_LE(shown.span("write").end - shown.span("read").begin, wall);
}

TEST_F(TraceTest, ArrowsFollowTheData) {
    Trace trace;
    run_chain();
    const std::set<std::pair<std::string, std::string>> expected{{"reading: read", "to device: data"},
                                                                 {"to device: data", "kernels: kernel"},
                                                                 {"kernels: kernel", "from device: data"},
                                                                 {"from device: data", "writing: write"}};
    EXPECT_EQ(Shown(trace).flows, expected);
}

TEST_F(TraceTest, ArrowsLeadFromAJobToItsTasksAndToWhatWasMovedForThem) {
    Trace trace;
    const auto begin = std::chrono::steady_clock::now();
    const auto add = [&](const char* unit, const char* name, std::chrono::milliseconds from,
                         std::chrono::milliseconds to, const Trace::Details& details) {
        Promise done;
        const SpanId id = trace.add({this, "fake:0", unit, false}, name, done.event(), {}, details);
        done.complete({begin + from, begin + to});
        return id;
    };
    const SpanId job = add("jobs", "job", 0ms, 100ms, {});
    for (const auto at : {10ms, 50ms}) {
        const std::string name = at == 10ms ? "one" : "two";
        const SpanId task = trace.reserve(); // it is added when its transfers are
        add("to device", ("in " + name).c_str(), at, at + 5ms, {.bytes = 1, .part_of = task});
        add("from device", ("out " + name).c_str(), at + 30ms, at + 35ms, {.bytes = 1, .part_of = task});
        add("tasks", name.c_str(), at + 10ms, at + 30ms, {.id = task, .part_of = job});
    }
    const std::set<std::pair<std::string, std::string>> expected{
        {"jobs: job", "tasks: one"},         {"jobs: job", "tasks: two"},
        {"to device: in one", "tasks: one"}, {"tasks: one", "from device: out one"},
        {"to device: in two", "tasks: two"}, {"tasks: two", "from device: out two"}};
    EXPECT_EQ(Shown(trace).parts, expected);
    EXPECT_TRUE(Shown(trace).flows.empty());
}

TEST_F(TraceTest, TransfersThatEndedBeforeTheyWereLookedAtStillHaveTheirArrow) {
    Trace trace;
    host_wrote(tile_);
    const TileUse read{tile_, Access::read};
    Event moved;
    controller_.submit("task", {&read, 1}, [&](std::span<const Event> after) {
        for (const Event& event : after) event.wait(); // the copy has ended before the task is known
        static_cast<void>(trace.units());
        Promise done;
        done.complete({std::chrono::steady_clock::now(), std::chrono::steady_clock::now()});
        return done.event();
    });
    controller_.wait_all();
    const Shown shown(trace);
    EXPECT_TRUE(shown.flows.empty());
    const std::set<std::pair<std::string, std::string>> expected{{"to device: data", "other streams: task"}};
    EXPECT_EQ(shown.parts, expected);
}

TEST_F(TraceTest, ArrowsOfDataAreNotDrawnTwice) {
    Trace trace;
    run_chain();
    EXPECT_TRUE(Shown(trace).parts.empty());
}

TEST_F(TraceTest, RequestsThatOverlapHaveRowsOfTheirOwn) {
    Trace trace;
    std::barrier both(2);
    const auto begin = std::chrono::steady_clock::now();
    const auto streams = {device_.make_stream(), device_.make_stream()};
    for (const auto& stream : streams)
        controller_.submit("beside another", {}, [&](std::span<const Event> after) {
            return stream->launch([&](const NativeStream&) { both.arrive_and_wait(); }, after);
        });
    controller_.wait_all();
    const Shown shown(trace);
    ASSERT_EQ(shown.spans.size(), 2u);
    EXPECT_NE(shown.spans[0].thread, shown.spans[1].thread);
    EXPECT_LE(trace.units().front().busy, std::chrono::steady_clock::now() - begin);
}

TEST_F(TraceTest, UnitsSayHowLongTheyWorked) {
    Trace trace(Trace::Keep::totals);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) controller_.launch("sleep", {}, [](const NativeStream&) { takes(5ms); });
    controller_.wait_all();
    const auto wall = std::chrono::steady_clock::now() - begin;
    const auto units = trace.units();
    ASSERT_EQ(units.size(), 1u);
    EXPECT_EQ(find(units, "fake:0", "kernels").requests, 3u);
    EXPECT_GE(units.front().busy, 15ms);
    EXPECT_LE(units.front().busy, wall);
    EXPECT_TRUE(Shown(trace).spans.empty()) << "totals keep no spans";
}

TEST_F(TraceTest, OverlappingRequestsCountOnceAsBusyTime) {
    Trace trace(Trace::Keep::totals);
    const auto begin = std::chrono::steady_clock::now();
    const auto streams = {device_.make_stream(), device_.make_stream(), device_.make_stream()};
    std::barrier all(3);
    for (const auto& stream : streams)
        controller_.submit("sleep", {}, [&](std::span<const Event> after) {
            return stream->launch(
                [&](const NativeStream&) {
                    all.arrive_and_wait(); // at the same time
                    takes(20ms);
                },
                after);
        });
    controller_.wait_all();
    const auto wall = std::chrono::steady_clock::now() - begin;
    const auto units = trace.units();
    EXPECT_EQ(find(units, "fake:0", "other streams").requests, 3u);
    EXPECT_LE(units.front().busy, wall);
}

TEST_F(TraceTest, ControllersOfOneDeviceAreOneUnit) {
    Trace trace;
    Controller second(device_);
    std::barrier both(2);
    const auto begin = std::chrono::steady_clock::now();
    for (Controller* controller : {&controller_, &second})
        controller->launch("sleep", {}, [&](const NativeStream&) {
            both.arrive_and_wait(); // at the same time
            takes(20ms);
        });
    controller_.wait_all();
    second.wait_all();
    const auto wall = std::chrono::steady_clock::now() - begin;
    const auto units = trace.units();
    ASSERT_EQ(units.size(), 1u);
    EXPECT_EQ(units.front().requests, 2u);
    EXPECT_GE(units.front().busy, 20ms);
    EXPECT_LE(units.front().busy, wall);
    const Shown shown(trace);
    EXPECT_NE(shown.spans.at(0).thread, shown.spans.at(1).thread);
}

TEST_F(TraceTest, FailedRequestsAreCountedAndNotShown) {
    Trace trace;
    controller_.launch("fails", {{{tile_, Access::write}}},
                       [](const NativeStream&) { throw std::runtime_error("on purpose"); });
    HostLane lane("lane");
    lane.run("reads it", {{{tile_, Access::read}}}, [] {});
    EXPECT_THROW(lane.wait_all(), Error);
    EXPECT_THROW(controller_.wait_all(), Error);
    EXPECT_EQ(find(trace.units(), "fake:0", "kernels").requests, 1u);
    EXPECT_EQ(find(trace.units(), "host", "lane").requests, 1u);
    EXPECT_TRUE(Shown(trace).spans.empty());
}

TEST_F(TraceTest, RecordsWhileItLivesAndNoLonger) {
    controller_.launch("before", {}, [](const NativeStream&) {});
    controller_.wait_all();
    {
        Trace trace;
        EXPECT_EQ(Trace::recording(), &trace);
        EXPECT_THROW(Trace another, Error);
        EXPECT_EQ(Trace::recording(), &trace);
        controller_.launch("during", {}, [](const NativeStream&) {});
        controller_.wait_all();
        const Shown shown(trace);
        ASSERT_EQ(shown.spans.size(), 1u);
        EXPECT_EQ(shown.spans.front().name, "during");
    }
    EXPECT_EQ(Trace::recording(), nullptr);
    controller_.launch("after", {}, [](const NativeStream&) {});
    controller_.wait_all();
    Trace next;
    EXPECT_TRUE(Shown(next).spans.empty());
}

TEST_F(TraceTest, AnyNameIsValidJson) {
    Trace trace;
    const std::string name = "a \"name\" with \\ and \n and \x01 and µ";
    controller_.launch(name, {}, [](const NativeStream&) {});
    controller_.wait_all();
    EXPECT_EQ(Shown(trace).spans.at(0).name, name);
}

TEST_F(TraceTest, TotalsHoldNoEventsHoweverManyThereWere) {
    Trace trace(Trace::Keep::totals);
    std::size_t most = 0;
    for (int i = 0; i < 20'000; ++i) {
        controller_.launch("short", {{{tile_, Access::update}}}, [](const NativeStream&) {}).wait();
        most = std::max(most, FakeEvent::alive());
    }
    EXPECT_LT(most, 2'000u);
    EXPECT_EQ(find(trace.units(), "fake:0", "kernels").requests, 20'000u);
}

TEST_F(TraceTest, ThreadsMaySubmitAtOnce) {
    Trace trace;
    constexpr int threads = 4, each = 500;
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < threads; ++i)
            all.emplace_back([this] {
                HostLane lane("lane");
                for (int n = 0; n < each; ++n) {
                    controller_.launch("kernel", {}, [](const NativeStream&) {});
                    lane.run("task", {}, [] {});
                }
                lane.wait_all();
            });
    }
    controller_.wait_all();
    const Shown shown(trace);
    EXPECT_EQ(shown.spans.size(), 2u * threads * each);
    std::map<std::int64_t, double> until; // by row
    for (const Shown::Span& span : shown.spans) {
        EXPECT_GE(span.begin, until[span.thread]) << "overlaps the one before on its row";
        until[span.thread] = span.end;
    }
}

class TraceOfProcesses : public TraceTest {
protected:
    /// What another process has recorded.
    std::vector<std::byte> bytes_of_other() {
        Trace other;
        run_chain();
        return other.bytes();
    }
};

TEST_F(TraceOfProcesses, HasAProcessForEach) {
    const std::vector<std::byte> bytes = bytes_of_other();
    Trace trace;
    run_chain();
    const Shown alone(trace);
    trace.show_as({.number = 0, .name = "rank 0 on a"});
    const auto later = [](std::chrono::nanoseconds time) { return time + std::chrono::hours(1); };
    trace.add_process({.number = 3, .name = "rank 3 on b", .clock_offset = 1h, .clock_error = 1500ns}, bytes,
                      later);
    const Shown shown(trace);
    ASSERT_EQ(shown.spans.size(), 2 * alone.spans.size());
    for (std::size_t i = 0; i < alone.spans.size(); ++i) {
        const Shown::Span &mine = shown.spans[i], &theirs = shown.spans[i + alone.spans.size()];
        EXPECT_EQ(mine.device, "rank 0 on a");
        EXPECT_EQ(theirs.device, "rank 3 on b");
        EXPECT_EQ(mine.unit, alone.spans[i].device + " " + alone.spans[i].unit);
        EXPECT_EQ(theirs.unit, mine.unit);
        EXPECT_EQ(theirs.name, mine.name);
        EXPECT_NE(theirs.thread, mine.thread);
        EXPECT_NEAR(mine.begin, alone.spans[i].begin, 0.002);
        EXPECT_GT(theirs.begin, 3000e6) << "an hour later, less than the time between the two";
    }
    EXPECT_EQ(shown.flows.size(), alone.flows.size()) << "of the same names";
    const auto json = nlohmann::json::parse(trace.json());
    const auto& processes = json.at("otherData").at("processes");
    ASSERT_EQ(processes.size(), 2u);
    EXPECT_EQ(processes[0], (nlohmann::json{{"pid", 0}, {"name", "rank 0 on a"}}));
    EXPECT_EQ(processes[1].at("pid"), 3);
    EXPECT_EQ(processes[1].at("clock_offset_us"), 3600e6);
    EXPECT_EQ(processes[1].at("clock_error_us"), 1.5);
}

TEST_F(TraceOfProcesses, MayHaveRecordedNothing) {
    const std::vector<std::byte> bytes = [] { return Trace().bytes(); }();
    Trace trace;
    trace.show_as({.number = 0, .name = "rank 0 on a"});
    trace.add_process({.number = 1, .name = "rank 1 on a"}, bytes, [](auto time) { return time; });
    EXPECT_TRUE(Shown(trace).spans.empty());
    run_chain();
    EXPECT_EQ(Shown(trace).spans.size(), 5u);
}

TEST_F(TraceOfProcesses, RefusesBytesThatAreCutOff) {
    const std::vector<std::byte> bytes = bytes_of_other();
    Trace trace;
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_THROW(trace.add_process({}, std::span(bytes).first(size), [](auto time) { return time; }),
                     Error)
            << size;
    trace.add_process({}, bytes, [](auto time) { return time; });
    EXPECT_EQ(Shown(trace).spans.size(), 5u);
}

} // namespace
} // namespace headrace
