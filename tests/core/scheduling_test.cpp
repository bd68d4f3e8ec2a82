// tests/core/scheduling_test.cpp - whole jobs simulated, with 2 to 64 made-up devices: speeds up to a
// thousand times apart, guesses as wrong as that, devices that slow down and that are lost.
#include <core/seeds.hpp>
#include <headrace/core/policy.hpp>
#include <headrace/internal/core/rates.hpp>
#include <headrace/internal/core/schedule.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace headrace {
namespace {

constexpr double never = std::numeric_limits<double>::max();

struct MadeUp {
    double speed = 1;         ///< units per second
    double guess = 1;         ///< what the model says of it
    bool is_measured = false; ///< the guess is in units per second
    bool is_certain = false;
    double changes_at = never, to = 1; ///< seconds; then it is so many times as fast
    double lost_at = never;
    std::uint64_t least = 1;
    double cost = 0; ///< seconds of a task before its first unit; only where nothing is taken back

    [[nodiscard]] double done_at(double begin, double units) const {
        begin += cost;
        const double until_change = std::max(0.0, changes_at - begin) * speed;
        if (units <= until_change) return begin + units / speed;
        return std::max(begin, changes_at) + (units - until_change) / (speed * to);
    }
    [[nodiscard]] double done_units(double begin, double now) const {
        const double before = std::max(0.0, std::min(now, changes_at) - begin);
        const double after = std::max(0.0, now - std::max(begin, changes_at));
        return speed * (before + to * after);
    }
};

/// A job on such devices, each with two tasks at a time, one behind the other: as the dispatcher does it.
class Simulation {
public:
    double end = 0;
    std::uint64_t done = 0, tasks = 0;
    std::vector<std::uint64_t> units; ///< by device, of work that counts
    std::vector<double> ends;         ///< by device, of its last task; 0: it had none

    Simulation(const std::string& policy, std::uint64_t total, std::vector<MadeUp> devices,
               bool takes_back = true)
        : units(devices.size(), 0),
          ends(devices.size(), 0),
          policy_(make_policy(policy)),
          total_(total),
          left_(total),
          made_up_(std::move(devices)),
          state_(made_up_.size()),
          rates_(estimates(made_up_)),
          takes_back_(takes_back) {
        run();
    }

private:
    static constexpr std::size_t window = 2;
    struct Task {
        std::uint64_t units;
        double begin;           ///< never: behind another
        std::uint64_t told = 0; ///< units that are known to be done
        double told_at = 0;
    };
    struct State {
        std::deque<Task> tasks;
        std::uint64_t in_flight = 0, finished = 0;
        bool lost = false, refused = false;
    };

    static std::vector<Estimate> estimates(const std::vector<MadeUp>& devices) {
        std::vector<Estimate> estimates;
        for (const MadeUp& one : devices)
            estimates.push_back(
                {.peak = one.guess,
                 .units_per_second = one.is_measured ? std::optional(one.guess) : std::nullopt,
                 .certain = one.is_certain});
        return estimates;
    }

    void run() {
        for (std::size_t round = 0; done < total_; ++round) {
            ASSERT_LT(round, 1'000'000U) << "it does not get on";
            for (std::size_t i = 0; i < state_.size(); ++i) ask(i);
            if (takes_back_) take_back();
            std::size_t next = state_.size();
            double at = never;
            for (std::size_t i = 0; i < state_.size(); ++i)
                if (const double when = happens_at(i); when < at) at = when, next = i;
            ASSERT_LT(next, state_.size()) << done << " of " << total_ << " units done, and nobody works";
            now_ = at;
            if (made_up_[next].lost_at <= now_ && !state_[next].lost)
                lose(next);
            else
                finish(next);
        }
        end = now_;
    }

    [[nodiscard]] double happens_at(std::size_t i) const {
        const State& state = state_[i];
        if (state.lost) return never;
        if (state.tasks.empty()) return made_up_[i].lost_at;
        const Task& task = state.tasks.front();
        return std::min(made_up_[i].lost_at,
                        made_up_[i].done_at(task.begin, static_cast<double>(task.units)));
    }

