// Schedules through all orders of events: three participants with two jobs of four work units each, of which
// one participant may be lost at any time. Each order is followed to its end; states that two orders share
// are followed once. In each of them:
// - a work unit is left, granted, waiting for a recipient or completed, and in one of these places alone;
// - a lost participant is granted nothing;
// - if nothing can happen any more, the jobs are done, and each unit is completed once, by a participant that
//   is there;
// - no order of events comes back to a state: so the number of messages is bounded.
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/core/state_text.hpp>
#include <headrace/internal/core/turns.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace {
namespace {

constexpr std::size_t participants = 3, jobs = 2;
constexpr std::uint64_t units = 4; // of a job
constexpr std::uint64_t most_states = 4'000'000;

class Anywhere final : public Division {
public:
    explicit Anywhere(std::uint64_t grain) : grain_(grain) {}
    [[nodiscard]] std::uint64_t split(IndexRange left, std::uint64_t wanted) const override {
        const std::uint64_t size = std::clamp<std::uint64_t>(wanted, 1, left.size());
        return std::min((size + grain_ - 1) / grain_ * grain_, left.size());
    }

private:
    std::uint64_t grain_;
};

/// Wants no participant: the schedule has to grant something all the same.
class Refusal final : public Policy {
public:
    std::uint64_t next(std::size_t, const Progress&) override { return 0; }
    [[nodiscard]] bool takes_over(std::size_t device, const Progress&) const override { return device != 1; }
};

struct Case {
    std::string name;
    std::string policy; ///< one that keeps no state; empty: it refuses
    std::array<Schedule::Shape, jobs> shapes = {};
    std::uint64_t grain = 1;
    std::vector<std::size_t> memories = {0, 0, 0};
    std::vector<double> capabilities = {4, 2, 1};
    std::array<int, jobs> priorities = {0, 0};
    std::uint64_t batches = 0; ///< of units that are transferred, at most
    bool has_standby = false;
    bool pauses = true;
    bool makes_way = false; ///< a paused task, for the other job
};

std::ostream& operator<<(std::ostream& out, const Case& of) { return out << of.name; }

/// What a participant does.
struct Worker {
    struct Running {
        std::size_t job;
        Work work;
        std::uint64_t begun;
        bool has_paused = false;
    };
    std::optional<Running> running;
    bool is_awake = true; ///< it is to ask for work
    bool told_idle = false;
    bool is_lost = false;
};

/// Where a unit is, as the messages tell.
enum class Place : std::uint8_t { none, granted, completed };
struct Unit {
    Place place = Place::none;
    std::size_t by = 0;
};

/// The schedules, and the participants as they behave.
struct World {
    std::vector<Schedule> schedules;
    std::array<bool, jobs> failed = {};
    std::array<Worker, participants> workers;
    std::array<std::array<Unit, units>, jobs> of_unit;
    std::uint64_t batches_left = 0;
    bool may_lose = true;

    explicit World(const Case& of) : batches_left(of.batches) {
        for (Schedule::Shape shape : of.shapes) {
            std::vector<Schedule::Participant> all;
            for (std::size_t i = 0; i < participants; ++i)
                all.push_back({.estimate = {.peak = of.capabilities[i], .units_per_second = {}},
                               .gives_back = true,
                               .is_standby = of.has_standby && i == 2,
                               .memory = of.memories[i]});
            shape.work_units = units;
            auto policy = of.policy.empty() ? std::make_unique<Refusal>() : make_policy(of.policy);
            schedules.emplace_back(shape, std::move(all), std::move(policy),
                                   std::make_shared<Anywhere>(of.grain));
        }
    }

    [[nodiscard]] std::string text() const {
        StateText out;
        for (const Schedule& schedule : schedules) out << schedule.state().text() << "\n";
        for (const Worker& worker : workers) {
            out << worker.is_awake << worker.told_idle << worker.is_lost;
            if (worker.running)
                out << worker.running->job << ":" << worker.running->work.range.begin << "-"
                    << worker.running->work.range.end << worker.running->work.is_transferred << "+"
                    << worker.running->begun << worker.running->has_paused;
            out << ";";
        }
        for (const auto& of_job : of_unit)
            for (const Unit& unit : of_job) out << static_cast<int>(unit.place) << unit.by;
        out << batches_left << may_lose << failed[0] << failed[1];
        return out.text();
    }
};

/// One order of events after another, depth first.
class Exploration {
public:
    std::uint64_t states = 0, longest = 0, ends = 0;

