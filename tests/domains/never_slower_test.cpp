// tests/domains/never_slower_test.cpp - a device beside a faster one must not make jobs later: whole jobs in
// real time, on devices whose kernels sleep for as long as work of theirs would take.
#include <core/environment_variable.hpp>
#include <core/fake_device.hpp>
#include <core/quiet_machine.hpp>
#include <core/sanitizers.hpp>
#include <core/takes.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// A device does one launch after the other, each of which costs it something beside its work.
struct Pace {
    double seconds_a_unit;
    Seconds launch;
    Seconds busy{};
    Clock::time_point free_from{};

    Clock::time_point done(std::uint64_t units) {
        const Seconds takes = launch + Seconds(static_cast<double>(units) * seconds_a_unit);
        busy += takes;
        free_from = std::max(free_from, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
        return free_from;
    }
};

constexpr std::uint64_t units = 60'000;

/// Of a job that would take each device alone so long, as some turns show it after some from which the model
/// learns.
struct Timing {
    double busiest; ///< of the devices, how long it is at work: the median
    double
        end; ///< of the last one's work: the least. Much of it may be gaps, when nobody wakes these threads
};

Timing time_job(const std::vector<double>& seconds_of_devices, Seconds launch_of_last = Seconds(200e-6),
                int turns_alone = 0) {
    const test::EnvironmentVariable nowhere("HEADRACE_CALIBRATIONS", ""); // as if nobody had measured before
    std::map<std::string, Pace> paces;
    std::vector<std::unique_ptr<Device>> devices;
    for (const double& alone : seconds_of_devices) {
        const std::string id = "fake:" + std::to_string(devices.size());
        const bool is_last = &alone == &seconds_of_devices.back();
        paces[id] = {.seconds_a_unit = alone / units, .launch = is_last ? launch_of_last : Seconds(200e-6)};
        devices.push_back(std::make_unique<test::FakeDevice>(test::FakeOptions{.id = id}));
    }
    Runtime runtime(std::move(devices), {});
    std::mutex mutex;
    std::vector<double> turns;
    double end = 1e9;
    const Job job = Job("sleep", units).host_function("fake", [&](Task& task, const NativeStream&) {
        std::unique_lock lock(mutex);
        const auto done = paces.at(task.device().info().id).done(task.range().size());
        lock.unlock();
        test::takes(done - Clock::now());
    });
    for (const auto& [id, pace] : paces)
        for (int turn = 0; turn < turns_alone; ++turn) runtime.submit(Job(job).only_on({id})).wait();
    for (int turn = 0; turn < 9; ++turn) {
        const auto begin = Clock::now();
        runtime.submit(job).wait();
        Seconds busiest{}, last{};
        for (auto& [id, pace] : paces) {
            busiest = std::max(busiest, std::exchange(pace.busy, Seconds{}));
            last = std::max<Seconds>(last, pace.free_from - begin);
        }
        if (turn < 4) continue;
        turns.push_back(busiest.count());
        end = std::min(end, last.count());
    }
    std::ranges::nth_element(turns, turns.begin() + 2);
    return {turns[2], end};
}

TEST(NeverSlower, BesideADeviceOneToTwoHundredTimesSlower) {
    for (const double alone : {0.02, 0.1}) {
        const Timing without = time_job({alone});
        for (const double slower : {1.0, 3.0, 10.0, 30.0, 60.0, 200.0}) {
            SCOPED_TRACE(std::to_string(alone) + " s beside a device " + std::to_string(slower) +
                         " times slower");
            test::on_a_quiet_machine([&] {
                const Timing with = time_job({alone, slower * alone});
                EXPECT_LT(with.busiest, 1.05 * without.busiest);
                EXPECT_LT(with.end, 1.1 * without.end + 0.005);
                if (slower == 1 && alone > 0.05) { // less is lost in how long threads take to wake
                    EXPECT_LT(with.busiest, 0.8 * without.busiest) << "half, and what tasks cost";
                }
            });
        }
    }
}

/// As one whose single work unit takes long, though many at once take no longer: what it does alone promises
/// more than it keeps.
TEST(NeverSlower, BesideADeviceWhoseEveryTaskTakesLongerThanTheJob) {
    test::on_a_quiet_machine([] {
        const double alone = 0.05;
        const Timing without = time_job({alone});
        const Timing with = time_job({alone, 10 * alone}, Seconds(3 * alone), 3);
        EXPECT_LT(with.busiest, 1.05 * without.busiest);
        EXPECT_LT(with.end, 1.1 * without.end + 0.005);
    });
}

/// Two devices, the first of which takes 2 ms for a job and the second 20 us.
struct Uneven {
    const test::EnvironmentVariable nowhere{"HEADRACE_CALIBRATIONS", ""};
    std::unique_ptr<Runtime> runtime = [] {
        std::vector<std::unique_ptr<Device>> devices;
        for (const char* const id : {"fake:0", "fake:1"})
            devices.push_back(std::make_unique<test::FakeDevice>(test::FakeOptions{.id = id}));
        return std::make_unique<Runtime>(std::move(devices), RuntimeOptions{});
    }();
    Job job = Job("next to nothing", units).host_function("fake", [](Task& task, const NativeStream&) {
        const double seconds = task.device().info().id == "fake:0" ? 2e-3 : 20e-6;
        const Seconds takes(seconds * static_cast<double>(task.range().size()) / units);
        const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(takes);
        while (Clock::now() < end) {
        }
    });
};

/// The faster one is never at work for a tenth of a millisecond: no model keeps how fast it is.
TEST(NeverSlower, JobsThatAreOverAtOnce) {
    if (test::under_address_sanitizer) GTEST_SKIP() << "with the sanitizer no job is over at once";
    test::on_a_quiet_machine([] {
        Uneven two;
        int with_both = 0;
        for (int turn = 0; turn < 60; ++turn) {
            const JobHandle handle = two.runtime->submit(two.job);
            handle.wait();
            if (turn >= 40 && handle.report().devices.at(0).reserve.empty()) ++with_both;
        }
        EXPECT_LT(with_both, 10) << "of twenty; a job that a late thread made long is another chance for all";
    });
}

/// As where the runtime's options do, or nobody does.
TEST(NeverSlower, AJobThatNamesThePolicyHasAReserveToo) {
    test::on_a_quiet_machine([] {
        Uneven two;
        const Job job = Job(two.job).policy("adaptive");
        bool has_had_one = false;
        for (int turn = 0; turn < 30; ++turn) {
            const JobHandle handle = two.runtime->submit(job);
            handle.wait();
            has_had_one |= std::ranges::any_of(
                handle.report().devices, [](const DeviceReport& device) { return !device.reserve.empty(); });
        }
        EXPECT_TRUE(has_had_one);
    });
}

TEST(NeverSlower, OfJobsThatAreSubmittedTogetherOneIsATrial) {
    Uneven two;
    for (int turn = 0; turn < 6; ++turn) two.runtime->submit(two.job).wait();
    std::vector<JobHandle> handles;
    for (int i = 0; i < 40; ++i) handles.push_back(two.runtime->submit(two.job));
    int trials = 0;
    for (const JobHandle& handle : handles) {
        handle.wait();
        const JobReport report = handle.report();
        // Others are of a co-execution set that has settled it in the six.
        if (std::ranges::any_of(report.devices, [](const DeviceReport& device) {
                return device.reserve.find("now it is tried") != std::string::npos;
            }))
            ++trials;
    }
    EXPECT_LT(trials, 10);
}

} // namespace
} // namespace headrace
