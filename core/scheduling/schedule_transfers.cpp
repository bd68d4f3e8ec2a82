// core/scheduling/schedule_transfers.cpp - work that its participant has not begun goes to others: to
// participants that are idle, or because the participant is lost. See schedule.hpp.
#include <headrace/internal/core/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace headrace {
namespace {

/// Transferred units are kept until their job ends, for the case that their participant is lost: so many
/// bytes of them. A job that transfers as much goes on without further transfers.
constexpr std::uint64_t most_transferred = std::uint64_t{256} << 20;

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
    if (!can_work(participant)) return std::nullopt;
    Share& share = shares_[participant];
    const bool has_own = !share.transferred.empty();
    if (!has_own) {
        if (!open_.has_transferred() || !share.participant.takes_units) return std::nullopt;
        return grant(participant, open_.take_transferred(), now);
    }
    const Work work = share.transferred.back();
    share.transferred.pop_back();
    return grant(participant, work, now);
}

bool Schedule::idle(std::size_t participant, bool is_idle) {
    Share& share = shares_[participant];
    const bool was_idle = std::exchange(share.is_idle, is_idle);
    if (is_idle) return !was_idle && !tasks_.are_none() && !open_.has_units();
    if (share.transferred.empty()) return false;
    for (const Work& work : std::exchange(share.transferred, {})) open_.put_back(work);
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
Recipients Schedule::recipients(std::size_t donor, Kind kind, std::uint64_t lanes, double now) const {
    std::vector<Recipients::One> all;
    double of_donor = 0;
    const bool has_open = open_.has_units() || open_.has_transferred();
    const bool may_share = shape_.shares_units && transferred_bytes_ < most_transferred;
    // A task that updates what the donor updates would wait until the donor has ended.
    if (has_open || !(kind == Kind::units ? may_share : shape_.is_repeatable)) return {all, of_donor};
    const std::vector<DeviceProgress> devices = participants_progress(now);
    const Progress progress = this->progress(devices);
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        const Share& share = shares_[i];
        const double capability = rates_.relative_capability(i);
        const bool waits = share.is_idle && can_work(i) && share.transferred.empty() &&
                           (kind == Kind::seeds || share.participant.takes_units);
        if (i == donor)
            of_donor = std::max(capability, least_capability);
        else if (waits && rates_.capability(i) > 0 && policy_->takes_over(i, progress))
            all.push_back({i, capability, fills_group(share.participant, lanes)});
    }
    return {std::move(all), of_donor};
}

bool Schedule::others_may_take_over(std::size_t participant, double now) const {
    if (shares_.size() < 2) return false;
    const std::vector<DeviceProgress> devices = participants_progress(now);
    const Progress progress = this->progress(devices);
    for (std::size_t i = 0; i < shares_.size(); ++i)
        if (i != participant && can_work(i) && policy_->takes_over(i, progress)) return true;
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
    for (const auto& [recipient, part] : parts) shares_[recipient].transferred.push_back({.range = part});
    tasks_.shorten(donor, task, cut);
    shares_[donor].account.seeds_transferred += range.end - cut;
    return cut;
}

Schedule::Demand Schedule::demand(std::size_t donor, std::uint64_t lanes, std::uint64_t left,
                                  double now) const {
    const Recipients recipients = this->recipients(donor, Kind::units, lanes, now).that_pay(left);
    return {.share = recipients.share(),
            .least = recipients.least(),
            .most_bytes = most_transferred - std::min(transferred_bytes_, most_transferred)};
}

std::vector<Work> Schedule::transfer_units(std::size_t donor, std::uint64_t units, std::uint64_t bytes,
                                           double now) {
    shares_[donor].account.units_transferred += units;
    transferred_bytes_ += bytes;
    std::vector<Work> batches;
    // The least counted before.
    for (const auto& [recipient, part] : recipients(donor, Kind::units, 1, now).deal(units)) {
        batches.push_back(number(part));
        shares_[recipient].transferred.push_back(batches.back());
        units -= part;
    }
    if (units > 0) { // no participant is idle any more
        batches.push_back(number(units));
        open_.put_back(batches.back());
    }
    return batches;
}

Schedule::Kept Schedule::keep(std::size_t participant, const Work& work, std::uint64_t units, double now) {
    take_back(participant, work);
    const Work rest = number(work.range.size() - units), kept = number(units);
    open_.put_back(rest);
    return {rest, grant(participant, kept, now)};
}

Work Schedule::number(std::uint64_t units) {
    const std::uint64_t first = transferred_;
    transferred_ += units;
    return {.range = {first, transferred_}, .is_transferred = true};
}

Schedule::Loss Schedule::lost(std::size_t participant, std::span<const Work> in_flight) {
    Share& share = shares_[participant];
    Loss loss;
    const auto again = [&](const Work& work) {
        open_.put_back(work);
        if (!work.is_transferred) loss.again.push_back(work.range);
    };
    for (const Work& work : in_flight) take_back(participant, work);
    if (!std::exchange(share.account.is_lost, true)) rates_.lost(participant);
    for (const Work& work : in_flight) again(work);
    for (const Work& work : std::exchange(share.transferred, {})) again(work);
    const bool has_worked = !(share.completed.is_none() && in_flight.empty());
    if (share.account.units_transferred > 0) {
        loss.outcome = Outcome::has_transferred_units;
        return loss;
    }
    if (!shape_.is_repeatable && has_worked) {
        loss.outcome = Outcome::has_updated;
        return loss;
    }
    // What others did in another memory has been fetched into the lost one.
    const bool all = memory_.has_moved() && has_worked;
    for (Share& one : shares_) {
        if (&one != &share && !all) continue;
        for (const Work& work : one.completed.take()) {
            again(work);
            completed_ -= work.work_units();
        }
        one.account.completed = one.account.units_received = 0;
    }
    if (has_worked) memory_.start_again();
    for (std::size_t i = 0; i < shares_.size(); ++i)
        if (can_work(i)) return loss;
    if (!go_to_next_memory()) loss.outcome = Outcome::has_no_participant;
    return loss;
}

/// False: there is none.
bool Schedule::go_to_next_memory() {
    std::map<std::size_t, double> capabilities; // by memory
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        const Share& share = shares_[i];
        if (!share.account.is_lost && !share.account.is_full)
            capabilities[share.participant.memory] += std::max(rates_.capability(i), 0.0);
    }
    if (!memory_.go_to_best(capabilities)) return false;
    for (Share& share : shares_)
        if (memory_.is(share.participant.memory)) share.account.is_spared = false;
    refusals_.wake();
    return true;
}

bool Schedule::leave_memory(std::size_t participant, const Work& work) {
    if (!memory_.is_one()) return false;
    const std::size_t left = shares_[participant].participant.memory;
    const bool has_another = std::ranges::any_of(shares_, [&](const Share& one) {
        return !one.account.is_lost && !one.account.is_full && one.participant.memory != left;
    });
    if (!has_another) return false;
    returned(participant, work, true);
    for (Share& one : shares_)
        if (one.participant.memory == left) one.account.is_full = true;
    // Tasks in flight end in the memory where they are.
    if (completed_ > 0 || !tasks_.are_none()) memory_.note_moved();
    return !memory_.is(left) || go_to_next_memory();
}

} // namespace headrace
