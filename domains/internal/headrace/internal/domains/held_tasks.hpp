// internal/domains/held_tasks.hpp - the tasks of one launch, from their binding to their end. Internal to
// domains/.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/task.hpp>
#include <headrace/internal/domains/work_range.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace headrace {

struct HeldTask {
    WorkRange work_range; ///< may have lost its end to other devices since the task began
    std::unique_ptr<Task> task;
    Promise done{};         ///< what other requests on the task's tiles wait for
    Event ready{};          ///< when it may be injected
    std::uint64_t upto = 0; ///< seeds that were injected with it and with those before
};

/// In order: tasks that the launch has begun, tasks that were injected, and tasks that wait for their inputs.
/// A launch that was not opened has its first task, and no task counts as injected.
///
/// Threads   one at a time: the device's
class HEADRACE_EXPORT HeldTasks {
public:
    [[nodiscard]] bool are_none() const noexcept { return tasks_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return tasks_.size(); }
    [[nodiscard]] const std::vector<HeldTask>& all() const noexcept { return tasks_; }
    [[nodiscard]] HeldTask& first() { return tasks_.front(); }
    [[nodiscard]] const HeldTask& first() const { return tasks_.front(); }
    HeldTask& add(HeldTask task) { return tasks_.emplace_back(std::move(task)); }
    /// The last one, which was not injected, is another launch's.
    void drop_last() { tasks_.pop_back(); }

    [[nodiscard]] bool have_injected() const noexcept { return injected_ > 0; }
    /// Some wait for their inputs.
    [[nodiscard]] bool have_waiting() const noexcept { return injected_ < tasks_.size(); }
    /// The launch has begun all that were injected.
    [[nodiscard]] bool are_begun() const noexcept { return begun_ == injected_; }
    /// The next one to be injected; null: there is none.
    [[nodiscard]] HeldTask* next() noexcept { return have_waiting() ? &tasks_[injected_] : nullptr; }
    /// It was injected. The launch has so many seeds now.
    void note_injected(std::uint64_t upto) { tasks_[injected_++].upto = upto; }
    /// The launch has begun so many seeds. The next task that it has thereby begun; null: there is none.
    [[nodiscard]] const HeldTask* next_begun(std::uint64_t seeds) {
        const bool has_begun = begun_ < injected_ && tasks_[begun_].upto <= seeds;
        return has_begun ? &tasks_[begun_++] : nullptr;
    }
    /// The policy's tasks that the launch has not begun.
    [[nodiscard]] std::uint64_t ahead() const;
    /// The event is the end of one of them.
    [[nodiscard]] bool promise(const Event& event) const;

    /// The launch has ended: so have all of them, or those that were injected. They are removed; the others
    /// are those of the next launch. `times`: of the launch, for traces; nothing: not known.
    [[nodiscard]] std::vector<WorkRange> complete(std::optional<EventTimes> times);
    /// Tells those that wait for the tasks' data.
    void fail(const ErrorPtr& error);
    [[nodiscard]] std::vector<WorkRange> work_ranges() const;
    void clear();

private:
    std::vector<HeldTask> tasks_;
    std::size_t injected_ = 0; ///< of an opened launch
    std::size_t begun_ = 0;    ///< of these
};

} // namespace headrace
