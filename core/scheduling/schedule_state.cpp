// core/scheduling/schedule_state.cpp - see schedule_state.hpp.
#include <headrace/internal/core/schedule_state.hpp>
#include <headrace/internal/core/state_text.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headrace {
namespace {

/// A launch, its inputs, the threads that wait for it and wake: an assumption, not a measurement. Seconds.
constexpr double cost_of_task = 50e-6, cost_of_gpu_task = 300e-6;

std::vector<Estimate> estimates(std::span<const ScheduleState::Participant> participants) {
    std::vector<Estimate> estimates;
    for (const auto& participant : participants) estimates.push_back(participant.estimate);
    return estimates;
}

Availability availability_of(std::span<const ScheduleState::Participant> participants,
                             std::optional<std::size_t> memory) {
    std::vector<Availability::Participant> all;
    for (const auto& participant : participants)
        all.push_back({.memory = participant.memory, .is_standby = participant.is_standby});
    return {all, memory};
}

/// Seconds that a transfer must save the donor: it costs the donor, and the recipient, a launch.
constexpr double seconds_that_pay = 0.25e-3;

/// A donor keeps some of what it has, even if its capability is unknown.
constexpr double least_capability = 1e-3;

/// Units that fill a lane group of the participant, for a kernel of which the donor's groups hold so many at
/// a time. One for group kernels, and on a processor, whose lanes take turns.
std::uint64_t fills_group(const ScheduleState::Participant& participant, std::uint64_t lanes) {
    return lanes == 1 || participant.is_processor ? 1 : std::max<std::uint64_t>(1, participant.lane_group);
}

} // namespace

ScheduleState::ScheduleState(Shape of_job, std::vector<Participant> all, std::shared_ptr<Policy> divides,
                             std::shared_ptr<const Division> cuts)
    : shape(of_job),
      participants(std::move(all)),
      policy(std::move(divides)),
      division(std::move(cuts)),
      rates(estimates(participants), shape.learns),
      open(shape.is_open ? IndexRange{} : IndexRange{shape.first_unit, shape.first_unit + shape.work_units}),
      tasks(participants.size()),
      transfers(participants.size() + 1), // and the schedule above
      accounts(participants.size()),
      refusals(participants.size()),
      availability(availability_of(participants, shape.memory)) {
    if (shape.is_open) shape.work_units = 0;
}

bool ScheduleState::is_quiet() const {
    return !open.has_units() && !open.has_transferred() && tasks.are_none() && transfers.are_none();
}

std::optional<double> ScheduleState::expected_seconds(std::size_t participant, const Work& work) const {
    if (work.is_transferred || !rates.measured(participant)) return std::nullopt;
    if (participants.size() > 1 && !rates.certain(participant)) return std::nullopt;
    return static_cast<double>(work.work_units()) / rates.capability(participant);
}

double ScheduleState::units_per_second() const {
    double sum = 0;
    for (std::size_t i = 0; i < participants.size(); ++i)
        if (availability.can_work(i)) sum += rates.units_per_second(i).value_or(0);
    return sum;
}

bool ScheduleState::standby_waits(double now) const {
    return now < standby_steps_in() && availability.has_standby();
}

std::string ScheduleState::text() const {
    StateText out;
    open.tell(out);
    tasks.tell(out);
    for (std::size_t i = 0; i < participants.size(); ++i) {
        out << "; participant " << i << ": capability " << rates.capability(i) << " certain "
            << rates.certain(i) << " completed";
        accounts.tell(out, i);
        out << " waiting";
        transfers.tell(out, i);
        tasks.tell_load(out, i);
        if (participants[i].is_group) out << " tells " << participants[i].group_speed;
        out << " flags ";
        refusals.tell(out, i);
        availability.tell(out, i);
    }
    if (shape.has_above) {
        out << "; above waiting";
        transfers.tell(out, above());
    }
    out << "; memory ";
    availability.tell(out);
    out << " returns " << has_returns << " wakes ";
    refusals.tell(out);
    out << " completed ";
    accounts.tell(out);
    out << " transferred ";
    transfers.tell(out);
    out << " charged " << tasks.charged();
    return out.text();
}

std::vector<DeviceProgress> ScheduleState::participants_progress(double now) const {
    std::vector<DeviceProgress> progress;
    const bool is_early = standby_waits(now);
    for (std::size_t i = 0; i < participants.size(); ++i) {
        const Participant& participant = participants[i];
        // What is not known to be begun, less what the participant should have done since.
        const double per_second = rates.measured(i) ? rates.capability(i) : 0;
        progress.push_back({.capability = availability.can_work(i) ? rates.capability(i) : 0,
                            .measured = rates.measured(i),
                            .certain = rates.certain(i),
                            .on_standby = is_early && participant.is_standby,
                            .gives_back = participant.gives_back,
                            .in_flight = tasks.expected_in_flight(i, per_second, now),
                            .away = expected_away(i, now),
                            .finished = accounts.of(i).completed + tasks.begun_by(i),
                            .least = participant.least,
                            .full = participant.full,
                            .devices = std::max(participant.devices, 1U)});
    }
    return progress;
}

