// core/scheduling/schedule_transfers.cpp - work that its participant has not begun goes to others: to
// participants that are idle, or because the participant is lost. See schedule.hpp.
#include <headrace/internal/core/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headrace {
namespace {

/// Seconds that a transfer must save the donor: it costs the donor, and the recipient, a launch.
constexpr double seconds_that_pay = 0.25e-3;

/// A donor keeps some of what it has, even if its capability is unknown.
constexpr double least_capability = 1e-3;

/// Units that fill a lane group of the participant, for a kernel of which the donor's groups hold so many at
/// a time. One for group kernels, and on a processor, whose lanes take turns.
std::uint64_t fills_group(const Schedule::Participant& participant, std::uint64_t lanes) {
    return lanes == 1 || participant.is_processor ? 1 : std::max<std::uint64_t>(1, participant.lane_group);
}

} // namespace

std::optional<Work> Schedule::next_transferred(std::size_t participant, double now) {
    if (!availability_.can_work(participant)) return std::nullopt;
    if (!transfers_.are_none(participant)) return grant(participant, transfers_.take(participant), now);
    if (!open_.has_transferred() || !participants_[participant].takes_units) return std::nullopt;
    return grant(participant, open_.take_transferred(), now);
}

bool Schedule::idle(std::size_t participant, bool is_idle) {
    const bool was_idle = transfers_.note_idle(participant, is_idle);
    if (is_idle) return !was_idle && !tasks_.are_none() && !open_.has_units();
    if (transfers_.are_none(participant)) return false;
    take_from(participant);
    return true;
}

bool Schedule::would_take(std::size_t donor, std::uint64_t seeds, std::uint64_t lanes, double seconds,
                          double now) const {
    const double share = recipients(donor, Kind::seeds, lanes, now).that_pay(seeds).share();
    if (share == 0 || !rates_.are_per_second()) return share > 0;
    const double known = static_cast<double>(seeds) / rates_.capability(donor);
    return share * std::max(seconds, known) >= seconds_that_pay;
}

/// No participant is a donor as long as there is work that was never granted.
Recipients Schedule::recipients(std::optional<std::size_t> donor, Kind kind, std::uint64_t lanes,
                                double now) const {
    std::vector<Recipients::One> all;
    double of_donor = 0;
    const bool has_open = open_.has_units() || open_.has_transferred();
    const bool may_share = shape_.shares_units && transfers_.bytes_left() > 0;
    // A task that updates what the donor updates would wait until the donor has ended.
    if (has_open || !(kind == Kind::units ? may_share : shape_.is_repeatable)) return {all, of_donor};
    const std::vector<DeviceProgress> devices = participants_progress(now);
    const Progress progress = this->progress(devices);
    for (std::size_t i = 0; i < participants_.size(); ++i) {
        const double capability = rates_.relative_capability(i);
        const bool waits = transfers_.may_receive(i) && availability_.can_work(i) &&
                           (kind == Kind::seeds || participants_[i].takes_units);
        if (i == donor)
            of_donor = std::max(capability, least_capability);
        else if (waits && rates_.capability(i) > 0 && policy_->takes_over(i, progress))
            all.push_back({i, capability, fills_group(participants_[i], lanes)});
    }
    if (kind == Kind::units && transfers_.may_receive(above()) &&
        (!donor || policy_->takes_over(*donor, progress))) {
        // How fast it is, is not known: it is taken to be as fast as the fastest here.
        double fastest = of_donor;
        for (const Recipients::One& one : all) fastest = std::max(fastest, one.share);
        all.push_back({above(), fastest > 0 ? fastest : 1, 1});
    }
    return {std::move(all), of_donor};
}

bool Schedule::others_may_take_over(std::size_t participant, double now) const {
    const bool above_may = shape_.has_above && shape_.is_open && shape_.shares_units;
    if (participants_.size() < 2 && !above_may) return false;
    const std::vector<DeviceProgress> devices = participants_progress(now);
    const Progress progress = this->progress(devices);
    if (above_may && policy_->takes_over(participant, progress)) return true;
    for (std::size_t i = 0; i < participants_.size(); ++i)
        if (i != participant && availability_.can_work(i) && policy_->takes_over(i, progress)) return true;
    return false;
}

std::uint64_t Schedule::make_way(std::size_t participant, const Work& task, std::uint64_t unclaimed) {
    const IndexRange range = task.range;
    const std::uint64_t cut = range.begin + division_->split(range, unclaimed - range.begin);
    if (cut >= range.end) return range.end;
    tasks_.shorten(participant, task, cut);
    open_.put_back({.range = {cut, range.end}});
    has_returns_ = true;
    return cut;
}

std::uint64_t Schedule::transfer_seeds(std::size_t donor, const Work& task, std::uint64_t unclaimed,
                                       std::uint64_t lanes, double now) {
    const IndexRange range = task.range;
    const std::uint64_t left = range.end - unclaimed;
    const Recipients recipients = this->recipients(donor, Kind::seeds, lanes, now).that_pay(left);
    if (recipients.are_none()) return range.end;
    // Cut where the job allows it: a range that begins with what is kept is as long as split() says.
    const auto kept =
        static_cast<std::uint64_t>(std::ceil((1 - recipients.share()) * static_cast<double>(left)));
    const std::uint64_t cut = range.begin + division_->split(range, unclaimed - range.begin + kept);
    if (cut <= unclaimed || cut >= range.end)
        return range.end; // the donor keeps some, or it would have ended
    const auto parts = recipients.cut({cut, range.end}, left, *division_);
    for (const auto& [recipient, part] : parts) transfers_.add(recipient, {.range = part});
    tasks_.shorten(donor, task, cut);
    accounts_.transfer_seeds(donor, range.end - cut);
    return cut;
}

