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

} // namespace

Schedule::Schedule(Shape shape, std::vector<Participant> participants, std::unique_ptr<Policy> policy,
                   std::shared_ptr<const Division> division)
    : shape_(shape),
      only_processors_(std::ranges::all_of(participants, &Participant::is_processor)),
      policy_(std::move(policy)),
      division_(std::move(division)),
      rates_(estimates(participants), shape.learns),
      open_(shape.work_units),
      tasks_(participants.size()),
      refusals_(participants.size()),
      memory_(shape.memory) {
    shares_.reserve(participants.size());
    for (const Participant& participant : participants) {
        Share& share = shares_.emplace_back(Share{.participant = participant});
        share.account.is_spared = !memory_.is(participant.memory);
    }
}

std::optional<Work> Schedule::next(std::size_t participant, double now, std::uint64_t most_tasks) {
    if (!can_work(participant) || !open_.has_units()) return std::nullopt;
    std::vector<DeviceProgress> all = participants_progress(now);
    Progress progress = this->progress(all);
    std::uint64_t wanted = policy_->next(participant, progress);
    if (wanted == 0) {
        refusals_.refuse(participant, !policy_->takes_over(participant, progress));
        if (!tasks_.are_none()) return std::nullopt; // the participant whose task ends asks again
        std::vector<bool> workers;
        for (std::size_t i = 0; i < shares_.size(); ++i) workers.push_back(can_work(i));
        if (!refusals_.is_last_resort(participant, workers)) return std::nullopt;
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

Work Schedule::grant(std::size_t participant, Work work, double now) {
    shares_[participant].is_idle = false;
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

void Schedule::completed(std::size_t participant, std::span<const Work> works, Duration busy, double now) {
    Share& share = shares_[participant];
    std::uint64_t units = 0, known = 0;
    for (const Work& work : works) {
        known += take_back(participant, work).learned;
        units += work.work_units();
        if (work.is_transferred) share.account.units_received += work.range.size();
        share.completed.add(work);
    }
    completed_ += units;
    share.account.completed += units;
    tasks_.charge(busy);
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
    for (std::size_t i = 0; i < shares_.size(); ++i)
        if (refusals_.is_excluded(i) && can_work(i) && policy_->takes_over(i, progress)) refusals_.include(i);
}

bool Schedule::is_done() const {
    return !open_.has_units() && !open_.has_transferred() && tasks_.are_none() &&
           std::ranges::all_of(shares_, [](const Share& one) { return one.transferred.empty(); });
}

bool Schedule::stands_by(std::size_t participant) const {
    return !memory_.is(shares_[participant].participant.memory);
}

bool Schedule::can_work(std::size_t participant) const {
    const Account& account = shares_[participant].account;
    return !account.is_lost && !account.is_full && !stands_by(participant);
}

bool Schedule::wants(std::size_t participant, double now) const {
    return open_.has_units() && can_work(participant) &&
           !(shares_[participant].participant.is_standby && standby_waits(now));
}

bool Schedule::standby_waits(double now) const {
    return now < standby_steps_in() &&
           std::ranges::any_of(shares_, [](const Share& one) { return one.participant.is_standby; }) &&
           std::ranges::none_of(
               shares_, [](const Share& one) { return one.account.is_lost && !one.participant.is_standby; });
}

std::optional<double> Schedule::expected_seconds(std::size_t participant, const Work& work) const {
    if (work.is_transferred || !rates_.measured(participant)) return std::nullopt;
    if (shares_.size() > 1 && !rates_.certain(participant)) return std::nullopt;
    return static_cast<double>(work.work_units()) / rates_.capability(participant);
}

std::vector<DeviceProgress> Schedule::participants_progress(double now) const {
    std::vector<DeviceProgress> progress;
    const bool standby_waits = this->standby_waits(now);
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        const Share& share = shares_[i];
        // What is not known to be begun, less what the participant should have done since.
        const double per_second = rates_.measured(i) ? rates_.capability(i) : 0;
        progress.push_back({.capability = can_work(i) ? rates_.capability(i) : 0,
                            .measured = rates_.measured(i),
                            .certain = rates_.certain(i),
                            .on_standby = standby_waits && share.participant.is_standby,
                            .gives_back = share.participant.gives_back,
                            .in_flight = tasks_.expected_in_flight(i, per_second, now),
                            .finished = share.account.completed + tasks_.begun_by(i),
                            .least = share.participant.least,
                            .full = share.participant.full});
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
    for (Share& share : shares_) {
        share.completed.forget();
        share.transferred.clear();
    }
    open_.forget_transferred();
}

std::string Schedule::text() const {
    std::ostringstream out;
    open_.tell(out);
    tasks_.tell(out);
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        const auto& [participant, account, completed, transferred, is_idle] = shares_[i];
        out << "; participant " << i << ": capability " << rates_.capability(i) << " certain "
            << rates_.certain(i) << " completed";
        completed.tell(out);
        out << " waiting";
        for (const Work& work : transferred) out << work;
        tasks_.tell_load(out, i);
        out << " flags ";
        refusals_.tell(out, i);
        out << is_idle << account.is_lost << account.is_full << account.is_spared << " account "
            << account.completed << " " << account.seeds_transferred << " " << account.units_transferred
            << " " << account.units_received;
    }
    out << "; memory ";
    memory_.tell(out);
    out << " returns " << has_returns_ << " wakes ";
    refusals_.tell(out);
    out << " completed " << completed_ << " transferred " << transferred_ << "/" << transferred_bytes_
        << " charged " << tasks_.charged();
    return out.str();
}

} // namespace headrace