    explicit Exploration(const Case& of) : of_(of) {
        longest = follow(World(of));
        if (states >= most_states) ADD_FAILURE() << "there are too many states to see them all";
    }

private:
    static constexpr double now = 0; // times that differ would be states that differ
    static constexpr std::uint64_t on_the_way = ~std::uint64_t{0};

    /// Returns how many events follow at most.
    std::uint64_t follow(const World& world) {
        if (testing::Test::HasFailure() || states >= most_states) return 0;
        const auto [known, is_new] = seen_.try_emplace(digest(world.text()), on_the_way);
        if (!is_new) {
            EXPECT_NE(known->second, on_the_way) << "it comes back to a state:\n" << told();
            return known->second;
        }
        ++states;
        const std::uint64_t id = known->first;
        check(world);
        std::uint64_t longest_rest = 0;
        bool any = false;
        const auto event = [&](const std::string& what, const std::function<bool(World&)>& happens) {
            World next = world;
            path_.push_back(what);
            if (happens(next) && !testing::Test::HasFailure()) {
                any = any || what.find("lost") == std::string::npos;
                longest_rest = std::max(longest_rest, 1 + follow(next));
            }
            path_.pop_back();
        };
        for (std::size_t p = 0; p < participants; ++p) {
            const std::string name = "participant " + std::to_string(p);
            const Worker& worker = world.workers[p];
            if (worker.is_lost) continue;
            if (!worker.running && worker.is_awake)
                event(name + " asks", [&](World& next) { return ask(next, p); });
            if (worker.running) {
                event(name + " completes", [&](World& next) { return complete(next, p); });
                const auto& task = *worker.running;
                for (std::uint64_t begun = 1;
                     begun < task.work.work_units() && !task.has_paused && of_.pauses; ++begun)
                    event(name + " pauses at " + std::to_string(begun),
                          [&](World& next) { return pause(next, p, begun); });
                if (world.batches_left > 0 && !world.failed[task.job])
                    event(name + " transfers units", [&](World& next) { return transfer_units(next, p); });
            }
            if (world.may_lose) event(name + " is lost", [&](World& next) { return lose(next, p); });
        }
        if (!any) end(world);
        return seen_[id] = longest_rest;
    }

    static void wake_all(World& world) {
        for (Worker& worker : world.workers) worker.is_awake = !worker.is_lost;
    }
    static void wake_if_asked(World& world, Schedule& schedule) {
        if (schedule.takes_wake()) wake_all(world);
    }

    /// As a device's worker does: what was transferred first, then each job by turn; if there is nothing, it
    /// says that it is idle.
    bool ask(World& world, std::size_t p) {
        Worker& worker = world.workers[p];
        worker.is_awake = false;
        std::vector<Turn> turns;
        for (std::size_t j = 0; j < jobs; ++j)
            turns.push_back({of_.priorities[j], world.schedules[j].state().tasks.charged()});
        const auto order = order_of_turns(turns);
        for (const bool transferred : {true, false})
            for (const std::size_t j : order) {
                if (world.failed[j]) continue;
                Schedule& schedule = world.schedules[j];
                const auto work = transferred ? schedule.next_transferred(p, now) : schedule.next(p, now);
                wake_if_asked(world, schedule);
                if (!work) continue;
                worker.running = Worker::Running{.job = j, .work = *work, .begun = 0};
                for (std::uint64_t u = work->range.begin; u < work->range.end && !work->is_transferred; ++u) {
                    Unit& unit = world.of_unit[j][u];
                    EXPECT_EQ(unit.place, Place::none) << "unit " << u << " is granted twice:\n" << told();
                    unit = {Place::granted, p};
                }
                if (std::exchange(worker.told_idle, false)) tell_idle(world, p, false);
                return true;
            }
        worker.is_awake = false; // a wake reaches all participants, but this one has just asked
        if (!std::exchange(worker.told_idle, true)) tell_idle(world, p, true);
        return true;
    }
    static void tell_idle(World& world, std::size_t p, bool is_idle) {
        bool wakes = false;
        for (std::size_t j = 0; j < jobs; ++j)
            if (!world.failed[j]) wakes = world.schedules[j].idle(p, is_idle) || wakes;
        if (wakes) wake_all(world);
    }

