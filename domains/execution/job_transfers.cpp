// domains/execution/job_transfers.cpp - what a device has not begun goes to others: how a job asks its
// schedule, and which units a batch of it has. See job_execution.hpp.
#include "execution/schedule_work.hpp"
#include <headrace/internal/domains/job_execution.hpp>

#include <utility>

namespace headrace {

std::optional<WorkRange> JobExecution::next_transferred(std::size_t device) {
    std::unique_lock lock(mutex_);
    if (!started_ || stop_reason_ || !share_of(device)) return std::nullopt;
    Running& run = running();
    auto work_range = hand_out(device, run.schedule.next_transferred(participant_of(device), run.now()));
    if (!work_range) settle_if_ended(std::move(lock));
    return work_range;
}

bool JobExecution::idle(std::size_t device, bool is_idle) {
    const std::scoped_lock lock(mutex_);
    return share_of(device) != nullptr && running().schedule.idle(participant_of(device), is_idle);
}

bool JobExecution::would_take(std::size_t donor, std::uint64_t seeds, std::uint64_t lanes,
                              double seconds) const {
    const std::scoped_lock lock(mutex_);
    if (stop_reason_) return false;
    Running& run = running();
    return ask(
        [&] { return run.schedule.would_take(participant_of(donor), seeds, lanes, seconds, run.now()); },
        false);
}

bool JobExecution::others_may_take_over(std::size_t device) const {
    if (!several_devices_) return false;
    const std::scoped_lock lock(mutex_);
    if (!share_of(device)) return true; // all of them are others
    Running& run = running();
    return ask([&] { return run.schedule.others_may_take_over(participant_of(device), run.now()); }, false);
}

std::uint64_t JobExecution::make_way(std::size_t device, IndexRange task, std::uint64_t unclaimed) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t end =
        ask([&] { return running().schedule.make_way(participant_of(device), work_of(task), unclaimed); },
            task.end);
    shorten(device, task, end);
    return end;
}

bool JobExecution::has_returns() const {
    const std::scoped_lock lock(mutex_);
    return running().schedule.has_returns();
}

/// The task ends there from here on.
void JobExecution::shorten(std::size_t device, IndexRange task, std::uint64_t end) {
    if (end == task.end) return;
    in_flight(device, task)->work_range.range.end = end;
    leave_parts(task);
    static_cast<void>(enter_parts({task.begin, end})); // if it fails, so does the job
}

std::uint64_t JobExecution::give_back(std::size_t donor, IndexRange task, std::uint64_t unclaimed,
                                      std::uint64_t lanes) {
    const std::scoped_lock lock(mutex_);
    if (stop_reason_) return task.end;
    Running& run = running();
    const std::uint64_t end = ask(
        [&] {
            return run.schedule.transfer_seeds(participant_of(donor), work_of(task), unclaimed, lanes,
                                               run.now());
        },
        task.end);
    shorten(donor, task, end);
    return end;
}

Schedule::Demand JobExecution::demand(std::size_t donor, std::uint64_t lanes, std::uint64_t left) const {
    const std::scoped_lock lock(mutex_);
    if (stop_reason_) return {};
    Running& run = running();
    return ask([&] { return run.schedule.demand(participant_of(donor), lanes, left, run.now()); },
               Schedule::Demand{});
}

void JobExecution::transfer(std::size_t donor, UnitBatch units) {
    const std::scoped_lock lock(mutex_);
    Running& run = running();
    const auto batches = ask(
        [&] {
            return run.schedule.transfer_units(participant_of(donor), units.size(), units.bytes(), run.now());
        },
        std::vector<Work>());
    for (const Work& batch : batches)
        run.batches[batch.range.begin] = std::make_shared<const UnitBatch>(units.split(batch.range.size()));
}

WorkRange JobExecution::keep(std::size_t device, const WorkRange& work_range, std::uint64_t units) {
    const std::scoped_lock lock(mutex_);
    Running& run = running();
    UnitBatch left = *work_range.units;
    UnitBatch kept = left.split(units);
    const Schedule::Kept now =
        run.schedule.keep(participant_of(device), work_of(work_range), kept.size(), run.now());
    run.batches[now.rest.range.begin] = std::make_shared<const UnitBatch>(std::move(left));
    run.batches[now.kept.range.begin] = std::make_shared<const UnitBatch>(std::move(kept));
    run.batches.erase(work_range.range.begin); // the two stand for it
    forget_task(device, work_range);
    WorkRange granted = work_range_of(now.kept);
    note_task(device, granted);
    return granted;
}

} // namespace headrace
