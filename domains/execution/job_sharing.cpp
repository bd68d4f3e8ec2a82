// domains/execution/job_sharing.cpp - a job that the ranks of a cluster share: see job_execution.hpp.
#include <headrace/internal/domains/job_execution.hpp>

namespace headrace {

void JobExecution::extend(IndexRange units) {
    const std::scoped_lock lock(state_.mutex);
    if (!state_.life.is_running()) return;
    state_.running().schedule.extend(units);
    state_.ask_again();
}

void JobExecution::close() {
    std::unique_lock lock(state_.mutex);
    state_.running().schedule.close();
    if (!state_.running().schedule.state().is_quiet()) state_.ask_again(); // for what waited for other ranks
    state_.settle_if_ended(std::move(lock));
}

void JobExecution::note_idle(std::size_t device) {
    if (!transfers().idle(device, true)) return;
    const std::scoped_lock lock(state_.mutex);
    state_.ask_again();
}

cluster::LocalWork::Supply JobExecution::supply() const {
    const std::scoped_lock lock(state_.mutex);
    cluster::LocalWork::Supply supply{.is_running = state_.life.is_running(),
                                      .has_ended = state_.life.has_ended(),
                                      .stop_reason = state_.life.stop_reason()};
    if (!state_.was_queried()) return supply; // it waits, and takes little memory
    const Schedule& schedule = state_.running().schedule;
    supply.open = schedule.state().open.units();
    supply.completed = schedule.state().accounts.completed_units();
    supply.is_quiet = schedule.state().is_quiet();
    supply.takes_units = schedule.state().takes_units();
    if (supply.is_running)
        supply.wanting_units = schedule.state().wanting_units(state_.running().account.now());
    supply.has_no_donor = supply.wanting_units > 0 && schedule.state().has_no_donor();
    supply.units_per_second = schedule.state().units_per_second();
    supply.busy = state_.running().account.busiest();
    return supply;
}

} // namespace headrace