    bool complete(World& world, std::size_t p) {
        Worker& worker = world.workers[p];
        const Worker::Running task = *std::exchange(worker.running, std::nullopt);
        Schedule& schedule = world.schedules[task.job];
        for (std::uint64_t u = task.work.range.begin; u < task.work.range.end && !task.work.is_transferred;
             ++u)
            world.of_unit[task.job][u].place = Place::completed;
        schedule.completed(p, std::array{task.work}, std::chrono::seconds(task.work.range.size()), now);
        worker.is_awake = true;
        if (schedule.state().has_returns) wake_all(world);
        wake_if_asked(world, schedule);
        return true;
    }

    /// The launch has begun with so many units. It makes way, or transfers seeds, if they are wanted.
    bool pause(World& world, std::size_t p, std::uint64_t begun) {
        Worker& worker = world.workers[p];
        Worker::Running& task = *worker.running;
        Schedule& schedule = world.schedules[task.job];
        task.begun = begun;
        task.has_paused = true;
        schedule.progressed(p, task.work, begun, std::chrono::seconds(1), now);
        wake_if_asked(world, schedule);
        const std::size_t other = 1 - task.job;
        const std::uint64_t unclaimed = task.work.range.begin + begun, before = task.work.range.end;
        if (of_.makes_way && !world.failed[other] && world.schedules[other].state().wants(p, now) &&
            of_.priorities[other] >= of_.priorities[task.job])
            task.work.range.end = schedule.make_way(p, task.work, unclaimed);
        else if (schedule.state().would_take(p, before - unclaimed, 1, 1.0, now))
            task.work.range.end = schedule.transfer_seeds(p, task.work, unclaimed, 1, now);
        EXPECT_GE(task.work.range.end, unclaimed) << told();
        for (std::uint64_t u = task.work.range.end; u < before; ++u) world.of_unit[task.job][u] = {};
        if (task.work.range.end != before) wake_all(world);
        return true;
    }

    /// Units that sprang from the task's, if others would have some.
    bool transfer_units(World& world, std::size_t p) {
        const Worker::Running& task = *world.workers[p].running;
        Schedule& schedule = world.schedules[task.job];
        const auto demand = schedule.state().demand(p, 1, 4, now);
        if (demand.share <= 0) return false;
        --world.batches_left;
        std::uint64_t number = 0;
        for (const Work& batch : schedule.transfer_units(p, 3, 12, now)) number += batch.range.size();
        EXPECT_EQ(number, 3u) << told();
        wake_all(world);
        return true;
    }

    bool lose(World& world, std::size_t p) {
        world.may_lose = false;
        Worker& worker = world.workers[p];
        worker.is_lost = true;
        worker.is_awake = false;
        const auto running = std::exchange(worker.running, std::nullopt);
        for (std::size_t j = 0; j < jobs; ++j) {
            std::vector<Work> in_flight;
            if (running && running->job == j) in_flight.push_back(running->work);
            const Schedule::Loss loss = world.schedules[j].lost(p, in_flight);
            wake_if_asked(world, world.schedules[j]);
            if (loss.outcome != Schedule::Outcome::goes_on) {
                EXPECT_NE(loss.outcome, Schedule::Outcome::has_no_participant) << told();
                world.failed[j] = true;
                continue;
            }
            for (const IndexRange range : loss.again)
                for (std::uint64_t u = range.begin; u < range.end; ++u) world.of_unit[j][u] = {};
        }
        wake_all(world);
        return true;
    }

