// One report for several jobs that followed each other.
#include <headrace/internal/domains/epochs/report_sum.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace headrace::test {
namespace {

DeviceReport device(std::string id, DeviceKind kind, std::uint64_t units, double end) {
    DeviceReport device;
    device.id = std::move(id);
    device.kind = kind;
    device.seeds_transferred = 1;
    device.units_transferred = 2;
    device.tasks = units > 0 ? 3 : 0;
    device.work_units = units;
    device.busy_seconds = end / 2;
    device.finished_seconds = end;
    device.bytes_in = 100;
    device.units_received = 5;
    device.engine.launches = 4;
    device.energy_joules = {10.0, {}};
    return device;
}

JobReport job(std::uint64_t of_cpu, std::uint64_t of_gpu) {
    JobReport report;
    report.job = "a job";
    report.policy = "adaptive";
    report.work_units = of_cpu + of_gpu;
    report.devices = {device("cpu", DeviceKind::cpu, of_cpu, 1),
                      device("cuda:0", DeviceKind::gpu, of_gpu, 2)};
    report.balance = {0.5, {}};
    report.gpu_over_cpu = {2.0, {}};
    report.energy_joules = {20.0, {}};
    return report;
}

TEST(ReportSum, AddsAndComputesSharesAgain) {
    epochs::ReportSum sum;
    sum.add(job(10, 30), 0);
    sum.add(job(20, 140), 100);
    const JobReport report = sum.report(102);
    EXPECT_EQ(report.job, "a job");
    EXPECT_EQ(report.work_units, 200);
    EXPECT_EQ(report.seconds, 102);
    ASSERT_EQ(report.devices.size(), 2u);
    const DeviceReport& gpu = report.devices[1];
    EXPECT_EQ(gpu.work_units, 170);
    EXPECT_DOUBLE_EQ(gpu.share, 0.85);
    EXPECT_EQ(gpu.tasks, 6);
    EXPECT_DOUBLE_EQ(gpu.busy_seconds, 2);
    EXPECT_DOUBLE_EQ(gpu.finished_seconds, 102);
    EXPECT_EQ(gpu.bytes_in, 200);
    EXPECT_EQ(gpu.seeds_transferred, 2);
    EXPECT_EQ(gpu.units_transferred, 4);
    EXPECT_EQ(gpu.units_received, 10);
    EXPECT_EQ(gpu.engine.launches, 8);
    EXPECT_DOUBLE_EQ(*gpu.energy_joules.value, 20);
    EXPECT_DOUBLE_EQ(*gpu.energy_delay_product.value, 20 * 102);
    EXPECT_DOUBLE_EQ(*report.energy_joules.value, 40);
    EXPECT_DOUBLE_EQ(*report.balance.value, 0.5);
    EXPECT_DOUBLE_EQ(*report.gpu_over_cpu.value, 2);
    EXPECT_FALSE(report.heterogeneous_speed_up.value);
}

TEST(ReportSum, KeepsALostDeviceAndDoesNotListItTwice) {
    epochs::ReportSum sum;
    JobReport first = job(10, 30), second = job(40, 0);
    first.devices[1].failure = "it fell off the bus";
    second.devices.pop_back();
    second.left_out = {{"cuda:0", "a GPU", "it fell off the bus"}, {"opencl:0", "a CPU", "no kernel"}};
    second.energy_joules = {std::nullopt, "no meter"};
    sum.add(first, 0);
    sum.add(second, 2);
    const JobReport report = sum.report(4);
    ASSERT_EQ(report.devices.size(), 2u);
    EXPECT_EQ(report.devices[1].failure, "it fell off the bus");
    ASSERT_EQ(report.left_out.size(), 1u);
    EXPECT_EQ(report.left_out[0].id, "opencl:0");
    EXPECT_FALSE(report.energy_joules.value);
    EXPECT_EQ(report.energy_joules.why_absent, "no meter");
}

TEST(ReportSum, OfNoJobSaysWhyItHasNoFigures) {
    const JobReport report = epochs::ReportSum().report(0);
    EXPECT_EQ(report.balance.why_absent, "an earlier run did all work units");
    EXPECT_NE(report.json().find("an earlier run"), std::string::npos);
}

} // namespace
} // namespace headrace::test
