// tests/core/schedule_parts_test.cpp - the parts of a schedule by themselves.
#include <headrace/internal/core/accounts.hpp>
#include <headrace/internal/core/availability.hpp>
#include <headrace/internal/core/granted_tasks.hpp>
#include <headrace/internal/core/recipients.hpp>
#include <headrace/internal/core/refusals.hpp>
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/core/waiting_transfers.hpp>
#include <headrace/internal/core/work.hpp>
#include <headrace/internal/core/working_memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

Work units(std::uint64_t begin, std::uint64_t end) { return {.range = {begin, end}}; }
Work transferred(std::uint64_t begin, std::uint64_t end) {
    return {.range = {begin, end}, .is_transferred = true};
}

TEST(OpenWork, WhatWasReturnedIsNext) {
    OpenWork open({0, 100});
    open.cut(60);
    open.put_back(units(10, 20));
    EXPECT_EQ(open.units(), 50u);
    EXPECT_EQ(open.next(), (IndexRange{10, 20}));
    open.cut(20);
    EXPECT_EQ(open.next(), (IndexRange{60, 100}));
    open.cut(100);
    EXPECT_FALSE(open.has_units());
    open.put_back(transferred(0, 5));
    EXPECT_EQ(open.units(), 0u) << "transferred units are no work units";
    EXPECT_EQ(open.take_transferred(), transferred(0, 5));
    EXPECT_FALSE(open.has_transferred());
}

TEST(CompletedWork, AdjoiningTasksAreOneRange) {
    CompletedWork done;
    for (const Work& work : {units(20, 30), units(0, 10), transferred(0, 5), units(40, 50), units(10, 20)})
        done.add(work);
    const std::vector<Work> all = done.take();
    EXPECT_EQ(all, (std::vector<Work>{transferred(0, 5), units(0, 30), units(40, 50)}));
    EXPECT_TRUE(done.is_none());
}

TEST(GrantedTasks, ProgressIsCountedOnceWhateverIsToldTwice) {
    GrantedTasks tasks(2);
    tasks.add(1, units(0, 100), 0, 1.0);
    EXPECT_EQ(tasks.expected_in_flight(1, 0, 5), 100u) << "its speed is not known";
    EXPECT_EQ(tasks.expected_in_flight(1, 10, 5), 60u) << "it should have done 40 in 4 s";
    EXPECT_EQ(tasks.expected_in_flight(1, 10, 1.01), 100u) << "it has begun the first, and not done it";
    EXPECT_EQ(tasks.expected_in_flight(1, 10, 11), 0u);
    EXPECT_EQ(tasks.expected_in_flight(1, 10, 15), 40u) << "what is late may be as late again";
    EXPECT_EQ(tasks.begun(1, units(0, 100), 30, 3), 30u);
    EXPECT_EQ(tasks.expected_in_flight(1, 10, 5), 50u) << "it should have begun 20 more in 2 s";
    EXPECT_EQ(tasks.begun(1, units(0, 100), 20, 5), 0u) << "told late";
    EXPECT_EQ(tasks.progressed(1, units(0, 100), 50), 20u);
    EXPECT_EQ(tasks.begun_by(1), 50u);
    EXPECT_EQ(tasks.begun_by(0), 0u);
    tasks.shorten(1, units(0, 100), 70);
    EXPECT_EQ(tasks.expected_in_flight(1, 0, 5), 20u);
    const GrantedTasks::Task task = tasks.remove(1, units(0, 100));
    EXPECT_EQ(task.work, units(0, 70));
    EXPECT_EQ(task.learned, 20u);
    EXPECT_TRUE(tasks.are_none());
    EXPECT_EQ(tasks.begun_by(1), 0u);
    EXPECT_EQ(tasks.begun(1, units(0, 100), 60, 5), 0u) << "the task has ended";
}

TEST(GrantedTasks, AMeasurementGoesFromEventToEventOrIsTheDevicesOwnAfterAPause) {
    GrantedTasks tasks(1);
    tasks.add(0, units(0, 10), 0, 1.0);
    EXPECT_EQ(tasks.measure(0, 100ms, 3.0), 100ms) << "before it there were preparations";
    EXPECT_EQ(tasks.measure(0, 100ms, 5.0), 2s);
    static_cast<void>(tasks.remove(0, units(0, 10)));
    tasks.note_end(0);
    EXPECT_EQ(tasks.measure(0, 100ms, 9.0), 100ms);
}