    [[nodiscard]] Progress progress(std::span<const DeviceProgress> devices) const {
        return {.total = total_,
                .remaining = left_,
                .devices = devices,
                .task_seconds = rates_.are_per_second() ? 50e-6 : 0};
    }

    [[nodiscard]] std::vector<DeviceProgress> device_progress() const {
        std::vector<DeviceProgress> devices;
        for (std::size_t j = 0; j < state_.size(); ++j)
            devices.push_back({.capability = rates_.capability(j),
                               .measured = rates_.measured(j),
                               .certain = rates_.certain(j),
                               .gives_back = takes_back_,
                               .in_flight = state_[j].in_flight - expected_done(j),
                               .finished = state_[j].finished,
                               .least = made_up_[j].least});
        return devices;
    }

    [[nodiscard]] std::uint64_t wanted(std::size_t i) {
        const std::vector<DeviceProgress> devices = device_progress();
        return policy_->next(i, progress(devices));
    }

    [[nodiscard]] bool takes_over(std::size_t i) const {
        const std::vector<DeviceProgress> devices = device_progress();
        return policy_->takes_over(i, progress(devices));
    }

    /// By its speed, as far as it is known.
    [[nodiscard]] std::uint64_t expected_done(std::size_t i) const {
        if (state_[i].tasks.empty() || !rates_.measured(i)) return 0;
        const Task& running = state_[i].tasks.front();
        const double units_done = rates_.capability(i) * (now_ - running.begin);
        return static_cast<std::uint64_t>(std::min(units_done, static_cast<double>(running.units)));
    }

    void ask(std::size_t i) {
        State& state = state_[i];
        while (!state.lost && left_ > 0 && state.tasks.size() < window) {
            std::uint64_t size = wanted(i);
            EXPECT_LE(size, left_);
            if (size == 0) {
                state.refused = true;
                const auto waits = [](const State& one) {
                    return one.lost || (one.refused && one.tasks.empty());
                };
                if (!std::ranges::all_of(state_, waits)) return;
                size = 1;
            }
            for (State& one : state_) one.refused = false;
            left_ -= size;
            give(i, size);
        }
    }

    void give(std::size_t i, std::uint64_t size) {
        State& state = state_[i];
        const bool runs = state.tasks.empty();
        state.tasks.push_back({.units = size, .begin = runs ? now_ : never, .told_at = now_});
        state.in_flight += size;
        ++tasks;
    }

    /// A launch has paused: so much of it is done.
    void tell(std::size_t i) {
        Task& task = state_[i].tasks.front();
        const auto so_far = static_cast<std::uint64_t>(made_up_[i].done_units(task.begin, now_));
        learn(i, std::min(so_far, task.units) - task.told, now_ - task.told_at);
        task.told = std::min(so_far, task.units);
        task.told_at = now_;
    }

    void learn(std::size_t i, std::uint64_t size, double seconds) {
        const auto time =
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
        rates_.completed(i, size, time);
        policy_->completed(i, size, time);
    }

    /// What is not begun goes to those that have nothing, by capability.
    void take_back() {
        const auto has_nothing = [](const State& one) { return !one.lost && one.tasks.empty(); };
        if (left_ > 0 || std::ranges::none_of(state_, has_nothing)) return;
        for (std::size_t i = 0; i < state_.size(); ++i)
            if (!state_[i].lost && !state_[i].tasks.empty()) tell(i);
        double speeds = 0;
        for (const MadeUp& one : made_up_) speeds += one.speed;
        const double worth_it = 1e-3 * static_cast<double>(total_) / speeds;
        for (std::size_t donor = 0; donor < state_.size(); ++donor) {
            if (state_[donor].lost || state_[donor].tasks.empty()) continue;
            double all = rates_.capability(donor);
            std::vector<std::size_t> idle;
            for (std::size_t i = 0; i < state_.size(); ++i)
                if (has_nothing(state_[i]) && rates_.capability(i) > 0 && takes_over(i))
                    idle.push_back(i), all += rates_.capability(i);
            for (Task& task : state_[donor].tasks) {
                const double begun =
                    task.begin == never ? 0 : made_up_[donor].done_units(task.begin, now_) + 1;
                const double unbegun = std::floor(static_cast<double>(task.units) - begun);
                if (unbegun < worth_it * rates_.capability(donor)) continue;
                for (const std::size_t i : idle) {
                    const auto his = static_cast<std::uint64_t>(unbegun * rates_.capability(i) / all);
                    if (his < made_up_[i].least || his >= task.units) continue;
                    task.units -= his;
                    state_[donor].in_flight -= his;
                    give(i, his);
                }
            }
        }
    }

