// domains/execution/held_tasks.cpp - see held_tasks.hpp.
#include <headrace/internal/domains/held_tasks.hpp>

#include <algorithm>

namespace headrace {

std::uint64_t HeldTasks::ahead() const {
    std::uint64_t tasks = 0;
    for (std::size_t i = begun_; i < tasks_.size(); ++i) tasks += tasks_[i].work_range.tasks;
    return tasks;
}

bool HeldTasks::promise(const Event& event) const {
    return std::any_of(tasks_.rbegin(), tasks_.rend(),
                       [&](const HeldTask& one) { return one.done.event().state() == event.state(); });
}

std::vector<WorkRange> HeldTasks::complete(std::optional<EventTimes> times) {
    const std::size_t ended = have_injected() ? injected_ : tasks_.size();
    std::vector<WorkRange> work_ranges;
    for (std::size_t i = 0; i < ended; ++i) {
        if (times)
            tasks_[i].done.complete(*times);
        else
            tasks_[i].done.complete();
        work_ranges.push_back(tasks_[i].work_range);
    }
    tasks_.erase(tasks_.begin(), tasks_.begin() + static_cast<std::ptrdiff_t>(ended));
    injected_ = begun_ = 0;
    return work_ranges;
}

void HeldTasks::fail(const ErrorPtr& error) {
    for (HeldTask& one : tasks_) one.done.fail(error);
}

std::vector<WorkRange> HeldTasks::work_ranges() const {
    std::vector<WorkRange> work_ranges;
    for (const HeldTask& one : tasks_) work_ranges.push_back(one.work_range);
    return work_ranges;
}

void HeldTasks::clear() {
    tasks_.clear();
    injected_ = begun_ = 0;
}

} // namespace headrace
