// internal/core/schedule.hpp - which participant does which part of a job: a state machine of values.
//
// Events come in, decisions go out. Time is a number in the event: seconds since the job began. There is no
// job, device, lock, clock or thread in here. So a test can go through all orders of events
// (tests/core/schedule_states_test.cpp), and the same code can stand for the nodes of a cluster.
//
//     event                       decision
//     next, next_transferred      a grant: work that the participant has from then on; or nothing
//     progressed                  none: it tells how far a paused task is
//     completed                   none: the task has ended
//     idle                        true: other participants should look for work to transfer to it
//     returned                    none: a task will not be completed by its participant
//     make_way                    where the task ends now; the rest waits for the next grant
//     transfer_seeds              where the task ends now; the rest waits for its recipients
//     transfer_units              which units wait for which recipient
//     lost                        what has to be done again, or why the job fails
//     leave_memory                true: the job goes on in another memory
//     extend, close               none: more work units have come, or no more will come
//     note_above                  none: the schedule above wants units, or wants none any more
//     receive_units               which units wait for which participant
//     take_for_above              units that leave this schedule
//
// After each of them `takes_wake` tells whether refused participants are to ask once more.
//
// What the events have left is in schedule_state.hpp, with what is asked between them.
//
// A unit is in one place at any time: left, granted, waiting for a recipient, or completed.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/policy.hpp>
#include <headrace/internal/core/granted_tasks.hpp>
#include <headrace/internal/core/schedule_state.hpp>
#include <headrace/internal/core/work.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace headrace {

/// The schedule of one job. Participants are numbered from 0.
///
/// Errors    what the policy or the division throws leaves each call; the job then fails, and the schedule is
///           only told what ends
/// Threads   one at a time
class HEADRACE_EXPORT Schedule {
public:
    using Duration = std::chrono::nanoseconds;
    using Participant = ScheduleState::Participant;
    using Shape = ScheduleState::Shape;

    Schedule(Shape shape, std::vector<Participant> participants, std::unique_ptr<Policy> policy,
             std::shared_ptr<const Division> division);

    /// What is known, and what follows from it.
    [[nodiscard]] const ScheduleState& state() const noexcept { return state_; }

    // Grants.

    /// The next range for this participant, of at most so many tasks that adjoin.
    [[nodiscard]] std::optional<Work> next(std::size_t participant, double now, std::uint64_t most_tasks = 1);
    /// What was transferred to this participant, or units that were transferred and that no participant has.
    [[nodiscard]] std::optional<Work> next_transferred(std::size_t participant, double now);
    /// Seconds: the job is charged that much, or what it is charged already.
    void charge_at_least(double seconds) { state_.tasks.charge_at_least(seconds); }
    /// True, once, if participants that were refused may be wanted after all.
    [[nodiscard]] bool takes_wake() { return state_.refusals.takes_wake(); }

    // Work that comes later: of a job that several ranks of a cluster share.

    /// More work units. All units of the job so far are its total for the policy.
    void extend(IndexRange units);
    /// No more come. Nothing goes to groups and to the schedule above any more.
    void close();

    // Units that move between schedules: this one, that above, and those of participants that are groups.

    /// A participant that is a group turns out to have one that does.
    void note_takes_units(std::size_t participant) { state_.participants[participant].takes_units = true; }
    /// How fast a participant that is a group is, as measured by its own schedule; 0: not known. It counts
    /// from the next event on: a group completes work in bursts, which say little of its speed.
    void note_speed(std::size_t participant, double units_per_second) {
        state_.participants[participant].group_speed = units_per_second;
    }
    /// The schedule above wants units, as an idle participant does; or it wants none any more.
    void note_above(bool wants);
    /// Units for the schedule above. They are its own from then on.
    [[nodiscard]] std::optional<Work> take_for_above();
    /// So many units have come, in so many bytes, from the schedule of a participant or from that above: the
    /// batches into which they are cut, in order.
    [[nodiscard]] std::vector<Work> receive_units(std::optional<std::size_t> participant, std::uint64_t units,
                                                  std::uint64_t bytes, double now);
    /// So many bytes of units went to another schedule.
    void release(std::uint64_t bytes) noexcept { state_.transfers.release(bytes); }

    // Tasks: `work` is as it was granted; its end may have gone to others since.

    /// The task's launches have taken so long so far.
    void ran(std::size_t participant, const Work& work, Duration busy);
    /// So many units of the task are begun, of a launch that has paused, or that has other tasks too.
    void begun(std::size_t participant, const Work& work, std::uint64_t units, double now);
    /// The same, and the participant has worked on nothing else since its last event.
    void progressed(std::size_t participant, const Work& work, std::uint64_t units, Duration busy,
                    double now);
    /// A task of which so many units are begun.
    struct Progressed {
        Work work;
        std::uint64_t units = 0;
    };
    /// Tasks that ended together, as those of one launch do, and took the participant so long in all. It has
    /// worked on `next` too in that time.
    void completed(std::size_t participant, std::span<const Work> works, Duration busy, double now,
                   const std::optional<Progressed>& next = {});
    /// The task is not completed. `again`: others do it.
    void returned(std::size_t participant, const Work& work, bool again);

    // Transfers from a donor that has paused to participants that have nothing to do.

    /// The participant has nothing to do at all, in this job or another; or has something again.
    bool idle(std::size_t participant, bool is_idle);
    /// Seeds from `unclaimed` on go to idle participants, by capability. Where the task ends now.
    [[nodiscard]] std::uint64_t transfer_seeds(std::size_t donor, const Work& task, std::uint64_t unclaimed,
                                               std::uint64_t lanes, double now);
    /// Seeds from `unclaimed` on wait for the next grant. Where the task ends now.
    [[nodiscard]] std::uint64_t make_way(std::size_t participant, const Work& task, std::uint64_t unclaimed);
    /// So many units of the donor's, in so many bytes: the batches into which they are cut, in order.
    [[nodiscard]] std::vector<Work> transfer_units(std::size_t donor, std::uint64_t units,
                                                   std::uint64_t bytes, double now);
    /// Of a transferred task that the participant has begun with, it keeps so many units. The others are
    /// there for any participant.
    struct Kept {
        Work rest, kept;
    };
    [[nodiscard]] Kept keep(std::size_t participant, const Work& work, std::uint64_t units, double now);

    // Losses.

    enum class Outcome : std::uint8_t {
        goes_on,
        has_transferred_units, ///< its tasks done again would make these units once more
        has_updated,           ///< data in place
        has_no_participant,    ///< left
    };
    struct Loss {
        Outcome outcome = Outcome::goes_on;
        std::vector<IndexRange> again; ///< work units that others do
    };
    /// The participant is gone, with these tasks in flight.
    [[nodiscard]] Loss lost(std::size_t participant, std::span<const Work> in_flight);
    /// The participant has no room for the task, which it has not begun. False: there is no other memory.
    [[nodiscard]] bool leave_memory(std::size_t participant, const Work& work);

    /// The job has ended: what was kept for a loss goes.
    void forget();

private:
    Work grant(std::size_t participant, Work work, double now);
    GrantedTasks::Task take_back(std::size_t participant, const Work& work);
    void learn(std::size_t participant, std::uint64_t units, Duration busy, double now);
    void include_again(double now);
    bool go_to_next_memory();
    std::vector<Work> deal(std::optional<std::size_t> donor, std::uint64_t units, std::uint64_t bytes,
                           double now);
    void take_from(std::size_t recipient);

    ScheduleState state_;
};

} // namespace headrace
