// tests/domains/never_slower_test.cpp - a device beside a faster one must not make jobs later: in real time,
// on devices whose kernels sleep for as long as work of theirs would take, so that whoever else uses the
// processor meanwhile hardly counts.
#include <core/fake_device.hpp>
#include <headrace/domains/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// A device does one launch after the other, each of which costs it something beside its work.
struct Pace {
    double seconds_a_unit;
    Clock::time_point free_from{};

    static constexpr Seconds launch{200e-6};

    Clock::time_point done(std::uint64_t units) {
        free_from = std::max(free_from, Clock::now()) +
                    std::chrono::duration_cast<Clock::duration>(
                        launch + Seconds(static_cast<double>(units) * seconds_a_unit));
        return free_from;
    }
};

constexpr std::uint64_t units = 60'000;

/// Of a job that would take each device alone so long: the least of some, after some from which the model
/// learns. What else the machine does adds to it.
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
    double least = 1e9;
    for (int turn = 0; turn < 8; ++turn) {
        const Job job = Job("sleep", units).host_function("fake", [&](Task& task, const NativeStream&) {
            std::unique_lock lock(mutex);
            const auto done = paces.at(task.device().info().id).done(task.range().size());
            lock.unlock();
            std::this_thread::sleep_until(done);
        });
        const auto begin = Clock::now();
        runtime.submit(job).wait();
        if (turn >= 4) least = std::min(least, Seconds(Clock::now() - begin).count());
    }
    return least;
}

TEST(NeverSlower, BesideADeviceOneToTwoHundredTimesSlower) {
    for (const double alone : {0.02, 0.1}) {
        const double without = seconds({alone});
        for (const double slower : {1.0, 3.0, 10.0, 30.0, 60.0, 200.0}) {
            const double with = seconds({alone, slower * alone});
            const double best = alone / (1 + 1 / slower);
            SCOPED_TRACE(std::to_string(alone) + " s beside a device " + std::to_string(slower) +
                         " times slower");
            EXPECT_LT(with, 1.1 * without);
            EXPECT_LT(with, 1.25 * best + 0.004) << "tasks cost something, too";
        }
    }
}

} // namespace
} // namespace headrace
