// tests/domains/job_energy_test.cpp - a job's energy from its devices' meters, with made-up ones.
#include <core/quiet_machine.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

/// Counts what the test says, when it says so.
class MadeUpMeter final : public EnergyMeter {
public:
    MadeUpMeter(const std::atomic<double>& joules, std::atomic<int>& readings,
                const std::atomic<bool>& answers, std::chrono::nanoseconds shortest)
        : joules_(joules), readings_(readings), answers_(answers), shortest_(shortest) {}
    [[nodiscard]] std::string_view name() const noexcept override { return "made up"; }
    [[nodiscard]] Figure joules() override {
        ++readings_;
        answers_.wait(false);
        const double now = joules_;
        return now < 0 ? Figure{std::nullopt, "it is broken"} : Figure{now, {}};
    }
    [[nodiscard]] std::chrono::nanoseconds shortest() const noexcept override { return shortest_; }

private:
    const std::atomic<double>& joules_;
    std::atomic<int>& readings_;
    const std::atomic<bool>& answers_;
    std::chrono::nanoseconds shortest_;
};

/// Two devices, each of which does half of a job.
class JobEnergyTest : public testing::Test {
protected:
    ~JobEnergyTest() override { meters_answer(); }

    void meters_answer() {
        answers_ = true;
        answers_.notify_all();
    }
    std::shared_ptr<EnergyReader> reader(const std::atomic<double>& joules,
                                         std::chrono::nanoseconds shortest = 0ns) {
        return std::make_shared<EnergyReader>(
            std::make_unique<MadeUpMeter>(joules, readings_, answers_, shortest));
    }
    void begin(const std::shared_ptr<EnergyReader>& first, const std::shared_ptr<EnergyReader>& second) {
        infos_[0].id = "first";
        infos_[1].id = "second";
        job_ = std::make_shared<JobExecution>(
            Job("j", 100), JobExecution::Scheduling{make_policy("demand:2"), false},
            std::vector<JobExecution::Participant>{{0, &infos_[0], {}, first}, {1, &infos_[1], {}, second}});
        job_->start();
        for (const auto& one : {first, second}) // they have read for the job when they have for us
            if (one && answers_) static_cast<void>(one->recent().get());
    }
    JobReport end(std::size_t last = 1) {
        for (const std::size_t device : {std::size_t{0}, last})
            job_->finished(device, {*job_->next(device)}, {});
        EXPECT_TRUE(job_->event().done());
        return job_->report();
    }

    std::atomic<double> joules_ = 1000, others_ = 500;
    std::atomic<int> readings_ = 0;
    std::atomic<bool> answers_ = true;
    DeviceInfo infos_[2];
    std::shared_ptr<JobExecution> job_;
};

TEST_F(JobEnergyTest, IsTheSumOfWhatItsDevicesUsed) {
    begin(reader(joules_), reader(others_));
    joules_ = 1030;
    others_ = 512;
    const JobReport report = end();
    EXPECT_EQ(report.devices[0].energy_joules.value, 30);
    EXPECT_EQ(report.devices[1].energy_joules.value, 12);
    ASSERT_TRUE(report.energy_joules.value);
    EXPECT_EQ(*report.energy_joules.value, 42);
    EXPECT_GT(report.seconds, 0);
    EXPECT_DOUBLE_EQ(*report.devices[0].energy_delay_product.value, 30 * report.seconds);
    EXPECT_DOUBLE_EQ(*report.energy_delay_product.value, 42 * report.seconds);
}

TEST_F(JobEnergyTest, TwoViewsOfOnePieceOfHardwareCountOnce) {
    const auto both = reader(joules_);
    begin(both, both);
    joules_ = 1030;
    const JobReport report = end();
    EXPECT_EQ(report.devices[0].energy_joules.value, 30);
    EXPECT_EQ(report.devices[1].energy_joules.value, 30);
    EXPECT_EQ(report.energy_joules.value, 30);
}

TEST_F(JobEnergyTest, IsAbsentIfADeviceThatWorkedCannotTell) {
    others_ = -1;
    begin(reader(joules_), reader(others_));
    const JobReport report = end();
    EXPECT_TRUE(report.devices[0].energy_joules.value);
    EXPECT_EQ(report.devices[1].energy_joules.why_absent, "it is broken");
    EXPECT_EQ(report.energy_joules.why_absent, "second: it is broken");
    EXPECT_EQ(report.energy_delay_product.why_absent, "second: it is broken");
}

TEST_F(JobEnergyTest, ADeviceWithoutTasksNeedNotTell) {
    others_ = -1;
    begin(reader(joules_), reader(others_));
    joules_ = 1030;
    EXPECT_EQ(end(0).energy_joules.value, 30);
}

TEST_F(JobEnergyTest, NoMeterIsAReason) {
    begin(reader(joules_), nullptr);
    EXPECT_EQ(end().energy_joules.why_absent, "second: nothing measures this device's energy");
}

TEST_F(JobEnergyTest, JobsTooShortForTheMeterSaySoAndWaitForNoReading) {
    answers_ = false;
    begin(reader(joules_, 1h), reader(others_, 1h));
    JobReport report;
    on_a_quiet_machine([&] {
        const auto before = std::chrono::steady_clock::now();
        report = job_->event().done() ? job_->report() : end();
        EXPECT_LT(std::chrono::steady_clock::now() - before, 500ms)
            << "who waits for a reading waits a second";
    });
    EXPECT_EQ(report.devices[0].energy_joules.why_absent,
              "the job was shorter than the meter can tell (3600000 ms)");
    EXPECT_EQ(report.energy_joules.why_absent, "first: " + report.devices[0].energy_joules.why_absent);
}

TEST_F(JobEnergyTest, AMeterThatTakesItsTimeHoldsUpNoJob) {
    answers_ = false;
    const auto first = reader(joules_), second = reader(others_);
    begin(first, second);
    for (const std::size_t device : {0, 1}) job_->finished(device, {*job_->next(device)}, {});
    EXPECT_TRUE(job_->event().done());
    meters_answer();
    for (const auto& one : {first, second}) static_cast<void>(one->fresh().get());
    EXPECT_TRUE(job_->report().energy_joules.value);
}

TEST_F(JobEnergyTest, ShortJobsInARowShareReadings) {
    const auto one = reader(joules_, 1h);
    for (int i = 0; i < 100; ++i) static_cast<void>(one->recent().get());
    EXPECT_EQ(readings_, 1);
    static_cast<void>(one->fresh().get());
    EXPECT_EQ(readings_, 2);
}

TEST_F(JobEnergyTest, AReaderAnswersWhoeverAskedBeforeItGoes) {
    answers_ = false;
    auto one = reader(joules_, 1h);
    const auto reading = one->fresh();
    const std::jthread later([this] { meters_answer(); });
    one.reset();
    EXPECT_EQ(reading.get().value, 1000);
}

} // namespace
} // namespace headrace::test
