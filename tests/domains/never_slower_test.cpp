// tests/domains/never_slower_test.cpp - a device beside a faster one must not make jobs later: whole jobs in
// real time, on devices whose kernels sleep for as long as work of theirs would take.
#include <core/fake_device.hpp>
#include <headrace/domains/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// A device does one launch after the other, each of which costs it something beside its work.
struct Pace {
    double seconds_a_unit;
    Seconds busy{};
    Clock::time_point free_from{};

    static constexpr Seconds launch{200e-6};

    Clock::time_point done(std::uint64_t units) {
        const Seconds takes = launch + Seconds(static_cast<double>(units) * seconds_a_unit);
        busy += takes;
        free_from = std::max(free_from, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
        return free_from;
    }
};

constexpr std::uint64_t units = 60'000;

/// How long the busiest device is at work on a job that would take each of them alone so long: the median of
/// some jobs, after some from which the model learns. Gaps between tasks are not counted: they are long
/// whenever the machine has other things to do than to wake these threads.
double seconds(const std::vector<double>& seconds_of_devices) {
    std::map<std::string, Pace> paces;
    std::vector<std::unique_ptr<Device>> devices;
    for (const double alone : seconds_of_devices) {
        const std::string id = "fake:" + std::to_string(devices.size());
        paces[id] = {.seconds_a_unit = alone / units};
        devices.push_back(std::make_unique<testing::FakeDevice>(testing::FakeOptions{.id = id}));
    }
    Runtime runtime(std::move(devices), {});
    std::mutex mutex;
    std::vector<double> turns;
    for (int turn = 0; turn < 9; ++turn) {
        const Job job = Job("sleep", units).host_function("fake", [&](Task& task, const NativeStream&) {
            std::unique_lock lock(mutex);
            const auto done = paces.at(task.device().info().id).done(task.range().size());
            lock.unlock();
            std::this_thread::sleep_until(done);
        });
        runtime.submit(job).wait();
        Seconds busiest{};
        for (auto& [id, pace] : paces) busiest = std::max(busiest, std::exchange(pace.busy, Seconds{}));
        if (turn >= 4) turns.push_back(busiest.count());
    }
    std::ranges::nth_element(turns, turns.begin() + 2);
    return turns[2];
}

TEST(NeverSlower, BesideADeviceOneToTwoHundredTimesSlower) {
    for (const double alone : {0.02, 0.1}) {
        const double without = seconds({alone});
        for (const double slower : {1.0, 3.0, 10.0, 30.0, 60.0, 200.0}) {
            const double with = seconds({alone, slower * alone});
            SCOPED_TRACE(std::to_string(alone) + " s beside a device " + std::to_string(slower) +
                         " times slower");
            EXPECT_LT(with, 1.05 * without);
            if (slower == 1) {
                EXPECT_LT(with, 0.5 * without + 0.02) << "half, and what tasks cost";
            }
        }
    }
}

} // namespace
} // namespace headrace
