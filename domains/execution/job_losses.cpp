// domains/execution/job_losses.cpp - what becomes of a job whose device is lost or full: see
// job_execution.hpp.
#include <headrace/internal/domains/job_execution.hpp>

#include <string>
#include <utility>
#include <vector>

namespace headrace {

void JobExecution::hold_for(std::size_t device) {
    const std::scoped_lock lock(state_.mutex);
    if (participants().participant_of(device)) state_.life.hold_for(device);
}

void JobExecution::retire(std::size_t device, const ErrorPtr& error,
                          const std::vector<WorkRange>& in_flight) {
    std::unique_lock lock(state_.mutex);
    const auto place = participants().participant_of(device);
    if (!place) return;
    RunningJob& run = state_.running();
    state_.life.retired(device);
    if (state_.life.has_ended()) return;
    run.account.lose(*place, error);
    std::vector<Work> works;
    for (const WorkRange& work_range : in_flight) {
        run.in_flight.remove(device, work_range);
        works.push_back(work_of(work_range));
    }
    const Schedule::Loss loss = run.schedule.lost(*place, works);
    for (const IndexRange range : loss.again) run.outputs.leave(range);
    if (run.schedule.takes_wake()) state_.ask_again(); // the job goes on in another memory
    if (loss.outcome == Schedule::Outcome::has_transferred_units) {
        const std::uint64_t given = run.schedule.state().accounts.of(*place).units_transferred;
        state_.life.stop(std::make_shared<const Error>(
            Error(error->kind(), error->message() +
                                     "; what it did cannot be computed again, since it had transferred " +
                                     std::to_string(given) + " work units of it to other devices")
                .on_device(participants()[*place].info->id)
                .in_job(job().name())
                .in_task(error->task())
                .with_code(error->native_code())));
    } else if (loss.outcome != Schedule::Outcome::goes_on) {
        state_.life.stop(error);
    }
    state_.settle_if_ended(std::move(lock));
}

bool JobExecution::leave_memory(std::size_t device, const WorkRange& work_range) {
    const std::scoped_lock lock(state_.mutex);
    if (state_.life.is_stopping()) return false;
    RunningJob& run = state_.running();
    if (!run.schedule.leave_memory(state_.participant_of(device), work_of(work_range))) return false;
    run.in_flight.remove(device, work_range);
    if (!work_range.units) run.outputs.leave(work_range.range);
    if (run.schedule.takes_wake()) state_.ask_again();
    return true;
}

} // namespace headrace
