// core/scheduling/granted_tasks.cpp - see granted_tasks.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/core/granted_tasks.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headrace {
namespace {

/// Seconds that a task is charged before it has taken any: longer ones pause, and are charged what they took.
constexpr double longest_expected = 0.1;

/// Work units: so many are as good as any number.
constexpr double most_expected = 1e18;

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

} // namespace

void GrantedTasks::add(std::size_t participant, const Work& work, double expected, double now) {
    Load& load = loads_[participant];
    const double charge = std::min(expected, longest_expected);
    charged_ += charge;
    if (!load.is_any()) load.reckoned_from = now;
    if (load.outstanding == 0) load.known_from = now;
    load.outstanding += work.work_units();
    tasks_.insert_or_assign(key(participant, work), Task{.work = work, .charge = charge});
}

GrantedTasks::Task& GrantedTasks::at(std::size_t participant, const Work& work) {
    const auto found = tasks_.find(key(participant, work));
    HEADRACE_ASSERT(found != tasks_.end());
    return found->second;
}

GrantedTasks::Task GrantedTasks::remove(std::size_t participant, const Work& work) {
    const auto node = tasks_.extract(key(participant, work));
    HEADRACE_ASSERT(node);
    const Task& task = node.mapped();
    Load& load = loads_[participant];
    load.begun -= task.begun;
    load.outstanding -= task.work.work_units() - task.begun;
    charged_ -= task.charge;
    return task;
}

void GrantedTasks::shorten(std::size_t participant, const Work& work, std::uint64_t end) {
    Task& task = at(participant, work);
    loads_[participant].outstanding -= work.range.end - end;
    task.work.range.end = end;
}

void GrantedTasks::ran(std::size_t participant, const Work& work, Duration busy) {
    Task& task = at(participant, work);
    const double charge = std::max(task.charge, seconds(busy));
    charged_ += charge - std::exchange(task.charge, charge);
}

std::uint64_t GrantedTasks::begun(std::size_t participant, const Work& work, std::uint64_t units,
                                  double now) {
    const auto found = tasks_.find(key(participant, work));
    if (found == tasks_.end()) return 0;
    const std::uint64_t more = note_begun(loads_[participant], found->second, units);
    if (more > 0) note_progress(participant, now);
    return more;
}

std::uint64_t GrantedTasks::progressed(std::size_t participant, const Work& work, std::uint64_t units) {
    Task& task = at(participant, work);
    const std::uint64_t more = note_begun(loads_[participant], task, units);
    task.learned += more;
    return more;
}

std::uint64_t GrantedTasks::note_begun(Load& load, Task& task, std::uint64_t units) {
    if (units <= task.begun) return 0;
    const std::uint64_t more = units - task.begun;
    task.begun = units;
    load.outstanding -= more;
    load.begun += more;
    return more;
}

std::uint64_t GrantedTasks::expected_in_flight(std::size_t participant, double per_second, double now) const {
    const Load& load = loads_[participant];
    if (load.outstanding == 0 || per_second == 0) return load.outstanding;
    const double left = static_cast<double>(load.outstanding) - per_second * (now - load.known_from);
    return static_cast<std::uint64_t>(std::min(std::ceil(std::abs(left)), most_expected));
}

GrantedTasks::Duration GrantedTasks::measure(std::size_t participant, Duration busy, double now) {
    Load& load = loads_[participant];
    const auto since = std::chrono::duration<double>(now - load.reckoned_from);
    const auto time = load.is_steady ? std::chrono::duration_cast<Duration>(since) : busy;
    load.reckoned_from = now;
    load.is_steady = true;
    return time;
}

void GrantedTasks::charge(Duration busy) { charged_ += seconds(busy); }

void GrantedTasks::tell(StateText& out) const {
    for (const auto& [key, task] : tasks_)
        out << "; task of " << std::get<0>(key) << ":" << task.work << " begun " << task.begun << " learned "
            << task.learned << " charge " << task.charge;
}

void GrantedTasks::tell_load(StateText& out, std::size_t participant) const {
    const Load& load = loads_[participant];
    out << " in flight " << load.outstanding << "+" << load.begun << " from " << load.known_from << " "
        << load.reckoned_from << " " << load.is_steady;
}

} // namespace headrace
