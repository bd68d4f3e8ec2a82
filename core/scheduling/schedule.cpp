// core/scheduling/schedule.cpp - grants, and what becomes of granted tasks: see schedule.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/core/sorted_indices.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

namespace headrace {
namespace {

/// A launch, its inputs, the threads that wait for it and wake: an assumption, not a measurement. Seconds.
constexpr double cost_of_task = 50e-6, cost_of_gpu_task = 300e-6;
/// Seconds that a task is charged before it has taken any: longer ones pause, and are charged what they took.
constexpr double longest_expected = 0.1;

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

std::vector<Estimate> estimates(std::span<const Schedule::Participant> participants) {
    std::vector<Estimate> estimates;
    for (const auto& participant : participants) estimates.push_back(participant.estimate);
    return estimates;
}

/// To ranges that ascend and do not adjoin.
void add(std::vector<IndexRange>& ranges, IndexRange range) {
    auto next = std::ranges::lower_bound(ranges, range.begin, {}, &IndexRange::begin);
    if (next != ranges.begin() && std::prev(next)->end == range.begin) {
        --next;
        next->end = range.end;
    } else {
        next = ranges.insert(next, range);
    }
    if (const auto after = std::next(next); after != ranges.end() && after->begin == next->end) {
        next->end = after->end;
        ranges.erase(after);
    }
}

} // namespace

Schedule::Schedule(Shape shape, std::vector<Participant> participants, std::unique_ptr<Policy> policy,
                   std::shared_ptr<const Division> division)
    : shape_(shape),
      only_processors_(std::ranges::all_of(participants, &Participant::is_processor)),
      policy_(std::move(policy)),
      division_(std::move(division)),
      rates_(estimates(participants), shape.learns),
      memory_(shape.memory) {
    if (shape_.work_units > 0) left_.push_back({0, shape_.work_units});
    shares_.reserve(participants.size());
    for (const Participant& participant : participants) {
        Share& share = shares_.emplace_back(Share{.participant = participant});
        share.account.is_spared = memory_ && participant.memory != *memory_;
    }
}

std::optional<Work> Schedule::next(std::size_t participant, double now, std::uint64_t most_tasks) {
    if (!can_work(participant) || left_.empty()) return std::nullopt;
    Share& share = shares_[participant];
    std::vector<DeviceProgress> all = participants_progress(now);
    Progress progress = this->progress(all);
    std::uint64_t wanted = policy_->next(participant, progress);
    if (wanted == 0) {
        share.is_refused = true;
        share.is_excluded = !policy_->takes_over(participant, progress);
        if (!tasks_.empty()) return std::nullopt; // the participant whose task ends asks again
        bool all_refused = true, all_excluded = true;
        for (std::size_t i = 0; i < shares_.size(); ++i) {
            if (!can_work(i)) continue;
            all_refused = all_refused && shares_[i].is_refused;
            all_excluded = all_excluded && shares_[i].is_excluded;
        }
        // Participants that are not excluded come first.
        if (!all_refused || (share.is_excluded && !all_excluded)) {
            // Each once: a participant at work elsewhere asks when that ends, and the caller wakes itself
            // too.
            if (!std::exchange(all_refused ? share.has_deferred : share.has_woken, true)) wakes_ = true;
            return std::nullopt;
        }
        wanted = 1; // a policy that refuses all participants would hang the job
    }
    IndexRange& left = left_.back();
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
    left.begin = work.range.end;
    if (left.empty()) left_.pop_back();
    return grant(participant, work, now);
}

Work Schedule::grant(std::size_t participant, Work work, double now) {
    Share& share = shares_[participant];
    share.is_idle = false;
    for (Share& one : shares_) one.is_refused = one.has_woken = one.has_deferred = false;
    const auto rate = rates_.units_per_second(participant);
    const double expected = rate ? static_cast<double>(work.work_units()) / *rate : 0;
    const double charge = std::min(expected, longest_expected);
    charged_ += charge;
    if (share.outstanding + share.begun == 0) share.reckoned_from = now;
    share.outstanding += work.work_units();
    tasks_.insert_or_assign(key(participant, work), Task{.work = work, .charge = charge});
    return work;
}

Schedule::Task& Schedule::task(std::size_t participant, const Work& work) {
    const auto found = tasks_.find(key(participant, work));
    HEADRACE_ASSERT(found != tasks_.end());
    return found->second;
}

Schedule::Task Schedule::take_back(std::size_t participant, const Work& work) {
    const auto node = tasks_.extract(key(participant, work));
    HEADRACE_ASSERT(node);
    const Task& task = node.mapped();
    Share& share = shares_[participant];
    share.begun -= task.begun;
    share.outstanding -= task.work.work_units() - task.begun;
    charged_ -= task.charge;
    for (Share& one : shares_) one.has_woken = one.has_deferred = false;
    return task;
}

void Schedule::put_back(const Work& work) {
    if (work.is_transferred)
        loose_.push_back(work);
    else
        left_.push_back(work.range);
}

void Schedule::returned(std::size_t participant, const Work& work, bool again) {
    take_back(participant, work);
    if (again) put_back(work);
}

void Schedule::ran(std::size_t participant, const Work& work, Duration busy) {
    Task& task = this->task(participant, work);
    const double charge = std::max(task.charge, seconds(busy));
    charged_ += charge - std::exchange(task.charge, charge);
}

void Schedule::begun(std::size_t participant, const Work& work, std::uint64_t units) {
    const auto found = tasks_.find(key(participant, work));
    if (found != tasks_.end()) note_begun(shares_[participant], found->second, units);
}

void Schedule::progressed(std::size_t participant, const Work& work, std::uint64_t units, Duration busy,
                          double now) {
    Task& task = this->task(participant, work);
    const std::uint64_t more = note_begun(shares_[participant], task, units);
    task.learned += more;
    learn(participant, more, busy, now);
}

/// Returns how many were not known to be.
std::uint64_t Schedule::note_begun(Share& share, Task& task, std::uint64_t units) {
    if (units <= task.begun) return 0;
    const std::uint64_t more = units - task.begun;
    task.begun = units;
    share.outstanding -= more;
    share.begun += more;
    return more;
}

void Schedule::completed(std::size_t participant, std::span<const Work> works, Duration busy, double now) {
    Share& share = shares_[participant];
    std::uint64_t units = 0, known = 0;
    for (const Work& work : works) {
        known += take_back(participant, work).learned;
        units += work.work_units();
        if (work.is_transferred) {
            share.account.units_received += work.range.size();
            share.completed_units.push_back(work);
        } else {
            add(share.completed, work.range);
        }
    }
    completed_ += units;
    share.account.completed += units;
    charged_ += seconds(busy);
    // Transferred units say nothing of how long the job's work units take.
    learn(participant, units - known, busy, now);
    share.is_steady = share.outstanding + share.begun > 0;
}

/// The time is that from one event of the participant to the next, with what it costs to move data; or its
/// own, if before it there were preparations.
void Schedule::learn(std::size_t participant, std::uint64_t units, Duration busy, double now) {
    Share& share = shares_[participant];
    const auto since = std::chrono::duration<double>(now - share.reckoned_from);
    const auto time = share.is_steady ? std::chrono::duration_cast<Duration>(since) : busy;
    share.reckoned_from = now;
    share.is_steady = true;
    if (units > 0) {
        rates_.completed(participant, units, time);
        policy_->completed(participant, units, time);
    }
    include_again(now);
}

/// Participants that the policy excluded may be worth asking by now.
void Schedule::include_again(double now) {
    if (left_.empty() || std::ranges::none_of(shares_, &Share::is_excluded)) return;
    const std::vector<DeviceProgress> all = participants_progress(now);
    const Progress progress = this->progress(all);
    for (std::size_t i = 0; i < shares_.size(); ++i)
        if (shares_[i].is_excluded && can_work(i) && policy_->takes_over(i, progress)) {
            shares_[i].is_excluded = false;
            wakes_ = true;
        }
}

bool Schedule::is_done() const {
    return left_.empty() && loose_.empty() && tasks_.empty() &&
           std::ranges::all_of(shares_, [](const Share& one) { return one.transferred.empty(); });
}

bool Schedule::stands_by(std::size_t participant) const {
    return memory_ && shares_[participant].participant.memory != *memory_;
}

bool Schedule::can_work(std::size_t participant) const {
    const Account& account = shares_[participant].account;
    return !account.is_lost && !account.is_full && !stands_by(participant);
}

bool Schedule::wants(std::size_t participant, double now) const {
    return !left_.empty() && can_work(participant) &&
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

double Schedule::relative_capability(std::size_t participant) const {
    double best = 0;
    for (std::size_t i = 0; i < shares_.size(); ++i) best = std::max(best, rates_.capability(i));
    return best > 0 ? rates_.capability(participant) / best : 0;
}

std::uint64_t Schedule::left_units() const {
    std::uint64_t units = 0;
    for (const IndexRange range : left_) units += range.size();
    return units;
}

/// What is not known to be begun, less what the participant should have done since.
std::uint64_t Schedule::expected_in_flight(std::size_t participant, double now) const {
    const Share& share = shares_[participant];
    if (share.outstanding == 0 || !rates_.measured(participant)) return share.outstanding;
    const double done = rates_.capability(participant) * (now - share.reckoned_from);
    const auto outstanding = static_cast<double>(share.outstanding);
    return static_cast<std::uint64_t>(outstanding - std::min(done, outstanding));
}

std::vector<DeviceProgress> Schedule::participants_progress(double now) const {
    std::vector<DeviceProgress> progress;
    const bool standby_waits = this->standby_waits(now);
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        const Share& share = shares_[i];
        progress.push_back({.capability = can_work(i) ? rates_.capability(i) : 0,
                            .measured = rates_.measured(i),
                            .certain = rates_.certain(i),
                            .on_standby = standby_waits && share.participant.is_standby,
                            .gives_back = share.participant.gives_back,
                            .in_flight = expected_in_flight(i, now),
                            .finished = share.account.completed + share.begun,
                            .least = share.participant.least,
                            .full = share.participant.full});
    }
    return progress;
}

Progress Schedule::progress(std::span<const DeviceProgress> participants) const {
    return {.total = shape_.work_units,
            .remaining = left_units(),
            .devices = participants,
            .moves_data = shape_.moves_data,
            .task_seconds = !rates_.are_per_second() ? 0
                            : only_processors_       ? cost_of_task
                                                     : cost_of_gpu_task};
}

void Schedule::forget() {
    for (Share& share : shares_) {
        share.completed.clear();
        share.completed_units.clear();
        share.transferred.clear();
    }
    loose_.clear();
}

std::string Schedule::text() const {
    std::ostringstream out;
    const auto tell = [&](const Work& work) {
        out << (work.is_transferred ? " units " : " ") << work.range.begin << "-" << work.range.end << "/"
            << work.tasks;
    };
    out << "left:";
    for (const IndexRange range : left_) out << " " << range.begin << "-" << range.end;
    out << "; loose:";
    for (const Work& work : loose_) tell(work);
    for (const auto& [key, task] : tasks_) {
        out << "; task of " << std::get<0>(key) << ":";
        tell(task.work);
        out << " begun " << task.begun << " learned " << task.learned << " charge " << task.charge;
    }
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        const Share& share = shares_[i];
        out << "; participant " << i << ": capability " << rates_.capability(i) << " certain "
            << rates_.certain(i) << " completed";
        for (const IndexRange range : share.completed) tell({.range = range});
        for (const Work& work : share.completed_units) tell(work);
        out << " waiting";
        for (const Work& work : share.transferred) tell(work);
        out << " in flight " << share.outstanding << "+" << share.begun << " from " << share.reckoned_from
            << " flags " << share.is_steady << share.is_idle << share.is_refused << share.has_woken
            << share.has_deferred << share.is_excluded << share.account.is_lost << share.account.is_full
            << share.account.is_spared << " account " << share.account.completed << " "
            << share.account.seeds_transferred << " " << share.account.units_transferred << " "
            << share.account.units_received;
    }
    out << "; memory " << (memory_ ? static_cast<long>(*memory_) : -1) << has_moved_ << has_returns_ << wakes_
        << " completed " << completed_ << " transferred " << transferred_ << "/" << transferred_bytes_
        << " charged " << charged_;
    return out.str();
}

std::vector<std::size_t> order_of_turns(std::span<const Turn> turns) {
    return sorted_indices(turns.size(),
                          [&](std::size_t i) { return std::pair(-turns[i].priority, turns[i].charged); });
}

} // namespace headrace
