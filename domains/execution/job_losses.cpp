// domains/execution/job_losses.cpp - what becomes of a job whose device is lost or full: see
// job_execution.hpp.
#include "execution/schedule_work.hpp"
#include <headrace/internal/domains/job_execution.hpp>

#include <string>
#include <utility>
#include <vector>

namespace headrace {

void JobExecution::hold_for(std::size_t device) {
    const std::scoped_lock lock(mutex_);
    if (Share* share = share_of(device)) share->is_leaving = true;
}

void JobExecution::retire(std::size_t device, const ErrorPtr& error,
                          const std::vector<WorkRange>& in_flight) {
    std::unique_lock lock(mutex_);
    Running& run = running();
    Share* share = share_of(device);
    if (!share) return;
    share->is_leaving = false;
    if (ended_) return;
    if (!share->loss) share->loss = error;
    std::vector<Work> works;
    for (const WorkRange& work_range : in_flight) {
        forget_task(device, work_range);
        works.push_back(work_of(work_range));
    }
    const Schedule::Loss loss = run.schedule.lost(participant_of(*share), works);
    for (const IndexRange range : loss.again) leave_parts(range);
    if (run.schedule.takes_wake()) ask_again(); // the job goes on in another memory
    if (loss.outcome == Schedule::Outcome::has_transferred_units) {
        const std::uint64_t given = run.schedule.account(participant_of(*share)).units_transferred;
        if (!stop_reason_)
            stop_reason_ = std::make_shared<const Error>(
                Error(error->kind(), error->message() +
                                         "; what it did cannot be computed again, since it had transferred " +
                                         std::to_string(given) + " work units of it to other devices")
                    .on_device(share->participant.info->id)
                    .in_job(job_.name())
                    .in_task(error->task())
                    .with_code(error->native_code()));
    } else if (loss.outcome != Schedule::Outcome::goes_on && !stop_reason_) {
        stop_reason_ = error;
    }
    settle_if_ended(std::move(lock));
}

bool JobExecution::leave_memory(std::size_t device, const WorkRange& work_range) {
    const std::scoped_lock lock(mutex_);
    if (stop_reason_) return false;
    Schedule& schedule = running().schedule;
    if (!schedule.leave_memory(participant_of(device), work_of(work_range))) return false;
    forget_task(device, work_range);
    if (!work_range.units) leave_parts(work_range.range);
    if (schedule.takes_wake()) ask_again();
    return true;
}

Access JobExecution::access_of(const Job::Use& use) const {
    if (!use.is_of_one_replica()) return use.access;
    const std::scoped_lock lock(mutex_);
    return running().schedule.has_moved() ? Access::update : use.access;
}

} // namespace headrace
