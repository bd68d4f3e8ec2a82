// core/scheduling/schedule_transfers.cpp - work that its participant has not begun goes to others: to
// participants that are idle, or because the participant is lost. See schedule.hpp.
#include <headrace/internal/core/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headrace {

std::optional<Work> Schedule::next_transferred(std::size_t participant, double now) {
    if (!state_.availability.can_work(participant)) return std::nullopt;
    if (!state_.transfers.are_none(participant))
        return grant(participant, state_.transfers.take(participant), now);
    if (!state_.open.has_transferred() || !state_.participants[participant].takes_units) return std::nullopt;
    return grant(participant, state_.open.take_transferred(), now);
}

bool Schedule::idle(std::size_t participant, bool is_idle) {
    const bool was_idle = state_.transfers.note_idle(participant, is_idle);
    if (is_idle)
        return !was_idle && !state_.tasks.are_none() &&
               (!state_.open.has_units() || state_.refusals.is_put_off(participant));
    if (state_.transfers.are_none(participant)) return false;
    take_from(participant);
    return true;
}

std::uint64_t Schedule::make_way(std::size_t participant, const Work& task, std::uint64_t unclaimed) {
    const IndexRange range = task.range;
    const std::uint64_t cut = range.begin + state_.division->split(range, unclaimed - range.begin);
    if (cut >= range.end) return range.end;
    state_.tasks.shorten(participant, task, cut);
    state_.open.put_back({.range = {cut, range.end}});
    state_.has_returns = true;
    return cut;
}

std::uint64_t Schedule::transfer_seeds(std::size_t donor, const Work& task, std::uint64_t unclaimed,
                                       std::uint64_t lanes, double now) {
    const IndexRange range = task.range;
    const std::uint64_t left = range.end - unclaimed;
    const Recipients recipients =
        state_.recipients(donor, ScheduleState::Kind::seeds, lanes, now).that_pay(left);
    if (recipients.are_none()) return range.end;
    // Cut where the job allows it: a range that begins with what is kept is as long as split() says.
    const std::uint64_t cut =
        range.begin + state_.division->split(range, unclaimed - range.begin + recipients.kept(left));
    if (cut <= unclaimed || cut >= range.end)
        return range.end; // the donor keeps some, or it would have ended
    const auto parts = recipients.cut({cut, range.end}, left, *state_.division);
    for (const auto& [recipient, part] : parts) state_.transfers.add(recipient, {.range = part});
    state_.tasks.shorten(donor, task, cut);
    state_.accounts.transfer_seeds(donor, range.end - cut);
    return cut;
}

std::vector<Work> Schedule::transfer_units(std::size_t donor, std::uint64_t units, std::uint64_t bytes,
                                           double now) {
    state_.accounts.transfer_units(donor, units);
    return deal(donor, units, bytes, now);
}

std::vector<Work> Schedule::receive_units(std::optional<std::size_t> participant, std::uint64_t units,
                                          std::uint64_t bytes, double now) {
    if (participant) {
        state_.accounts.transfer_units(*participant, units);
        idle(*participant, false); // it had more than it could use, and needs none of them back
    }
    return deal(std::nullopt, units, bytes, now);
}

std::vector<Work> Schedule::deal(std::optional<std::size_t> donor, std::uint64_t units, std::uint64_t bytes,
                                 double now) {
    state_.transfers.keep(bytes);
    std::vector<Work> batches;
    // The least counted before.
    for (const auto& [recipient, part] :
         state_.recipients(donor, ScheduleState::Kind::units, 1, now).deal(units)) {
        batches.push_back(state_.transfers.number(part));
        state_.transfers.add(recipient, batches.back());
        units -= part;
    }
    if (units > 0) { // no participant is idle any more
        batches.push_back(state_.transfers.number(units));
        state_.open.put_back(batches.back());
    }
    return batches;
}

void Schedule::note_above(bool wants) {
    state_.transfers.note_idle(state_.above(), wants);
    if (!wants) take_from(state_.above());
}

std::optional<Work> Schedule::take_for_above() {
    if (!state_.transfers.is_idle(state_.above())) return std::nullopt;
    std::optional<Work> work;
    if (!state_.transfers.are_none(state_.above()))
        work = state_.transfers.take(state_.above());
    else if (state_.open.has_transferred())
        work = state_.open.take_transferred();
    if (work) state_.transfers.note_idle(state_.above(), false);
    return work;
}

/// What waits for the recipient is there for any participant.
void Schedule::take_from(std::size_t recipient) {
    for (const Work& work : state_.transfers.take_all(recipient)) state_.open.put_back(work);
}

void Schedule::close() {
    state_.shape.is_open = false;
    note_above(false);
    for (std::size_t i = 0; i < state_.participants.size(); ++i) {
        if (!state_.participants[i].is_group) continue;
        state_.transfers.note_idle(i, false);
        take_from(i);
    }
}

Schedule::Kept Schedule::keep(std::size_t participant, const Work& work, std::uint64_t units, double now) {
    take_back(participant, work);
    const Work rest = state_.transfers.number(work.range.size() - units),
               kept = state_.transfers.number(units);
    state_.open.put_back(rest);
    return {rest, grant(participant, kept, now)};
}

Schedule::Loss Schedule::lost(std::size_t participant, std::span<const Work> in_flight) {
    Loss loss;
    const auto again = [&](const Work& work) {
        state_.open.put_back(work);
        if (!work.is_transferred) loss.again.push_back(work.range);
    };
    for (const Work& work : in_flight) take_back(participant, work);
    if (state_.availability.lose(participant)) state_.rates.lost(participant);
    for (const Work& work : in_flight) again(work);
    for (const Work& work : state_.transfers.take_all(participant)) again(work);
    const bool has_worked = state_.accounts.has_completed(participant) || !in_flight.empty();
    if (state_.accounts.of(participant).units_transferred > 0) {
        loss.outcome = Outcome::has_transferred_units;
        return loss;
    }
    if (!state_.shape.is_repeatable && has_worked) {
        loss.outcome = Outcome::has_updated;
        return loss;
    }
    // What others did in another memory has been fetched into the lost one.
    const bool all = state_.availability.has_moved() && has_worked;
    for (const Work& work : state_.accounts.take_back(participant, all)) again(work);
    if (has_worked) state_.availability.start_again();
    if (state_.availability.are_none() && !go_to_next_memory()) loss.outcome = Outcome::has_no_participant;
    return loss;
}

/// False: there is none.
bool Schedule::go_to_next_memory() {
    if (!state_.availability.go_to_next_memory(state_.rates)) return false;
    state_.refusals.wake();
    return true;
}

bool Schedule::leave_memory(std::size_t participant, const Work& work) {
    if (!state_.availability.has_other_memory(participant)) return false;
    returned(participant, work, true);
    state_.availability.fill_memory(participant,
                                    state_.accounts.completed_units() > 0 || !state_.tasks.are_none());
    return state_.availability.stands_by(participant) || go_to_next_memory();
}

} // namespace headrace
