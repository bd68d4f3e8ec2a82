// tests/bench/slowed_device_test.cpp - jobs on devices that are slower than they are, become so, and fail.
#include "bench/slowed_device.hpp"
#include "coexec/problems.hpp"

#include <core/quiet_machine.hpp>
#include <devices/devices_fixture.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::SlowedDevice;

/// Small tasks, and none for a device that has had some more than another: all have something, whoever is
/// fast.
class Turns final : public headrace::Policy {
public:
    std::uint64_t next(std::size_t device, const headrace::Progress& progress) override {
        served_.resize(progress.devices.size());
        for (std::size_t i = 0; i < served_.size(); ++i)
            if (progress.devices[i].capability > 0 && served_[device] > served_[i] + 3) return 0;
        ++served_[device];
        return std::min(progress.total / 200 + 1, progress.remaining);
    }

private:
    std::vector<unsigned> served_;
};

/// Made slower: the parameter. Beside it a processor, or what else there is.
class Slowed : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        const std::string id = GetParam();
        const auto other = id == "cpu" ? "opencl:pocl" : "cpu";
        std::string why;
        auto devices = headrace::test::open_devices(id + "," + other, why);
        if (!why.empty()) {
            ASSERT_FALSE(headrace::test::device_is_required(id)) << why;
            GTEST_SKIP() << why;
        }
        auto slowed = std::make_unique<SlowedDevice>(std::move(devices[0]), 1);
        slowed_ = slowed.get();
        devices[0] = std::move(slowed);
        headrace::RuntimeOptions options;
        options.model = "online";
        runtime_ = std::make_unique<headrace::Runtime>(std::move(devices), std::move(options));
        set_up(60'001);
    }

    void set_up(std::uint64_t size) {
        coexec::Settings settings;
        settings.size = size;
        settings.terms = 300;
        problem_ = coexec::make_taylor(settings, *runtime_);
    }

    /// `when_it_has_done_something` is told what part of the job's units are done, at the end of each task of
    /// the slowed device.
    headrace::JobReport run(
        const std::function<void(double)>& when_it_has_done_something = [](double) {},
        const std::string& policy = "turns") {
        problem_->reset();
        headrace::Job job = problem_->job();
        if (policy == "turns")
            job.policy([] { return std::make_unique<Turns>(); }, policy);
        else
            job.policy(policy);
        const std::string id = slowed_->info().id;
        double done = 0; // told one at a time
        job.on_tasks({}, [&](const headrace::TaskStatistics& tasks) {
            for (const headrace::IndexRange& range : tasks.ranges)
                done += static_cast<double>(range.size()) / static_cast<double>(job.work_units());
            if (tasks.device == id) when_it_has_done_something(done);
        });
        const headrace::JobHandle handle = runtime_->submit(job);
        handle.wait();
        problem_->collect();
        const coexec::Verdict verdict = problem_->verify(1);
        if (verdict.wrong > 0) throw std::runtime_error("wrong: " + verdict.first_wrong);
        EXPECT_GT(verdict.compared, 0u);
        return handle.report();
    }

    SlowedDevice* slowed_ = nullptr;
    std::unique_ptr<headrace::Runtime> runtime_;
    std::unique_ptr<coexec::Problem> problem_;
};

TEST_P(Slowed, ItsResultsAreRightAndTakeItLonger) {
    headrace::test::on_a_quiet_machine([this] {
        const auto seconds_a_unit = [](const headrace::JobReport& report) {
            return report.devices[0].busy_seconds / static_cast<double>(report.devices[0].work_units);
        };
        slowed_->slow_down(1);
        static_cast<void>(run()); // compilers, caches
        const double as_it_is = seconds_a_unit(run());
        slowed_->slow_down(50);
        const headrace::JobReport report = run();
        EXPECT_GT(seconds_a_unit(report), 10 * as_it_is) << "50 times, and some noise";
        EXPECT_GT(report.devices[1].share, 0);
    });
}

TEST_P(Slowed, SlowingDownInMidJobDoesNotChangeTheResult) {
    headrace::test::on_a_quiet_machine([this] {
        slowed_->slow_down(1);
        static_cast<void>(run()); // compilers, caches
        int tasks = 0;
        const headrace::JobReport report = run([&](double) {
            if (++tasks == 10) slowed_->slow_down(50);
        });
        EXPECT_GT(report.devices[0].tasks, 10u);
        EXPECT_NEAR(report.devices[0].share + report.devices[1].share, 1, 1e-9);
        EXPECT_GT(report.devices[0].slowdown, 10) << "the report names it";
        EXPECT_NE(report.table().find("times as long in the end"), std::string::npos) << report.table();
    });
}

/// At best, what is left then takes its part of a job with a device that was slow from the beginning; nobody
/// knows at once. (If the device kept half of that, two equal ones would take 25 times as long as
/// undisturbed.)
TEST_P(Slowed, SlowingDownInMidJobLeavesMostOfTheWorkToTheOther) {
    headrace::test::on_a_quiet_machine([this] {
        using Hook = std::function<void(double)>;
        const auto least_of_three = [this](double times, const Hook& when_it_has_done_something) {
            double seconds = std::numeric_limits<double>::infinity();
            for (int time = 0; time < 3; ++time) {
                slowed_->slow_down(times);
                seconds = std::min(seconds, run(when_it_has_done_something, "adaptive").seconds);
            }
            return seconds;
        };
        set_up(400'003);
        static_cast<void>(run([](double) {}, "adaptive")); // compilers, caches
        const double undisturbed = least_of_three(1, [](double) {});
        const double slow = least_of_three(50, [](double) {});
        double left = 0;
        const double disturbed = least_of_three(1, [&](double done) {
            if (slowed_->slow_down(50) == 1) left = std::max(left, 1 - done);
        });
        EXPECT_LT(disturbed, 2 * (undisturbed + left * slow)) << left << " were left";
    });
}

TEST_P(Slowed, FailingInMidJobLeavesTheWorkToTheOther) {
    const headrace::JobReport report = run([this](double) { slowed_->fail(); });
    EXPECT_NE(report.devices[0].failure.find(slowed_->info().id), std::string::npos) << "the report names it";
    EXPECT_DOUBLE_EQ(report.devices[1].share, 1);
}

TEST_P(Slowed, FailingAtStartLeavesAllTheWorkToTheOther) {
    slowed_->fail();
    const headrace::JobReport report = run();
    EXPECT_NE(report.devices[0].failure.find("lost, as was asked for"), std::string::npos);
    EXPECT_EQ(report.devices[0].work_units, 0u);
    EXPECT_DOUBLE_EQ(report.devices[1].share, 1);
}

INSTANTIATE_TEST_SUITE_P(Devices, Slowed, testing::Values("cpu", "cuda:0"), [](const auto& device) {
    std::string name = device.param;
    for (char& c : name)
        if (c == ':') c = '_';
    return name;
});

} // namespace