TEST(GrantedTasks, AChargeIsWhatIsExpectedAtMostATenthOfASecondAndThenWhatItTook) {
    GrantedTasks tasks(1);
    tasks.add(0, units(0, 10), 5, 0);
    EXPECT_DOUBLE_EQ(tasks.charged(), 0.1);
    tasks.ran(0, units(0, 10), 2s);
    EXPECT_DOUBLE_EQ(tasks.charged(), 2);
    static_cast<void>(tasks.remove(0, units(0, 10)));
    EXPECT_DOUBLE_EQ(tasks.charged(), 0);
    tasks.charge_at_least(3);
    tasks.charge(1s);
    EXPECT_DOUBLE_EQ(tasks.charged(), 4);
}

TEST(Refusals, TheLastResortIsOneThatIsNotExcluded) {
    Refusals refusals(3);
    const std::vector<bool> workers = {true, true, false}; // the third one cannot work
    refusals.refuse(0, true);
    EXPECT_FALSE(refusals.is_last_resort(0, workers)) << "the other one was not asked";
    EXPECT_TRUE(refusals.takes_wake());
    EXPECT_FALSE(refusals.is_last_resort(0, workers));
    EXPECT_FALSE(refusals.takes_wake()) << "once";
    refusals.refuse(1, false);
    EXPECT_FALSE(refusals.is_last_resort(0, workers)) << "the other one takes work over";
    EXPECT_TRUE(refusals.takes_wake());
    EXPECT_TRUE(refusals.is_last_resort(1, workers));
    refusals.refuse(1, true);
    EXPECT_TRUE(refusals.is_last_resort(0, workers)) << "all are excluded";
    EXPECT_TRUE(refusals.any_excluded());
    refusals.include(1);
    EXPECT_TRUE(refusals.takes_wake());
    refusals.note_grant(1);
    EXPECT_FALSE(refusals.is_last_resort(0, workers)) << "a grant forgets all refusals";
}

TEST(Recipients, SharesGoByCapabilityAndTheLastGetsTheRest) {
    const Recipients all({{4, 0.5, 1}, {5, 0.25, 1}, {6, 0.25, 400}}, 1);
    EXPECT_DOUBLE_EQ(all.share(), 0.5);
    EXPECT_EQ(all.least(), 402u);
    EXPECT_TRUE(all.that_pay(2).are_none());
    const Recipients some = all.that_pay(1000);
    EXPECT_DOUBLE_EQ(some.share(), 0.75 / 1.75) << "an eighth of 1000 does not pay for the third one";
    const std::vector<std::pair<std::size_t, std::uint64_t>> dealt = {{4, 20}, {5, 10}};
    EXPECT_EQ(some.deal(30), dealt);
}

TEST(Recipients, OfFewUnitsAsManyGetOneEach) {
    std::vector<Recipients::One> all;
    for (std::size_t i = 1; i <= 32; ++i) all.push_back({i, 1.0, 1});
    const Recipients some = Recipients(all, 1).that_pay(9);
    EXPECT_NEAR(some.share(), 8.0 / 9, 1e-9) << "the donor keeps one";
    const auto dealt = some.deal(8);
    EXPECT_EQ(dealt.size(), 8u);
    EXPECT_TRUE(Recipients(all, 1).that_pay(1).are_none());
    EXPECT_EQ(Recipients(all, 0).deal(5).size(), 5u) << "of units that have come";
    for (std::size_t idle = 1; idle <= 32; ++idle)
        for (std::uint64_t left = 2; left <= 40; ++left) {
            const Recipients few =
                Recipients({all.begin(), all.begin() + static_cast<long>(idle)}, 1).that_pay(left);
            ASSERT_FALSE(few.are_none()) << idle << " " << left;
            EXPECT_LE(few.kept(left), (left + few.least()) / (few.least() + 1)) << idle << " " << left;
            EXPECT_LE(few.kept(left) + few.least(), left) << idle << " " << left;
        }
    EXPECT_TRUE(Recipients(all, 0).deal(0).empty());
}