    void finish(std::size_t i) {
        State& state = state_[i];
        const Task task = state.tasks.front();
        state.tasks.pop_front();
        if (!state.tasks.empty()) state.tasks.front().begin = state.tasks.front().told_at = now_;
        state.in_flight -= task.units;
        state.finished += task.units;
        units[i] += task.units;
        ends[i] = now_;
        done += task.units;
        learn(i, task.units - task.told, now_ - task.told_at);
    }

    /// With all that it has done, which is to be done again.
    void lose(std::size_t i) {
        State& state = state_[i];
        state.lost = true;
        rates_.lost(i);
        left_ += state.in_flight + state.finished;
        done -= state.finished;
        units[i] = 0;
        state.tasks.clear();
        state.in_flight = state.finished = 0;
    }

    std::unique_ptr<Policy> policy_;
    std::uint64_t total_, left_;
    std::vector<MadeUp> made_up_;
    std::vector<State> state_;
    Rates rates_;
    bool takes_back_;
    double now_ = 0;
};

/// What holds for every job and every device.
class Scheduling : public testing::Test {
protected:
    explicit Scheduling(std::uint32_t seed = test::fresh_seed()) : random_(seed) {}
    std::mt19937_64 random_;

    /// From 1 down to 10^-decades, evenly by magnitude.
    double magnitude(double decades) {
        return std::pow(10.0, -decades * std::generate_canonical<double, 32>(random_));
    }
    std::uint64_t number(std::uint64_t least, std::uint64_t most) {
        return std::uniform_int_distribution(least, most)(random_);
    }
    /// 2 to 64, at 1000 to 10^6 units per second, or all at the same.
    std::vector<MadeUp> devices(std::size_t most = 64) {
        std::vector<MadeUp> devices(number(2, most));
        for (MadeUp& one : devices) one.speed = 1e6 * magnitude(3);
        devices.front().speed = 1e6;
        return devices;
    }
    static void know_speeds(std::vector<MadeUp>& devices) {
        for (MadeUp& one : devices) one.guess = one.speed, one.is_measured = one.is_certain = true;
    }
    static double all_speeds(const std::vector<MadeUp>& devices) {
        double sum = 0;
        for (const MadeUp& one : devices) sum += one.speed;
        return sum;
    }
};

/// How near to the best it comes, of which some jobs may be short.
class UsualScheduling : public Scheduling {
protected:
    UsualScheduling() : Scheduling(test::fixed_seed()) {}
};

constexpr std::array policies{"adaptive",  "demand",      "demand:50", "guided",
                              "dynamic:5", "dynamic:200", "static"};

TEST_F(Scheduling, EveryUnitIsDoneWhateverThePolicyAndTheDevices) {
    for (int round = 0; round < 10; ++round)
        for (const auto* policy : policies) {
            auto made_up = devices();
            for (MadeUp& one : made_up) {
                one.guess = 1e6 * magnitude(3);
                one.is_measured = number(0, 1) == 1;
                one.is_certain = one.is_measured && number(0, 1) == 1;
                one.least = number(0, 1) == 1 ? 32 : 1;
                if (number(0, 2) == 0) one.changes_at = magnitude(3), one.to = magnitude(3);
                if (number(0, 2) == 0) one.lost_at = magnitude(3);
            }
            made_up.back().lost_at = never; // somebody must do it
            const std::uint64_t total = number(1, 1 + (round % 3 == 0 ? 100 : 1'000'000));
            const Simulation job(policy, total, made_up);
            ASSERT_EQ(job.done, total) << policy;
            ASSERT_EQ(std::accumulate(job.units.begin(), job.units.end(), std::uint64_t{0}), total);
        }
}

TEST_F(UsualScheduling, AdaptiveComesNearTheBestThereIs) {
    double worst = 0;
    for (int round = 0; round < 100; ++round) {
        auto made_up = devices();
        know_speeds(made_up);
        const std::uint64_t total = number(5'000'000, 50'000'000);
        const double best = static_cast<double>(total) / all_speeds(made_up);
        worst = std::max(worst, Simulation("adaptive", total, made_up, false).end / best);
    }
    EXPECT_LT(worst, 1.04)
        << "without taking anything back, and without those that are not worth the trouble";
}

TEST_F(UsualScheduling, AllAreBusyToTheEnd) {
    double worst = 1;
    for (int round = 0; round < 100; ++round) {
        auto made_up = devices();
        know_speeds(made_up);
        const Simulation job("adaptive", number(5'000'000, 50'000'000), made_up);
        for (const double end : job.ends)
            if (end > 0) worst = std::min(worst, end / job.end);
    }
    EXPECT_GT(worst, 0.97) << "the first of those that had something, over the last";
}

TEST_F(UsualScheduling, AdaptiveFindsOutWhatNobodyKnows) {
    double worst = 0;
    for (int round = 0; round < 100; ++round) {
        auto made_up = devices();
        for (MadeUp& one : made_up) one.guess = magnitude(3);
        const std::uint64_t total = number(5'000'000, 50'000'000);
        const double best = static_cast<double>(total) / all_speeds(made_up);
        worst = std::max(worst, Simulation("adaptive", total, made_up).end / best);
    }
    EXPECT_LT(worst, 1.1);
}

TEST_F(UsualScheduling, AMeasurementThatWentWrongDoesNotLastTheJob) {
    double worst = 0;
    int late = 0;
    for (int round = 0; round < 20; ++round) {
        auto made_up = devices();
        know_speeds(made_up);
        MadeUp& one = made_up[number(0, made_up.size() - 1)];
        one.guess *= number(0, 1) == 0 ? 1000 : 0.001;
        one.is_certain = false;
        const std::uint64_t total = number(5'000'000, 50'000'000);
        const double best = static_cast<double>(total) / all_speeds(made_up);
        const double over = Simulation("adaptive", total, made_up).end / best;
        late += over > 1.1;
        worst = std::max(worst, over);
    }
    EXPECT_LE(late, 1) << "more than a tenth";
    EXPECT_LT(worst, 1.5);
}

TEST_F(Scheduling, ADeviceNeverMakesAJobLaterThanLeavingItOut) {
    for (const auto* policy : {"adaptive", "demand", "demand:20"})
        for (int round = 0; round < 500; ++round) {
            std::vector<MadeUp> made_up(2);
            made_up[1].speed = magnitude(5);
            made_up[0].least = made_up[1].least = policy[0] == 'a' && number(0, 1) == 1 ? 32 : 1;
            know_speeds(made_up);
            const std::uint64_t total = number(1, 5000);
            const double alone = Simulation(policy, total, {made_up[0]}).end;
            ASSERT_LE(Simulation(policy, total, made_up, false).end, alone * (1 + 1e-9))
                << policy << ", " << total << " units, second device " << made_up[1].speed;
        }
}

TEST_F(Scheduling, ADeviceThatDoesHardlyAnythingChangesNothingForTheOther) {
    for (int round = 0; round < 200; ++round) {
        std::vector<MadeUp> made_up(2);
        made_up[1].speed = 1 / static_cast<double>(number(41, 1000));
        know_speeds(made_up);
        const std::uint64_t total = number(1, 10'000'000);
        const Simulation alone("adaptive", total, {made_up[0]}), together("adaptive", total, made_up);
        ASSERT_EQ(together.tasks, alone.tasks) << total << " units, second device " << made_up[1].speed;
        ASSERT_EQ(together.units[1], 0U);
        ASSERT_DOUBLE_EQ(together.end, alone.end);
    }
}

TEST_F(Scheduling, ManyThatEachDoHardlyAnythingCountTogether) {
    std::vector<MadeUp> made_up(65);
    for (std::size_t i = 1; i < made_up.size(); ++i) made_up[i].speed = 0.01;
    know_speeds(made_up);
    EXPECT_LT(Simulation("adaptive", 1'000'000, made_up).end, 1.02 * 1'000'000 / 1.64);
}

TEST_F(UsualScheduling, ASlowDeviceThatNobodyKnowsCostsNextToNothing) {
    for (int round = 0; round < 500; ++round) {
        std::vector<MadeUp> made_up(2);
        made_up[0].speed = 1e6;
        made_up[1].speed = made_up[0].speed / static_cast<double>(number(1, 1000));
        made_up[0].guess = 40, made_up[1].guess = 1; // what peaks say of a GPU and a processor
        const std::uint64_t total = number(100'000, 10'000'000);
        const double alone = static_cast<double>(total) / made_up[0].speed;
        ASSERT_LE(Simulation("adaptive", total, made_up).end, alone * 1.01)
            << total << " units, second device " << made_up[1].speed;
    }
}

TEST_F(UsualScheduling, ADeviceThatSlowsDownFiftyTimesDoesNotHoldUpTheOthers) {
    double worst = 0;
    for (int round = 0; round < 100; ++round) {
        auto made_up = devices(8);
        for (MadeUp& one : made_up) one.speed = 1e6 * magnitude(0.5);
        know_speeds(made_up);
        const std::uint64_t total = number(5'000'000, 50'000'000);
        const double whole = static_cast<double>(total) / all_speeds(made_up);
        made_up[0].changes_at = whole * magnitude(1);
        made_up[0].to = 0.02;
        // The others do what it did not do by then.
        const double without = (static_cast<double>(total) - made_up[0].speed * made_up[0].changes_at) /
                               (all_speeds(made_up) - made_up[0].speed);
        worst = std::max(worst, Simulation("adaptive", total, made_up).end / without);
    }
    EXPECT_LT(worst, 1.1);
}

TEST_F(Scheduling, LargeJobsOnEqualDevicesTakeFewTasks) {
    std::vector<MadeUp> made_up(8);
    know_speeds(made_up);
    const Simulation job("adaptive", 100'000'000, made_up);
    EXPECT_LT(job.tasks, 8 * 40U);
    EXPECT_LT(job.end, 1.01 * 100'000'000 / 8);
}

TEST_F(Scheduling, WhereSpeedsAreCertainTasksAreFew) {
    for (const double seconds : {0.03, 0.12, 1.0})
        for (const double slower : {1.0, 3.0}) {
            std::vector<MadeUp> made_up(2);
            made_up[0].speed = 1e8;
            made_up[1].speed = 1e8 / slower;
            know_speeds(made_up);
            for (MadeUp& one : made_up) one.cost = 300e-6, one.least = 32;
            const auto total = static_cast<std::uint64_t>(seconds * all_speeds(made_up));
            const Simulation job("adaptive", total, made_up, false);
            EXPECT_LT(job.end, seconds + 10 * made_up[0].cost) << seconds << " s, the second " << slower;
            EXPECT_LE(job.tasks, 18U);
        }
}

TEST(RatesOfDevices, GoOnFromEstimates) {
    Rates rates({{.peak = 40, .units_per_second = {}},
                 {.peak = 1, .units_per_second = {}},
                 {.peak = 1, .units_per_second = 50}});
    EXPECT_FALSE(rates.measured(0));
    EXPECT_TRUE(rates.measured(2));
    EXPECT_DOUBLE_EQ(rates.capability(0), 2000) << "as the one that was measured is to its peak";
    rates.completed(2, 100, std::chrono::seconds(1));
    EXPECT_DOUBLE_EQ(rates.capability(2), 100);
    EXPECT_DOUBLE_EQ(rates.capability(1), 100) << "twice as fast as estimated, like the other";
    rates.completed(0, 0, std::chrono::seconds(1));
    rates.completed(0, 1, std::chrono::seconds(0));
    EXPECT_FALSE(rates.measured(0)) << "that said nothing";
    rates.lost(2);
    EXPECT_EQ(rates.capability(2), 0);
}

TEST(RatesOfDevices, AreCertainByEstimatesThatProveRightOrByMeasurements) {
    Rates rates({{.peak = 1, .units_per_second = 50, .certain = true},
                 {.peak = 1, .units_per_second = 50, .certain = false}});
    EXPECT_TRUE(rates.certain(0));
    EXPECT_FALSE(rates.certain(1));
    rates.completed(1, 60, std::chrono::seconds(1));
    EXPECT_TRUE(rates.certain(0)) << "the other one is about as fast as estimated";
    rates.completed(1, 100'000, std::chrono::seconds(1));
    EXPECT_FALSE(rates.certain(0)) << "this job is another than the estimates were made of";
    EXPECT_FALSE(rates.certain(1));
    rates.completed(1, 100'000, std::chrono::seconds(1));
    rates.completed(1, 100'000, std::chrono::seconds(1));
    EXPECT_TRUE(rates.certain(1)) << "the last three agree";
}

TEST(RatesOfDevices, TheLastTasksCountMost) {
    Rates rates(std::vector<Estimate>(1));
    for (int i = 0; i < 20; ++i) rates.completed(0, 100, std::chrono::seconds(1));
    EXPECT_NEAR(rates.capability(0), 100, 1e-9);
    for (int i = 0; i < 8; ++i) rates.completed(0, 100, std::chrono::seconds(50));
    EXPECT_LT(rates.capability(0), 2.2);
    Rates fixed({{.peak = 7, .units_per_second = {}}}, false);
    fixed.completed(0, 100, std::chrono::seconds(1));
    EXPECT_EQ(fixed.capability(0), 7);
}

TEST(RatesOfDevices, WhatAGroupTellsCountsAtOnce) {
    Rates rates(std::vector<Estimate>(2));
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(rates.certain(1));
        rates.tell(1, 1000);
    }
    EXPECT_DOUBLE_EQ(rates.capability(1), 1000);
    EXPECT_TRUE(rates.certain(1)) << "it has told the same three times";
    EXPECT_DOUBLE_EQ(rates.capability(0), 1000) << "by its estimate, which is the same";
    rates.tell(1, 100); // it has lost a device
    EXPECT_DOUBLE_EQ(rates.capability(1), 100);
    EXPECT_FALSE(rates.certain(1));
    EXPECT_DOUBLE_EQ(rates.slowdown(1), 10);
    rates.tell(1, 0); // it does not know
    EXPECT_DOUBLE_EQ(rates.capability(1), 100);
}

TEST(Schedule, LearnsOfTheTaskAfterThoseThatEnd) {
    class Anywhere final : public Division {
        [[nodiscard]] std::uint64_t split(IndexRange left, std::uint64_t wanted) const override {
            return std::min(wanted, left.size());
        }
    };
    Schedule schedule({.work_units = 1000}, std::vector<Schedule::Participant>(2), make_policy("dynamic:10"),
                      std::make_shared<Anywhere>());
    const auto first = schedule.next(0, 0), second = schedule.next(0, 0);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->work_units(), 100u);
    schedule.completed(0, {&*first, 1}, std::chrono::seconds(1), 1, {{*second, 60}});
    EXPECT_DOUBLE_EQ(schedule.state().rates.capability(0), 160);
    EXPECT_EQ(schedule.state().accounts.completed_units(), 100u);
    schedule.completed(0, {}, std::chrono::seconds(1), 2, {{*second, 90}});
    EXPECT_DOUBLE_EQ(schedule.state().rates.capability(0), (0.7 * 160 + 30) / 1.7);
    schedule.completed(0, {&*second, 1}, std::chrono::seconds(1), 3);
    EXPECT_DOUBLE_EQ(schedule.state().rates.capability(0), (0.7 * (0.7 * 160 + 30) + 10) / (0.7 * 1.7 + 1));
    EXPECT_EQ(schedule.state().accounts.completed_units(), 200u);
}

} // namespace
} // namespace headrace
