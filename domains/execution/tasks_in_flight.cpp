// domains/execution/tasks_in_flight.cpp - see tasks_in_flight.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/tasks_in_flight.hpp>

namespace headrace {

using Clock = std::chrono::steady_clock;

void TasksInFlight::add(std::size_t device, const std::string& id, const WorkRange& work_range) {
    const auto now = Clock::now();
    tasks_.insert_or_assign(
        key(device, work_range),
        TaskInFlight{.number = device, .device = id, .work_range = work_range, .last_sign = now});
    last_sign_ = now;
}

void TasksInFlight::remove(std::size_t device, const WorkRange& work_range) noexcept {
    tasks_.erase(key(device, work_range));
    last_sign_ = Clock::now();
}

void TasksInFlight::shorten(std::size_t device, const WorkRange& work_range, std::uint64_t end) noexcept {
    TaskInFlight* const task = find(device, work_range);
    HEADRACE_ASSERT(task);
    task->work_range.range.end = end;
}

void TasksInFlight::launched(std::size_t device, const WorkRange& work_range, std::uint64_t units_left,
                             std::size_t awaited) noexcept {
    TaskInFlight* const task = find(device, work_range);
    HEADRACE_ASSERT(task);
    ++task->launches;
    task->units_left = units_left;
    task->awaited = awaited;
    task->last_sign = Clock::now();
}

void TasksInFlight::inputs_came(std::size_t device, const WorkRange& work_range) noexcept {
    TaskInFlight* const task = find(device, work_range);
    if (!task || task->awaited == 0) return;
    task->awaited = 0;
    task->last_sign = Clock::now();
}

bool TasksInFlight::lives(std::size_t device, const WorkRange& work_range) noexcept {
    TaskInFlight* const task = find(device, work_range);
    if (task) task->last_sign = Clock::now();
    return task != nullptr;
}

void TasksInFlight::note_start() noexcept { last_sign_ = Clock::now(); }

std::vector<TaskInFlight> TasksInFlight::all() const {
    std::vector<TaskInFlight> all;
    for (const auto& [of, task] : tasks_) all.push_back(task);
    return all;
}

TaskInFlight* TasksInFlight::find(std::size_t device, const WorkRange& work_range) noexcept {
    const auto found = tasks_.find(key(device, work_range));
    return found == tasks_.end() ? nullptr : &found->second;
}

} // namespace headrace
