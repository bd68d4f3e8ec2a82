// core/scheduling/schedule.cpp - grants, and what becomes of granted tasks: see schedule.hpp.
#include <headrace/internal/core/schedule.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

namespace headrace {
namespace {

/// A launch, its inputs, the threads that wait for it and wake: an assumption, not a measurement. Seconds.
constexpr double cost_of_task = 50e-6, cost_of_gpu_task = 300e-6;

std::vector<Estimate> estimates(std::span<const Schedule::Participant> participants) {
    std::vector<Estimate> estimates;
    for (const auto& participant : participants) estimates.push_back(participant.estimate);
    return estimates;
}

std::vector<bool> groups(std::span<const Schedule::Participant> participants) {
    std::vector<bool> groups;
    for (const auto& participant : participants) groups.push_back(participant.is_group);
    return groups;
}

Availability availability_of(std::span<const Schedule::Participant> participants,
                             std::optional<std::size_t> memory) {
    std::vector<Availability::Participant> all;
    for (const auto& participant : participants)
        all.push_back({.memory = participant.memory, .is_standby = participant.is_standby});
    return {all, memory};
}

} // namespace

Schedule::Schedule(Shape shape, std::vector<Participant> participants, std::unique_ptr<Policy> policy,
                   std::shared_ptr<const Division> division)
    : shape_(shape),
      only_processors_(std::ranges::all_of(participants, &Participant::is_processor)),
      policy_(std::move(policy)),
      division_(std::move(division)),
      rates_(estimates(participants), shape.learns, groups(participants)),
      participants_(std::move(participants)),
      open_(shape.is_open ? IndexRange{} : IndexRange{shape.first_unit, shape.first_unit + shape.work_units}),
      tasks_(participants_.size()),
      transfers_(participants_.size() + 1), // and the schedule above
      accounts_(participants_.size()),
      refusals_(participants_.size()),
      availability_(availability_of(participants_, shape.memory)) {
    if (shape.is_open) shape_.work_units = 0;
}

std::optional<Work> Schedule::next(std::size_t participant, double now, std::uint64_t most_tasks) {
    if (!availability_.can_work(participant) || !open_.has_units()) return std::nullopt;
    std::vector<DeviceProgress> all = participants_progress(now);
    Progress progress = this->progress(all);
    std::uint64_t wanted = policy_->next(participant, progress);
    if (wanted == 0) {
        refusals_.refuse(participant, !policy_->takes_over(participant, progress));
        if (!tasks_.are_none()) return std::nullopt; // the participant whose task ends asks again
        if (!refusals_.is_last_resort(participant, availability_.workers())) return std::nullopt;
        wanted = 1; // a policy that refuses all participants would hang the job
    }
    const IndexRange left = open_.next();
    Work work{.range = {left.begin, left.begin}, .tasks = 0};
    // The policy is asked here for all tasks of the batch: a call of `next` costs as much as a small task.
    do {
        const std::uint64_t size =
            division_->split({work.range.end, left.end}, std::max(wanted, all[participant].least));
        work.range.end += size;
        ++work.tasks;
        progress.remaining -= size;
        all[participant].in_flight += size;
        if (work.tasks == most_tasks || work.range.end == left.end) break;
        wanted = policy_->next(participant, progress);
    } while (wanted > 0);
    open_.cut(work.range.end);
    return grant(participant, work, now);
}

void Schedule::extend(IndexRange units) {
    open_.put_back({.range = units});
    shape_.work_units += units.size();
    refusals_.wake();
}

Work Schedule::grant(std::size_t participant, Work work, double now) {
    transfers_.note_idle(participant, false);
    refusals_.note_grant();
    const auto rate = rates_.units_per_second(participant);
    tasks_.add(participant, work, rate ? static_cast<double>(work.work_units()) / *rate : 0, now);
    return work;
}

GrantedTasks::Task Schedule::take_back(std::size_t participant, const Work& work) {
    refusals_.note_end();
    return tasks_.remove(participant, work);
}

void Schedule::returned(std::size_t participant, const Work& work, bool again) {
    take_back(participant, work);
    if (again) open_.put_back(work);
}

void Schedule::ran(std::size_t participant, const Work& work, Duration busy) {
    tasks_.ran(participant, work, busy);
}

void Schedule::begun(std::size_t participant, const Work& work, std::uint64_t units) {
    tasks_.begun(participant, work, units);
}

void Schedule::progressed(std::size_t participant, const Work& work, std::uint64_t units, Duration busy,
                          double now) {
    learn(participant, tasks_.progressed(participant, work, units), busy, now);
}

void Schedule::completed(std::size_t participant, std::span<const Work> works, Duration busy, double now,
                         const std::optional<Progressed>& next) {
    std::uint64_t units = 0, known = 0;
    for (const Work& work : works) {
        known += take_back(participant, work).learned;
        units += work.work_units();
        accounts_.complete(participant, work);
    }
    tasks_.charge(busy);
    if (next) units += tasks_.progressed(participant, next->work, next->units);
    // Transferred units say nothing of how long the job's work units take.
    learn(participant, units - known, busy, now);
    tasks_.note_end(participant);
}

void Schedule::learn(std::size_t participant, std::uint64_t units, Duration busy, double now) {
    const Duration time = tasks_.measure(participant, busy, now);
    if (units > 0) {
        rates_.completed(participant, units, time);
        policy_->completed(participant, units, time);
    }
    include_again(now);
}

/// Participants that the policy excluded may be worth asking by now.
void Schedule::include_again(double now) {
    if (!open_.has_units() || !refusals_.any_excluded()) return;
    const std::vector<DeviceProgress> all = participants_progress(now);
    const Progress progress = this->progress(all);
    for (std::size_t i = 0; i < participants_.size(); ++i)
        if (refusals_.is_excluded(i) && availability_.can_work(i) && policy_->takes_over(i, progress))
            refusals_.include(i);
}

bool Schedule::is_quiet() const {
    return !open_.has_units() && !open_.has_transferred() && tasks_.are_none() && transfers_.are_none();
}

bool Schedule::wants(std::size_t participant, double now) const {
    return open_.has_units() && availability_.can_work(participant) &&
           !(participants_[participant].is_standby && standby_waits(now));
}

bool Schedule::standby_waits(double now) const {
    return now < standby_steps_in() && availability_.has_standby();
}

std::optional<double> Schedule::expected_seconds(std::size_t participant, const Work& work) const {
    if (work.is_transferred || !rates_.measured(participant)) return std::nullopt;
    if (participants_.size() > 1 && !rates_.certain(participant)) return std::nullopt;
    return static_cast<double>(work.work_units()) / rates_.capability(participant);
}

std::vector<DeviceProgress> Schedule::participants_progress(double now) const {
    std::vector<DeviceProgress> progress;
    const bool standby_waits = this->standby_waits(now);
    for (std::size_t i = 0; i < participants_.size(); ++i) {
        const Participant& participant = participants_[i];
        // What is not known to be begun, less what the participant should have done since.
        const double per_second = rates_.measured(i) ? rates_.capability(i) : 0;
        progress.push_back({.capability = availability_.can_work(i) ? rates_.capability(i) : 0,
                            .measured = rates_.measured(i),
                            .certain = rates_.certain(i),
                            .on_standby = standby_waits && participant.is_standby,
                            .gives_back = participant.gives_back,
                            .in_flight = tasks_.expected_in_flight(i, per_second, now),
                            .finished = accounts_.of(i).completed + tasks_.begun_by(i),
                            .least = participant.least,
                            .full = participant.full});
    }
    return progress;
}

Progress Schedule::progress(std::span<const DeviceProgress> participants) const {
    return {.total = shape_.work_units,
            .remaining = open_.units(),
            .devices = participants,
            .moves_data = shape_.moves_data,
            .task_seconds = !rates_.are_per_second() ? 0
                            : only_processors_       ? cost_of_task
                                                     : cost_of_gpu_task};
}

void Schedule::forget() {
    accounts_.forget();
    transfers_.forget();
    open_.forget_transferred();
}

std::string Schedule::text() const {
    std::ostringstream out;
    open_.tell(out);
    tasks_.tell(out);
    for (std::size_t i = 0; i < participants_.size(); ++i) {
        out << "; participant " << i << ": capability " << rates_.capability(i) << " certain "
            << rates_.certain(i) << " completed";
        accounts_.tell(out, i);
        out << " waiting";
        transfers_.tell(out, i);
        tasks_.tell_load(out, i);
        out << " flags ";
        refusals_.tell(out, i);
        availability_.tell(out, i);
    }
    if (shape_.has_above) {
        out << "; above waiting";
        transfers_.tell(out, above());
    }
    out << "; memory ";
    availability_.tell(out);
    out << " returns " << has_returns_ << " wakes ";
    refusals_.tell(out);
    out << " completed ";
    accounts_.tell(out);
    out << " transferred ";
    transfers_.tell(out);
    out << " charged " << tasks_.charged();
    return out.str();
}

} // namespace headrace