TEST(WorkingMemory, GoesToTheFastestThatIsLeft) {
    WorkingMemory none(std::nullopt), memory(0);
    EXPECT_FALSE(none.is_one());
    EXPECT_TRUE(none.is(7)) << "each participant works on its own";
    EXPECT_FALSE(none.go_to_best({{1, 5.0}}));
    EXPECT_FALSE(memory.go_to_best({}));
    EXPECT_TRUE(memory.is(0));
    EXPECT_TRUE(memory.go_to_best({{1, 5.0}, {2, 7.0}}));
    EXPECT_TRUE(memory.is(2));
    EXPECT_FALSE(memory.is(0));
}

/// Two participants on memory 0, the faster one on memory 1.
const std::array<Availability::Participant, 3> on_two_memories = {
    {{.memory = 0}, {.memory = 0}, {.memory = 1}}};
Rates rates() {
    return Rates({{.peak = 1, .units_per_second = {}},
                  {.peak = 1, .units_per_second = {}},
                  {.peak = 5, .units_per_second = {}}});
}

TEST(Availability, AParticipantWorksOnItsOwnMemoryUntilItIsLost) {
    Availability all(on_two_memories, std::nullopt);
    EXPECT_EQ(all.workers(), (std::vector<bool>{true, true, true}));
    EXPECT_FALSE(all.has_other_memory(0)) << "the job has no memory that it could leave";
    EXPECT_TRUE(all.lose(1));
    EXPECT_FALSE(all.lose(1)) << "once";
    EXPECT_EQ(all.workers(), (std::vector<bool>{true, false, true}));
    EXPECT_FALSE(all.is_spared(2));
    static_cast<void>(all.lose(0));
    static_cast<void>(all.lose(2));
    EXPECT_TRUE(all.are_none());
    EXPECT_FALSE(all.go_to_next_memory(rates()));
}

TEST(Availability, AJobLeavesAFullMemoryWithAllItsParticipants) {
    Availability all(on_two_memories, 0);
    EXPECT_EQ(all.workers(), (std::vector<bool>{true, true, false}));
    EXPECT_TRUE(all.stands_by(2) && all.is_spared(2));
    EXPECT_TRUE(all.has_other_memory(0));
    all.fill_memory(0, true);
    EXPECT_TRUE(all.is_full(0) && all.is_full(1));
    EXPECT_TRUE(all.are_none());
    EXPECT_TRUE(all.go_to_next_memory(rates()));
    EXPECT_EQ(all.workers(), (std::vector<bool>{false, false, true}));
    EXPECT_FALSE(all.is_spared(2));
    EXPECT_TRUE(all.has_moved());
    EXPECT_FALSE(all.has_other_memory(2)) << "the other one is full";
    all.start_again();
    EXPECT_FALSE(all.has_moved());
}

TEST(Availability, AMemoryThatNothingWasDoneInIsLeftWithoutATrace) {
    Availability all(on_two_memories, 0);
    all.fill_memory(0, false);
    EXPECT_TRUE(all.go_to_next_memory(rates()));
    EXPECT_FALSE(all.has_moved());
}

TEST(Availability, AStandbyStandsInForALostParticipant) {
    const std::array<Availability::Participant, 3> with_standby = {
        {{.is_standby = false}, {.is_standby = true}, {.is_standby = true}}};
    Availability all(with_standby, std::nullopt);
    EXPECT_TRUE(all.has_standby());
    static_cast<void>(all.lose(2));
    EXPECT_TRUE(all.has_standby()) << "the lost one was a standby itself";
    static_cast<void>(all.lose(0));
    EXPECT_FALSE(all.has_standby()) << "it does not wait any more";
    EXPECT_FALSE(Availability(on_two_memories, std::nullopt).has_standby());
}

TEST(WaitingTransfers, AnIdleParticipantReceivesUntilSomethingWaitsForIt) {
    WaitingTransfers transfers(2);
    EXPECT_FALSE(transfers.may_receive(1)) << "it is not idle";
    EXPECT_FALSE(transfers.note_idle(1, true));
    EXPECT_TRUE(transfers.note_idle(1, true)) << "it was idle before";
    EXPECT_TRUE(transfers.may_receive(1));
    transfers.add(1, units(0, 10));
    transfers.add(1, units(10, 20));
    EXPECT_FALSE(transfers.may_receive(1));
    EXPECT_TRUE(transfers.are_none(0));
    EXPECT_FALSE(transfers.are_none());
    EXPECT_EQ(transfers.take(1), units(10, 20)) << "the last is next";
    EXPECT_EQ(transfers.take_all(1), std::vector<Work>{units(0, 10)});
    EXPECT_TRUE(transfers.are_none());
    EXPECT_TRUE(transfers.may_receive(1));
}

