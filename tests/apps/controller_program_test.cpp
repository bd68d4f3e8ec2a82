// The frame of the controller programs: devices and modes as chosen, a report of what was measured, exit
// codes.
#include "controller_program/run.hpp"
#include <core/fake_device.hpp>
#include <core/quiet_machine.hpp>
#include <core/scratch_folder.hpp>
#include <core/takes.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace controller_program {
namespace {

using namespace std::chrono_literals;
using headrace::Access;
using headrace::NativeStream;
using headrace::test::ScratchFolder;
using headrace::test::takes;

struct Ended {
    int code;
    std::string output, errors;
};

class ControllerProgram : public testing::Test {
protected:
    Ended run_with(std::vector<std::string> arguments, const std::function<void(Machine&)>& work) {
        arguments.insert(arguments.begin(), "headrace-test");
        std::vector<char*> argv;
        for (std::string& argument : arguments) argv.push_back(argument.data());
        program::CommandLine line("headrace-test", "Tests.");
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const int code = run(line, static_cast<int>(argv.size()), argv.data(), work);
        return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
    }
    [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
    [[nodiscard]] nlohmann::json read(const std::string& name) const {
        return nlohmann::json::parse(std::ifstream(folder_.path() / name));
    }

    ScratchFolder folder_;
};

/// A kernel that takes its time, and a host task that reads what it made.
void work_a_while(Machine& machine, headrace::Storage& data) {
    const headrace::Tile tile = data.tile();
    machine.controller().launch("slow", {{{tile, Access::write}}}, [](const NativeStream&) { takes(20ms); });
    machine.lane("reading").run("read", {{{tile, Access::read}}}, [] { takes(2ms); });
}

TEST_F(ControllerProgram, ReportsWhatWasMeasured) {
    headrace::test::on_a_quiet_machine([this] {
        const Ended ended =
            run_with({"--devices", "cpu", "--report", file("report.json"), "--quiet"}, [](Machine& machine) {
                headrace::Storage data("data", 4096), more("more", 4096);
                work_a_while(machine, more); // not measured
                machine.wait_all();
                machine.timed([&] { work_a_while(machine, data); });
                machine.timed([&] { work_a_while(machine, data); });
                machine.report("checksum", 0.5);
                machine.report("frame_seconds", std::vector<double>{1, 2});
            });
        EXPECT_EQ(ended.code, 0);
        EXPECT_EQ(ended.output + ended.errors, "");
        const auto report = read("report.json");
        EXPECT_EQ(report.at("program"), "headrace-test");
        EXPECT_EQ(report.at("mode"), "async");
        EXPECT_EQ(report.at("checksum"), 0.5);
        EXPECT_EQ(report.at("frame_seconds"), (std::vector<double>{1, 2}));
        ASSERT_EQ(report.at("devices").size(), 1u);
        const auto& cpu = report.at("devices").at(0);
        EXPECT_EQ(cpu.at("id"), "cpu");
        EXPECT_EQ(cpu.at("kind"), "cpu");
        EXPECT_EQ(cpu.at("requests"), 2);
        const double seconds = report.at("seconds"), busy = cpu.at("busy_seconds");
        EXPECT_GE(busy, 0.040);
        EXPECT_GE(seconds, busy + 0.004) << "the host tasks come after the kernels";
        EXPECT_EQ(report.at("bottleneck").at("device"), "cpu");
        EXPECT_EQ(report.at("bottleneck").at("name"), "kernels");
        EXPECT_DOUBLE_EQ(report.at("bottleneck").at("share"), busy / seconds);
    });
}

TEST_F(ControllerProgram, BytesAreThoseThatMoved) {
    std::ofstream(file("machine.toml"))
        << "[[node]]\n[[node.device]]\nkind = \"cpu\"\ncopies = \"private\"\n";
    const Ended ended =
        run_with({"--devices", file("machine.toml"), "--report", file("report.json"), "--quiet"},
                 [](Machine& machine) {
                     EXPECT_FALSE(machine.controller().is_zero_copy()) << "the file's settings are heeded";
                     std::vector<char> input(1000);
                     headrace::Storage in("in", input.size(), input.data()), out("out", 300);
                     machine.timed([&] {
                         machine.controller().launch(
                             "kernel", {{{in.tile(), Access::read}, {out.tile(), Access::write}}},
                             [](const NativeStream&) {});
                         machine.lane("reading").run("read", {{{out.tile(), Access::read}}}, [] {});
                     });
                 });
    EXPECT_EQ(ended.code, 0) << ended.errors;
    const auto report = read("report.json");
    const auto& cpu = report.at("devices").at(0);
    EXPECT_EQ(cpu.at("bytes_in"), 1000);
    EXPECT_EQ(cpu.at("bytes_out"), 300);
    EXPECT_EQ(cpu.at("requests"), 3);
}

TEST_F(ControllerProgram, ModesAreThoseOfControllersAndLanes) {
    for (const bool asynchronous : {false, true}) {
        const Ended ended = run_with(
            {"--devices", "cpu", "--quiet", "--mode", asynchronous ? "async" : "sync"},
            [&](Machine& machine) {
                EXPECT_EQ(machine.is_asynchronous(), asynchronous);
                std::promise<void> looked; // they end when it has been seen that they have not, or at once
                const auto work = [&, may_end = looked.get_future().share()] {
                    if (asynchronous) may_end.wait();
                };
                headrace::Controller* const all[] = {&machine.controller(0), &machine.controller(3)};
                for (headrace::Controller* each : all)
                    EXPECT_EQ(each->launch("slow", {}, [&](const NativeStream&) { work(); }).done(),
                              !asynchronous);
                EXPECT_EQ(machine.lane("lane").run("slow", {}, work).done(), !asynchronous);
                looked.set_value();
                machine.wait_all();
            });
        EXPECT_EQ(ended.code, 0);
    }
}

TEST_F(ControllerProgram, ThereAreAsManyControllersAsAskedFor) {
    const Ended ended = run_with({"--devices", "cpu", "--quiet"}, [](Machine& machine) {
        headrace::Controller& first = machine.controller();
        EXPECT_EQ(&machine.controller(0), &first);
        EXPECT_NE(&machine.controller(1), &first);
        EXPECT_EQ(&machine.controller(1).device(), &machine.device());
        EXPECT_EQ(&machine.lane("a"), &machine.lane("a"));
        EXPECT_NE(&machine.lane("a"), &machine.lane("b"));
    });
    EXPECT_EQ(ended.code, 0);
}

TEST_F(ControllerProgram, BandsOfDevicesCoverAllRows) {
    const Ended ended = run_with({"--devices", "all", "--quiet"}, [](Machine& machine) {
        for (const int step : {1, 7, 128})
            for (int rows = 1; rows < 1500; rows += 1 + rows / 37) {
                const std::vector<int> ends = machine.ends_of_bands(rows, step);
                ASSERT_EQ(ends.size(), machine.device_count() + 1);
                EXPECT_EQ(ends.front(), 0);
                EXPECT_EQ(ends.back(), rows);
                for (std::size_t i = 0; i < machine.device_count(); ++i) {
                    EXPECT_LE(ends[i], ends[i + 1]) << rows << " rows in steps of " << step;
                    EXPECT_TRUE(ends[i] % step == 0 || ends[i] == rows) << rows << " in steps of " << step;
                }
            }
    });
    EXPECT_EQ(ended.code, 0) << ended.errors;
}

TEST(LeaveOutSlow, KeepsWhatGoesTogetherInItsOrder) {
    headrace::DeviceSelection selection;
    for (const auto& [id, gflops] :
         {std::pair{"cpu", 900.0}, {"fast", 10000.0}, {"half", 5000.0}, {"tenth", 1000.0}}) {
        selection.devices.push_back(std::make_unique<headrace::test::FakeDevice>(
            headrace::test::FakeOptions{.id = id, .peak_gflops = gflops}));
        selection.controllers.push_back({.private_copies = gflops == 5000.0});
    }
    controller_program::leave_out_slow(selection);
    ASSERT_EQ(selection.devices.size(), 3u);
    EXPECT_EQ(selection.devices[0]->info().id, "fast");
    EXPECT_EQ(selection.devices[1]->info().id, "half");
    EXPECT_EQ(selection.devices[2]->info().id, "tenth");
    ASSERT_EQ(selection.controllers.size(), 3u);
    EXPECT_TRUE(selection.controllers[1].private_copies);
    ASSERT_EQ(selection.left_out.size(), 1u);
    EXPECT_EQ(selection.left_out[0].id, "cpu");
}

TEST(LeaveOutSlow, KeepsDevicesOfUnknownSpeed) {
    headrace::DeviceSelection selection;
    for (int i = 0; i < 2; ++i) {
        selection.devices.push_back(
            std::make_unique<headrace::test::FakeDevice>(headrace::test::FakeOptions{.peak_gflops = 0}));
        selection.controllers.emplace_back();
    }
    controller_program::leave_out_slow(selection);
    EXPECT_EQ(selection.devices.size(), 2u);
}

TEST_F(ControllerProgram, TraceHasEveryRequest) {
    const Ended ended =
        run_with({"--devices", "cpu", "--trace", file("trace.json"), "--gantt", file("chart.svg"), "--quiet"},
                 [](Machine& machine) {
                     headrace::Storage data("data", 4096);
                     machine.timed([&] { work_a_while(machine, data); });
                 });
    EXPECT_EQ(ended.code, 0);
    std::ostringstream chart;
    chart << std::ifstream(file("chart.svg")).rdbuf();
    EXPECT_NE(chart.str().find("2 requests in"), std::string::npos) << chart.str();
    std::vector<std::string> names;
    const auto trace = read("trace.json"); // stays while its parts are looked at
    for (const auto& event : trace.at("traceEvents"))
        if (event.at("ph") == "X") names.push_back(event.at("name"));
    EXPECT_EQ(names, (std::vector<std::string>{"slow", "read"}));
    EXPECT_EQ(headrace::Trace::recording(), nullptr) << "it ends with the machine";
}

TEST_F(ControllerProgram, QuietWithoutFilesRecordsNothing) {
    const Ended ended = run_with({"--devices", "cpu", "--quiet"},
                                 [](Machine&) { EXPECT_EQ(headrace::Trace::recording(), nullptr); });
    EXPECT_EQ(ended.code, 0);
}

TEST_F(ControllerProgram, TableGoesWhereNoDataGoes) {
    const auto work = [](Machine& machine) { machine.report("checksum", 7.0); };
    const Ended table = run_with({"--devices", "cpu"}, work);
    EXPECT_NE(table.output.find("checksum 7"), std::string::npos) << table.output;
    EXPECT_EQ(table.errors, "");
    const Ended both = run_with({"--devices", "cpu", "--report", "-"}, work);
    EXPECT_EQ(nlohmann::json::parse(both.output).at("checksum"), 7);
    EXPECT_NE(both.errors.find("checksum 7"), std::string::npos) << both.errors;
}

TEST_F(ControllerProgram, ExitCodesTellMistakesFromFailures) {
    const auto never = [](Machine&) { FAIL() << "work began all the same"; };
    const auto expect = [&](const std::vector<std::string>& arguments, int code, const std::string& words,
                            const std::function<void(Machine&)>& work) {
        const Ended ended = run_with(arguments, work);
        EXPECT_EQ(ended.code, code) << ended.errors;
        EXPECT_EQ(std::ranges::count(ended.errors, '\n'), 1) << ended.errors;
        EXPECT_NE(ended.errors.find("headrace-test: "), std::string::npos) << ended.errors;
        EXPECT_NE(ended.errors.find(words), std::string::npos) << ended.errors;
        EXPECT_EQ(ended.output, "");
    };
    expect({"--mode", "both"}, 2, "--mode", never);
    expect({"--devices", "toaster"}, 2, "toaster", never);
    expect({"--report", file("nowhere/report.json")}, 2, "nowhere", never);
    expect({"--trace", folder_.path().string()}, 2, "folder", never);
    expect({"--gantt", file("nowhere/chart.svg")}, 2, "nowhere", never);
    expect({"--devices", "cpu"}, 2, "too large", [](Machine&) { program::refuse("--size 9: too large"); });
    expect({"--devices", "cpu"}, 1, "two lines", [](Machine&) { throw std::runtime_error("two\nlines"); });
    expect({"--devices", "cpu"}, 1, "no disk", [](Machine& machine) {
        machine.lane("writing").run("write", {}, [] { throw std::runtime_error("no disk"); });
    });
    EXPECT_EQ(folder_.files(), 0u) << "a run that fails leaves nothing behind";
}

} // namespace
} // namespace controller_program