    /// In each state.
    void check(const World& world) {
        for (std::size_t p = 0; p < participants; ++p) {
            if (!world.workers[p].is_lost) continue;
            for (Schedule schedule : world.schedules) {
                EXPECT_FALSE(schedule.next(p, now) || schedule.next_transferred(p, now))
                    << "participant " << p << " is lost:\n"
                    << told();
                EXPECT_FALSE(schedule.state().wants(p, now)) << told();
            }
            for (std::size_t j = 0; j < jobs; ++j)
                for (const Unit& unit : world.of_unit[j])
                    EXPECT_TRUE(world.failed[j] || unit.place == Place::none || unit.by != p) << told();
        }
        for (std::size_t j = 0; j < jobs; ++j) {
            std::uint64_t completed = 0;
            for (const Unit& unit : world.of_unit[j]) completed += unit.place == Place::completed ? 1 : 0;
            EXPECT_EQ(world.failed[j] ? completed : world.schedules[j].state().accounts.completed_units(),
                      completed)
                << told();
        }
    }

    /// Nothing can happen any more but a loss.
    void end(const World& world) {
        ++ends;
        for (std::size_t j = 0; j < jobs; ++j) {
            if (world.failed[j]) continue;
            EXPECT_TRUE(world.schedules[j].state().is_done()) << "job " << j << " hangs:\n"
                                                              << told() << world.text();
            for (const Unit& unit : world.of_unit[j])
                EXPECT_EQ(unit.place, Place::completed) << "of job " << j << ":\n" << told();
        }
    }

    [[nodiscard]] std::string told() const {
        std::string all;
        for (const std::string& event : path_) all += "  " + event + "\n";
        return all;
    }
    /// Two states are one if these are: for a million states the odds against it are 2^24 to one.
    static std::uint64_t digest(const std::string& text) {
        std::uint64_t hash = 14695981039346656037ULL; // FNV-1a
        for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
        hash ^= hash >> 32;
        return hash * 0x9E3779B97F4A7C15ULL;
    }

    const Case& of_;
    std::unordered_map<std::uint64_t, std::uint64_t> seen_; ///< events that follow at most
    std::vector<std::string> path_;
};

class ScheduleStates : public testing::TestWithParam<Case> {};

TEST_P(ScheduleStates, EachUnitIsCompletedOnceInAllOrdersOfEvents) {
    const Exploration all(GetParam());
    std::cout << GetParam().name << ": " << all.states << " states, at most " << all.longest
              << " events, jobs ended in " << all.ends << " states\n";
    RecordProperty("states", static_cast<int>(all.states));
    EXPECT_GT(all.states, 1000u);
    EXPECT_LE(all.longest, 100u);
}

constexpr Schedule::Shape guessed{.learns = false};
constexpr Schedule::Shape updates{.learns = false, .is_repeatable = false};
constexpr Schedule::Shape shares{.learns = false, .shares_units = true};
constexpr Schedule::Shape measured{.learns = true};
constexpr Schedule::Shape with_standby{.learns = false, .expected_seconds = 1};
constexpr Schedule::Shape in_one_memory{.learns = false, .memory = 0};

INSTANTIATE_TEST_SUITE_P(
    Of, ScheduleStates,
    testing::Values(
        Case{.name = "packages", .policy = "dynamic:2", .shapes = {guessed, guessed}},
        Case{.name = "demand", .policy = "demand:2", .shapes = {guessed, guessed}},
        Case{.name = "refusal", .policy = "", .shapes = {guessed, guessed}, .makes_way = true},
        Case{.name = "adaptive", .policy = "adaptive", .shapes = {measured, measured}},
        Case{.name = "priorities",
             .policy = "dynamic:2",
             .shapes = {guessed, guessed},
             .priorities = {0, 1},
             .makes_way = true},
        Case{.name = "updates", .policy = "dynamic:2", .shapes = {updates, guessed}},
        Case{.name = "units",
             .policy = "demand:1",
             .shapes = {shares, guessed},
             .capabilities = {1, 1, 1},
             .batches = 2,
             .pauses = false},
        Case{.name = "transfers",
             .policy = "demand:1",
             .shapes = {guessed, guessed},
             .capabilities = {1, 1, 1}},
        Case{.name = "grain",
             .policy = "dynamic:1",
             .shapes = {guessed, guessed},
             .grain = 2,
             .makes_way = true},
        Case{.name = "standby", .policy = "adaptive", .shapes = {with_standby, guessed}, .has_standby = true},
        Case{.name = "memories",
             .policy = "dynamic:2",
             .shapes = {in_one_memory, guessed},
             .memories = {0, 0, 1}}),
    [](const auto& of) { return of.param.name; });

} // namespace
} // namespace headrace