Schedule::Demand Schedule::demand(std::size_t donor, std::uint64_t lanes, std::uint64_t left,
                                  double now) const {
    const Recipients recipients = this->recipients(donor, Kind::units, lanes, now).that_pay(left);
    return {.share = recipients.share(), .least = recipients.least(), .most_bytes = transfers_.bytes_left()};
}

std::vector<Work> Schedule::transfer_units(std::size_t donor, std::uint64_t units, std::uint64_t bytes,
                                           double now) {
    accounts_.transfer_units(donor, units);
    return deal(donor, units, bytes, now);
}

std::vector<Work> Schedule::receive_units(std::optional<std::size_t> participant, std::uint64_t units,
                                          std::uint64_t bytes, double now) {
    if (participant) accounts_.transfer_units(*participant, units);
    return deal(std::nullopt, units, bytes, now);
}

std::vector<Work> Schedule::deal(std::optional<std::size_t> donor, std::uint64_t units, std::uint64_t bytes,
                                 double now) {
    transfers_.keep(bytes);
    std::vector<Work> batches;
    // The least counted before.
    for (const auto& [recipient, part] : recipients(donor, Kind::units, 1, now).deal(units)) {
        batches.push_back(transfers_.number(part));
        transfers_.add(recipient, batches.back());
        units -= part;
    }
    if (units > 0) { // no participant is idle any more
        batches.push_back(transfers_.number(units));
        open_.put_back(batches.back());
    }
    return batches;
}

void Schedule::note_above(bool wants) {
    transfers_.note_idle(above(), wants);
    if (!wants) take_from(above());
}

std::optional<Work> Schedule::take_for_above() {
    if (!transfers_.is_idle(above())) return std::nullopt;
    std::optional<Work> work;
    if (!transfers_.are_none(above()))
        work = transfers_.take(above());
    else if (open_.has_transferred())
        work = open_.take_transferred();
    if (work) transfers_.note_idle(above(), false);
    return work;
}

/// What waits for the recipient is there for any participant.
void Schedule::take_from(std::size_t recipient) {
    for (const Work& work : transfers_.take_all(recipient)) open_.put_back(work);
}

void Schedule::close() {
    shape_.is_open = false;
    note_above(false);
    for (std::size_t i = 0; i < participants_.size(); ++i) {
        if (!participants_[i].is_group) continue;
        transfers_.note_idle(i, false);
        take_from(i);
    }
}

bool Schedule::takes_units() const { return std::ranges::any_of(participants_, &Participant::takes_units); }

bool Schedule::wants_units(double now) const {
    if (!shape_.shares_units || open_.has_units() || open_.has_transferred()) return false;
    const auto waits = [&](std::size_t i) {
        return transfers_.may_receive(i) && availability_.can_work(i) && participants_[i].takes_units;
    };
    std::size_t first = 0; // most often there is none
    while (first < participants_.size() && !waits(first)) ++first;
    if (first == participants_.size()) return false;
    const std::vector<DeviceProgress> devices = participants_progress(now);
    const Progress progress = this->progress(devices);
    for (std::size_t i = first; i < participants_.size(); ++i)
        if (waits(i) && policy_->takes_over(i, progress)) return true;
    return false;
}

bool Schedule::has_no_donor() const {
    for (std::size_t i = 0; i < participants_.size(); ++i)
        if (!participants_[i].is_group && availability_.can_work(i) && !transfers_.is_idle(i)) return false;
    return true;
}

Schedule::Kept Schedule::keep(std::size_t participant, const Work& work, std::uint64_t units, double now) {
    take_back(participant, work);
    const Work rest = transfers_.number(work.range.size() - units), kept = transfers_.number(units);
    open_.put_back(rest);
    return {rest, grant(participant, kept, now)};
}

Schedule::Loss Schedule::lost(std::size_t participant, std::span<const Work> in_flight) {
    Loss loss;
    const auto again = [&](const Work& work) {
        open_.put_back(work);
        if (!work.is_transferred) loss.again.push_back(work.range);
    };
    for (const Work& work : in_flight) take_back(participant, work);
    if (availability_.lose(participant)) rates_.lost(participant);
    for (const Work& work : in_flight) again(work);
    for (const Work& work : transfers_.take_all(participant)) again(work);
    const bool has_worked = accounts_.has_completed(participant) || !in_flight.empty();
    if (accounts_.of(participant).units_transferred > 0) {
        loss.outcome = Outcome::has_transferred_units;
        return loss;
    }
    if (!shape_.is_repeatable && has_worked) {
        loss.outcome = Outcome::has_updated;
        return loss;
    }
    // What others did in another memory has been fetched into the lost one.
    const bool all = availability_.has_moved() && has_worked;
    for (const Work& work : accounts_.take_back(participant, all)) again(work);
    if (has_worked) availability_.start_again();
    if (availability_.are_none() && !go_to_next_memory()) loss.outcome = Outcome::has_no_participant;
    return loss;
}

/// False: there is none.
bool Schedule::go_to_next_memory() {
    if (!availability_.go_to_next_memory(rates_)) return false;
    refusals_.wake();
    return true;
}

bool Schedule::leave_memory(std::size_t participant, const Work& work) {
    if (!availability_.has_other_memory(participant)) return false;
    returned(participant, work, true);
    availability_.fill_memory(participant, accounts_.completed_units() > 0 || !tasks_.are_none());
    return availability_.stands_by(participant) || go_to_next_memory();
}

} // namespace headrace