TEST(WaitingTransfers, UnitsHaveNumbersOfTheirOwnAndTheirBytesALimit) {
    WaitingTransfers transfers(1);
    EXPECT_EQ(transfers.number(5), transferred(0, 5));
    EXPECT_EQ(transfers.number(2), transferred(5, 7));
    const std::uint64_t limit = transfers.bytes_left();
    transfers.keep(limit - 1);
    EXPECT_EQ(transfers.bytes_left(), 1u);
    transfers.keep(100);
    EXPECT_EQ(transfers.bytes_left(), 0u) << "the last batch may be too large";
}

TEST(Accounts, WhatALostParticipantHasDoneIsTakenBackAndNothingElse) {
    Accounts accounts(2);
    accounts.complete(0, units(0, 10));
    accounts.complete(0, units(10, 15));
    accounts.complete(0, transferred(0, 4));
    accounts.complete(1, units(15, 20));
    accounts.transfer_seeds(0, 3);
    accounts.transfer_units(0, 2);
    EXPECT_EQ(accounts.completed_units(), 20u) << "transferred units are no work units";
    EXPECT_EQ(accounts.of(0).completed, 15u);
    EXPECT_EQ(accounts.of(0).units_received, 4u);
    EXPECT_EQ(accounts.take_back(0, false), (std::vector<Work>{transferred(0, 4), units(0, 15)}));
    EXPECT_FALSE(accounts.has_completed(0));
    EXPECT_TRUE(accounts.has_completed(1));
    EXPECT_EQ(accounts.completed_units(), 5u);
    EXPECT_EQ(accounts.of(0).completed + accounts.of(0).units_received, 0u);
    EXPECT_EQ(accounts.of(0).seeds_transferred, 3u) << "that has happened";
    EXPECT_EQ(accounts.of(0).units_transferred, 2u);
}

TEST(Accounts, WhatWasDoneInALostMemoryIsTakenBackFromAll) {
    Accounts accounts(2);
    accounts.complete(0, units(0, 10));
    accounts.complete(1, units(10, 20));
    EXPECT_EQ(accounts.take_back(1, true), (std::vector<Work>{units(0, 10), units(10, 20)}));
    EXPECT_EQ(accounts.completed_units(), 0u);
    accounts.complete(0, units(0, 20));
    accounts.forget();
    EXPECT_TRUE(accounts.take_back(0, true).empty()) << "the job has ended";
    EXPECT_EQ(accounts.completed_units(), 20u);
}

class Anywhere final : public Division {
public:
    [[nodiscard]] std::uint64_t split(IndexRange left, std::uint64_t wanted) const override {
        return std::clamp<std::uint64_t>(wanted, 1, left.size());
    }
};

/// A slow participant, and one that is known to be ten times faster.
class LastUnits : public testing::Test {
protected:
    static constexpr std::size_t slow = 0, fast = 1;

    static Schedule schedule(std::uint64_t units, bool shares_units = false) {
        return {{.work_units = units, .shares_units = shares_units},
                {{.estimate = {.peak = 1, .units_per_second = 1}},
                 {.estimate = {.peak = 10, .units_per_second = 10}}},
                make_policy("adaptive"),
                std::make_shared<Anywhere>()};
    }
};

TEST_F(LastUnits, AreNotKeptForAParticipantThatDoesNotCome) {
    Schedule job = schedule(1);
    EXPECT_FALSE(job.next(slow, 0)) << "the fast one would end it earlier";
    EXPECT_FALSE(job.next(slow, 0.5));
    EXPECT_TRUE(job.next(slow, 1)) << "it may not come for another second";
}