/// What has not asked for long may not ask for as long again.
double ScheduleState::expected_away(std::size_t participant, double now) const {
    if (!rates.are_per_second() || refusals.is_excluded(participant)) return 0;
    const double silent_for = refusals.silent_for(participant, now);
    return std::max(0., std::min(silent_for, now - tasks.last_had_any(participant, now)));
}

Progress ScheduleState::progress(std::span<const DeviceProgress> devices) const {
    const bool only_processors = std::ranges::all_of(participants, &Participant::is_processor);
    return {.total = shape.work_units,
            .remaining = open.units(),
            .devices = devices,
            .moves_data = shape.moves_data,
            .task_seconds = !rates.are_per_second() ? 0
                            : only_processors       ? cost_of_task
                                                    : cost_of_gpu_task};
}

bool ScheduleState::wants(std::size_t participant, double now) const {
    return open.has_units() && availability.can_work(participant) &&
           !(participants[participant].is_standby && standby_waits(now));
}

bool ScheduleState::others_may_take_over(std::size_t participant, double now) const {
    const bool above_may = shape.has_above && shape.is_open && shape.shares_units;
    if (participants.size() < 2 && !above_may) return false;
    const std::vector<DeviceProgress> devices = participants_progress(now);
    const Progress progress = this->progress(devices);
    if (above_may && policy->takes_over(participant, progress)) return true;
    for (std::size_t i = 0; i < participants.size(); ++i)
        if (i != participant && availability.can_work(i) && policy->takes_over(i, progress)) return true;
    return false;
}

bool ScheduleState::takes_units() const {
    return std::ranges::any_of(participants, &Participant::takes_units);
}

unsigned ScheduleState::wanting_units(double now) const {
    if (!shape.shares_units || open.has_transferred()) return 0;
    const auto waits = [&](std::size_t i) { return may_receive(i, Kind::units); };
    std::size_t first = 0; // most often there is none
    while (first < participants.size() && !waits(first)) ++first;
    if (first == participants.size()) return 0;
    const std::vector<DeviceProgress> devices = participants_progress(now);
    const Progress progress = this->progress(devices);
    unsigned wanting = 0;
    for (std::size_t i = first; i < participants.size() && wanting < 2; ++i)
        if (waits(i) && policy->takes_over(i, progress)) ++wanting;
    return wanting;
}

bool ScheduleState::has_no_donor() const {
    for (std::size_t i = 0; i < participants.size(); ++i)
        if (!participants[i].is_group && availability.can_work(i) && !transfers.is_idle(i)) return false;
    return true;
}

bool ScheduleState::would_take(std::size_t donor, std::uint64_t seeds, std::uint64_t lanes, double seconds,
                               double now) const {
    const double share = recipients(donor, Kind::seeds, lanes, now).that_pay(seeds).share();
    if (share == 0 || !rates.are_per_second()) return share > 0;
    const double known = static_cast<double>(seeds) / rates.capability(donor);
    return share * std::max(seconds, known) >= seconds_that_pay;
}

ScheduleState::Demand ScheduleState::demand(std::size_t donor, std::uint64_t lanes, std::uint64_t left,
                                            double now) const {
    const Recipients recipients = this->recipients(donor, Kind::units, lanes, now).that_pay(left);
    if (recipients.are_none()) return {};
    // Rounded such that this share of what is left is the least at least.
    const double least = static_cast<double>(recipients.least()) / static_cast<double>(left);
    return {.share = std::nextafter(std::max(recipients.share(), least), 2),
            .least = recipients.least(),
            .most_bytes = transfers.bytes_left()};
}

bool ScheduleState::may_receive(std::size_t participant, Kind kind) const {
    if (!transfers.may_receive(participant) || !availability.can_work(participant)) return false;
    if (kind == Kind::seeds) return !open.has_units();
    return participants[participant].takes_units && (!open.has_units() || refusals.is_put_off(participant));
}

Recipients ScheduleState::recipients(std::optional<std::size_t> donor, Kind kind, std::uint64_t lanes,
                                     double now) const {
    std::vector<Recipients::One> all;
    double of_donor = 0;
    const bool may_share = shape.shares_units && transfers.bytes_left() > 0;
    // A task that updates what the donor updates would wait until the donor has ended.
    if (open.has_transferred() || !(kind == Kind::units ? may_share : shape.is_repeatable))
        return {all, of_donor};
    const std::vector<DeviceProgress> devices = participants_progress(now);
    const Progress progress = this->progress(devices);
    for (std::size_t i = 0; i < participants.size(); ++i) {
        const double capability = rates.relative_capability(i);
        if (i == donor)
            of_donor = std::max(capability, least_capability);
        else if (may_receive(i, kind) && rates.capability(i) > 0 && policy->takes_over(i, progress))
            all.push_back({i, capability, fills_group(participants[i], lanes)});
    }
    if (kind == Kind::units && transfers.may_receive(above()) &&
        (!donor || policy->takes_over(*donor, progress))) {
        // How fast it is, is not known: it is taken to be as fast as the fastest here.
        double fastest = of_donor;
        for (const Recipients::One& one : all) fastest = std::max(fastest, one.share);
        all.push_back({above(), fastest > 0 ? fastest : 1, 1});
    }
    return {std::move(all), of_donor};
}

} // namespace headrace
