// domains/execution/job_transfers.cpp - see job_transfers.hpp.
#include <headrace/internal/domains/job_transfers.hpp>

#include <utility>

namespace headrace {

std::optional<WorkRange> JobTransfers::next_transferred(std::size_t device) {
    std::unique_lock lock(state_.mutex);
    const auto place = state_.participants.participant_of(device);
    if (!state_.life.is_running() || !place) return std::nullopt;
    RunningJob& run = state_.running();
    const auto work = state_.ask([&] { return run.schedule.next_transferred(*place, run.account.now()); },
                                 std::optional<Work>());
    auto work_range = state_.hand_out(*place, work);
    if (work_range && work_range->units && state_.participants[*place].is_rank)
        run.schedule.release(run.transferred.take(*work)->bytes()); // if the rank is lost, so is the job
    if (!work_range) state_.settle_if_ended(std::move(lock));
    return work_range;
}

bool JobTransfers::idle(std::size_t device, bool is_idle) {
    const std::scoped_lock lock(state_.mutex);
    const auto place = state_.participants.participant_of(device);
    return place && state_.running().schedule.idle(*place, is_idle);
}

bool JobTransfers::would_take(std::size_t donor, std::uint64_t seeds, std::uint64_t lanes,
                              double seconds) const {
    const std::scoped_lock lock(state_.mutex);
    if (state_.life.is_stopping()) return false;
    RunningJob& run = state_.running();
    const std::size_t place = state_.participant_of(donor);
    return state_.ask(
        [&] { return run.schedule.state().would_take(place, seeds, lanes, seconds, run.account.now()); },
        false);
}

std::uint64_t JobTransfers::make_way(std::size_t device, IndexRange task, std::uint64_t unclaimed) {
    const std::scoped_lock lock(state_.mutex);
    RunningJob& run = state_.running();
    const std::uint64_t end = state_.ask(
        [&] { return run.schedule.make_way(state_.participant_of(device), work_of(task), unclaimed); },
        task.end);
    state_.shorten(device, task, end);
    return end;
}

bool JobTransfers::has_returns() const {
    const std::scoped_lock lock(state_.mutex);
    return state_.running().schedule.state().has_returns;
}

std::uint64_t JobTransfers::give_back(std::size_t donor, IndexRange task, std::uint64_t unclaimed,
                                      std::uint64_t lanes) {
    const std::scoped_lock lock(state_.mutex);
    if (state_.life.is_stopping()) return task.end;
    RunningJob& run = state_.running();
    const std::uint64_t end = state_.ask(
        [&] {
            return run.schedule.transfer_seeds(state_.participant_of(donor), work_of(task), unclaimed, lanes,
                                               run.account.now());
        },
        task.end);
    state_.shorten(donor, task, end);
    return end;
}

ScheduleState::Demand JobTransfers::demand(std::size_t donor, std::uint64_t lanes, std::uint64_t left) const {
    const std::scoped_lock lock(state_.mutex);
    if (state_.life.is_stopping()) return {};
    RunningJob& run = state_.running();
    return state_.ask(
        [&] {
            return run.schedule.state().demand(state_.participant_of(donor), lanes, left, run.account.now());
        },
        ScheduleState::Demand{});
}

void JobTransfers::transfer(std::size_t donor, UnitBatch units) {
    const std::scoped_lock lock(state_.mutex);
    RunningJob& run = state_.running();
    const auto batches = state_.ask(
        [&] {
            return run.schedule.transfer_units(state_.participant_of(donor), units.size(), units.bytes(),
                                               run.account.now());
        },
        std::vector<Work>());
    run.transferred.add(batches, std::move(units));
}

void JobTransfers::note_takes_units(std::size_t device) {
    const std::scoped_lock lock(state_.mutex);
    state_.running().schedule.note_takes_units(state_.participant_of(device));
}

void JobTransfers::note_speed(std::size_t device, double units_per_second) {
    const std::scoped_lock lock(state_.mutex);
    if (state_.life.is_running())
        state_.running().schedule.note_speed(state_.participant_of(device), units_per_second);
}

void JobTransfers::receive(std::optional<std::size_t> device, UnitBatch units) {
    const std::scoped_lock lock(state_.mutex);
    if (!state_.life.is_running()) return;
    RunningJob& run = state_.running();
    const auto place = device ? std::optional(state_.participant_of(*device)) : std::nullopt;
    const std::uint64_t count = units.size(), bytes = units.bytes();
    const auto batches =
        state_.ask([&] { return run.schedule.receive_units(place, count, bytes, run.account.now()); },
                   std::vector<Work>());
    run.transferred.add(batches, std::move(units));
    state_.ask_again();
}

void JobTransfers::note_above(bool wants) {
    const std::scoped_lock lock(state_.mutex);
    if (!state_.life.is_running()) return;
    state_.running().schedule.note_above(wants);
    state_.ask_again(); // for launches that pause, or for what waited for it
}

std::shared_ptr<const UnitBatch> JobTransfers::take_for_above() {
    const std::scoped_lock lock(state_.mutex);
    if (!state_.life.is_running()) return nullptr;
    RunningJob& run = state_.running();
    const auto work = run.schedule.take_for_above();
    if (!work) return nullptr;
    auto units = run.transferred.take(*work);
    run.schedule.release(units->bytes());
    return units;
}

WorkRange JobTransfers::keep(std::size_t device, const WorkRange& work_range, std::uint64_t units) {
    const std::scoped_lock lock(state_.mutex);
    RunningJob& run = state_.running();
    const std::size_t place = state_.participant_of(device);
    const Work work = work_of(work_range);
    // First what may find no memory: if it throws, the task is as it was.
    TransferredUnits::Halves halves = run.transferred.halves(work, units);
    const Schedule::Kept parts = run.schedule.keep(place, work, units, run.account.now());
    run.transferred.divide(work, parts, std::move(halves));
    run.in_flight.remove(device, work_range);
    WorkRange granted = state_.work_range_of(parts.kept);
    run.in_flight.add(device, state_.participants[place].info->id, granted);
    return granted;
}

} // namespace headrace