TEST_F(LastUnits, AreNotKeptForAParticipantThatIsLate) {
    Schedule job = schedule(2);
    ASSERT_TRUE(job.next(fast, 0));
    EXPECT_FALSE(job.next(slow, 0));
    EXPECT_TRUE(job.state().waits_for_others(slow));
    EXPECT_FALSE(job.next(slow, 0.5));
    EXPECT_TRUE(job.next(slow, 1.2)) << "what should have ended after 0.1 s may take as long again";
}

TEST_F(LastUnits, AreNotKeptForAParticipantThatIsBusyWithWhatItHasBegun) {
    Schedule job = schedule(2);
    const auto task = job.next(fast, 0);
    ASSERT_TRUE(task);
    job.progressed(fast, *task, 1, 5ms, 0.005);
    EXPECT_FALSE(job.next(slow, 0.005));
    for (const double now : {0.3, 0.6, 0.9}) job.progressed(fast, *task, 1, 300ms, now); // it pauses
    EXPECT_TRUE(job.next(slow, 1.2)) << "its seed has spawned a large tree";
}

TEST_F(LastUnits, OfRanksWithManyDevicesAreGranted) {
    // A unit takes each of the 73 devices 1 s.
    const auto policy = make_policy("adaptive");
    for (const std::uint64_t units : {1, 5, 9, 10, 20, 40, 63, 72}) {
        std::vector<DeviceProgress> ranks(9, {.capability = 9, .measured = true, .devices = 9});
        ranks[0].capability = ranks[0].devices = 1;
        std::uint64_t left = units;
        for (bool is_any = true; left > 0 && is_any;) {
            is_any = false;
            for (std::size_t i = 0; i < ranks.size() && left > 0; ++i) {
                const std::uint64_t task =
                    policy->next(i, {.total = units, .remaining = left, .devices = ranks});
                ranks[i].in_flight += task;
                left -= task;
                is_any = is_any || task > 0;
            }
        }
        EXPECT_EQ(left, 0u) << "of " << units;
        for (const DeviceProgress& one : ranks) EXPECT_LE(one.in_flight, one.devices + 1) << "of " << units;
    }
}

TEST_F(LastUnits, DoNotKeepUnitsThatSpawnedFromAParticipantWithoutWork) {
    Schedule job = schedule(2, true);
    ASSERT_TRUE(job.next(fast, 0));
    ASSERT_FALSE(job.next(slow, 0));
    EXPECT_EQ(job.state().demand(fast, 1, 110, 0).share, 0.);
    EXPECT_TRUE(job.idle(slow, true)) << "the donor gets to know";
    EXPECT_EQ(job.state().wanting_units(0), 1u);
    EXPECT_NEAR(job.state().demand(fast, 1, 110, 0).share, 1.0 / 11, 1e-9);
    EXPECT_FALSE(job.state().would_take(fast, 100, 1, 10, 0)) << "the fast one ends its seeds earlier";
}

/// One of several schedules in a tree: of one device, and of a group with a schedule of its own.
class ScheduleInTheMiddle : public testing::Test {
protected:
    static constexpr std::size_t device = 0, group = 1;

    ScheduleInTheMiddle() {
        schedule.extend({0, 1});
        seed = *schedule.next(device, 0);
    }

    Schedule schedule{{.work_units = 1, .shares_units = true, .is_open = true, .has_above = true},
                      {{.estimate = {.peak = 1, .units_per_second = {}}},
                       {.estimate = {.peak = 1, .units_per_second = {}}, .is_group = true}},
                      make_policy("adaptive"),
                      std::make_shared<Anywhere>()};
    Work seed;
};

TEST_F(ScheduleInTheMiddle, UnitsGoUpIfTheyAreWantedThere) {
    EXPECT_EQ(schedule.state().demand(device, 1, 100, 0).share, 0.) << "no participant is idle";
    EXPECT_FALSE(schedule.take_for_above());
    schedule.note_above(true);
    EXPECT_EQ(schedule.state().wanting_units(0), 0u) << "no participant of this schedule does";
    EXPECT_DOUBLE_EQ(schedule.state().demand(device, 1, 100, 0).share, 0.5);
    EXPECT_EQ(schedule.transfer_units(device, 50, 400, 0), std::vector{transferred(0, 50)});
    EXPECT_EQ(schedule.take_for_above(), transferred(0, 50));
    EXPECT_FALSE(schedule.take_for_above()) << "once for one wish";
    EXPECT_EQ(schedule.state().demand(device, 1, 100, 0).share, 0.);
    EXPECT_FALSE(schedule.state().is_quiet());
    schedule.completed(device, {&seed, 1}, 1ms, 0.001);
    EXPECT_TRUE(schedule.state().is_quiet()) << "the units are the other schedule's";
    EXPECT_FALSE(schedule.state().is_done()) << "more may come";
}

