// core/scheduling/schedule.cpp - grants, and what becomes of granted tasks: see schedule.hpp.
#include <headrace/internal/core/schedule.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace headrace {

Schedule::Schedule(Shape shape, std::vector<Participant> participants, std::unique_ptr<Policy> policy,
                   std::shared_ptr<const Division> division)
    : state_(shape, std::move(participants), std::move(policy), std::move(division)) {}

std::optional<Work> Schedule::next(std::size_t participant, double now, std::uint64_t most_tasks) {
    if (!state_.open.has_units()) {
        state_.refusals.note_no_work();
        return std::nullopt;
    }
    if (!state_.availability.can_work(participant)) return std::nullopt;
    state_.refusals.note_ask(participant, now);
    std::vector<DeviceProgress> all = state_.participants_progress(now);
    Progress progress = state_.progress(all);
    std::uint64_t wanted = state_.policy->next(participant, progress);
    if (wanted == 0) {
        state_.refusals.refuse(participant, !state_.policy->takes_over(participant, progress));
        if (!state_.tasks.are_none()) return std::nullopt; // the participant whose task ends asks again
        if (!state_.refusals.is_last_resort(participant, state_.availability.workers())) return std::nullopt;
        wanted = 1; // a policy that refuses all participants would hang the job
    }
    const IndexRange left = state_.open.next();
    Work work{.range = {left.begin, left.begin}, .tasks = 0};
    // The policy is asked here for all tasks of the batch: a call of `next` costs as much as a small task.
    do {
        const std::uint64_t size =
            state_.division->split({work.range.end, left.end}, std::max(wanted, all[participant].least));
        work.range.end += size;
        ++work.tasks;
        progress.remaining -= size;
        all[participant].in_flight += size;
        if (work.tasks == most_tasks || work.range.end == left.end) break;
        wanted = state_.policy->next(participant, progress);
    } while (wanted > 0);
    state_.open.cut(work.range.end);
    return grant(participant, work, now);
}

void Schedule::extend(IndexRange units) {
    state_.open.put_back({.range = units});
    state_.shape.work_units += units.size();
    state_.refusals.wake();
}

Work Schedule::grant(std::size_t participant, Work work, double now) {
    state_.transfers.note_idle(participant, false);
    state_.refusals.note_grant(participant);
    const auto rate = state_.rates.units_per_second(participant);
    state_.tasks.add(participant, work, rate ? static_cast<double>(work.work_units()) / *rate : 0, now);
    return work;
}

GrantedTasks::Task Schedule::take_back(std::size_t participant, const Work& work) {
    state_.refusals.note_end();
    return state_.tasks.remove(participant, work);
}

void Schedule::returned(std::size_t participant, const Work& work, bool again) {
    take_back(participant, work);
    if (again) state_.open.put_back(work);
}

void Schedule::ran(std::size_t participant, const Work& work, Duration busy) {
    state_.tasks.ran(participant, work, busy);
}

void Schedule::begun(std::size_t participant, const Work& work, std::uint64_t units, double now) {
    state_.tasks.begun(participant, work, units, now);
}

void Schedule::progressed(std::size_t participant, const Work& work, std::uint64_t units, Duration busy,
                          double now) {
    learn(participant, state_.tasks.progressed(participant, work, units), busy, now);
}

void Schedule::completed(std::size_t participant, std::span<const Work> works, Duration busy, double now,
                         const std::optional<Progressed>& next) {
    std::uint64_t units = 0, known = 0;
    for (const Work& work : works) {
        known += take_back(participant, work).learned;
        units += work.work_units();
        state_.accounts.complete(participant, work);
    }
    state_.tasks.charge(busy);
    if (next) units += state_.tasks.progressed(participant, next->work, next->units);
    // Transferred units say nothing of how long the job's work units take.
    learn(participant, units - known, busy, now);
    state_.tasks.note_end(participant);
}

void Schedule::learn(std::size_t participant, std::uint64_t units, Duration busy, double now) {
    Duration time = state_.tasks.measure(participant, busy, now);
    if (units > 0) {
        state_.tasks.note_progress(participant, now);
        if (const double speed = state_.participants[participant].group_speed; speed > 0) {
            state_.rates.tell(participant, speed);
            time = std::chrono::duration_cast<Duration>(
                std::chrono::duration<double>(static_cast<double>(units) / speed));
        } else {
            state_.rates.completed(participant, units, time);
        }
        state_.policy->completed(participant, units, time);
    }
    include_again(now);
}

/// Participants that the policy excluded may be worth asking by now.
void Schedule::include_again(double now) {
    if (!state_.open.has_units() || !state_.refusals.any_excluded()) return;
    const std::vector<DeviceProgress> all = state_.participants_progress(now);
    const Progress progress = state_.progress(all);
    for (std::size_t i = 0; i < state_.participants.size(); ++i)
        if (state_.refusals.is_excluded(i) && state_.availability.can_work(i) &&
            state_.policy->takes_over(i, progress))
            state_.refusals.include(i);
}

void Schedule::forget() {
    state_.accounts.forget();
    state_.transfers.forget();
    state_.open.forget_transferred();
}

} // namespace headrace