TEST_F(ScheduleInTheMiddle, UnitsThatComeAreDealtAmongThoseThatWantSome) {
    schedule.completed(device, {&seed, 1}, 1ms, 0.001);
    EXPECT_FALSE(schedule.state().has_no_donor());
    static_cast<void>(schedule.idle(device, true));
    static_cast<void>(schedule.idle(group, true));
    EXPECT_EQ(schedule.state().wanting_units(0.002), 2u);
    EXPECT_TRUE(schedule.state().has_no_donor());
    EXPECT_EQ(schedule.receive_units(group, 10, 80, 0.002).size(), 1u) << "the group gets none of its own";
    EXPECT_EQ(schedule.state().accounts.of(group).units_transferred, 10u);
    EXPECT_EQ(schedule.next_transferred(device, 0.002), transferred(0, 10));
    const Work all = transferred(0, 10);
    schedule.completed(device, {&all, 1}, 1ms, 0.002);
    static_cast<void>(schedule.idle(device, true));
    static_cast<void>(schedule.idle(group, true));
    EXPECT_EQ(schedule.receive_units(std::nullopt, 10, 80, 0.002).size(), 2u) << "those that came from above";
    EXPECT_EQ(schedule.state().wanting_units(0.002), 0u);
    EXPECT_FALSE(schedule.state().is_quiet());
    const auto first = schedule.next_transferred(device, 0.002),
               second = schedule.next_transferred(group, 0.002);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->range.size() + second->range.size(), 10u);
    schedule.completed(device, {&*first, 1}, 1ms, 0.003);
    EXPECT_FALSE(schedule.state().is_quiet());
    schedule.completed(group, {&*second, 1}, 1ms, 0.003);
    EXPECT_TRUE(schedule.state().is_quiet());
}

TEST_F(ScheduleInTheMiddle, WhatWaitedForOthersStaysAfterItIsClosed) {
    schedule.note_above(true);
    static_cast<void>(schedule.idle(group, true));
    static_cast<void>(schedule.transfer_units(device, 60, 480, 0));
    schedule.close();
    EXPECT_EQ(schedule.state().demand(device, 1, 100, 0).share, 0.) << "the device may take what waited";
    EXPECT_FALSE(schedule.take_for_above());
    std::uint64_t units = 0;
    while (const auto work = schedule.next_transferred(device, 0)) {
        units += work->range.size();
        schedule.completed(device, {&*work, 1}, 1ms, 0.001);
    }
    EXPECT_EQ(units, 60u);
    EXPECT_EQ(schedule.state().demand(device, 1, 100, 0.001).share, 0.) << "nothing leaves it";
    schedule.completed(device, {&seed, 1}, 1ms, 0.002);
    EXPECT_TRUE(schedule.state().is_done());
}

TEST_F(ScheduleInTheMiddle, AGroupIsAsFastAsItSays) {
    EXPECT_EQ(schedule.state().units_per_second(), 0.) << "nothing was measured";
    schedule.extend({1, 1'000'001});
    schedule.completed(device, {&seed, 1}, 1ms, 0.001);
    EXPECT_DOUBLE_EQ(schedule.state().units_per_second(), 1000.);
    double now = 0.001;
    for (const double apart : {0.5, 0.01, 3.0}) { // it completes work in bursts
        const auto work = schedule.next(group, now);
        ASSERT_TRUE(work);
        now += apart;
        schedule.note_speed(group, 4000);
        schedule.completed(group, {&*work, 1}, 1ms, now);
        EXPECT_NEAR(*schedule.state().rates.units_per_second(group), 4000., 1.);
    }
    EXPECT_NEAR(schedule.state().units_per_second(), 5000., 1.);
    static_cast<void>(schedule.lost(device, {}));
    EXPECT_NEAR(schedule.state().units_per_second(), 4000., 1.) << "a lost device does nothing";
}

} // namespace
} // namespace headrace::test
