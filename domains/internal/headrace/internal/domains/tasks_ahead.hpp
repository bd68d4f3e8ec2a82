// internal/domains/tasks_ahead.hpp - how many small tasks a device holds that it has not begun with. Private
// to domains/.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace headrace {

/// Of too few, the device has none left before the host looks again; of too many, others miss some in the
/// end, since what is fed does not come back. Where no other device takes part, that is nobody's loss.
class TasksAhead {
public:
    static constexpr std::uint64_t most = 16384; ///< the host makes some thousands between two looks

    /// How long a task takes is not known: it begins with one.
    TasksAhead() = default;
    /// For a task that is to take so long: as many as last for several of the host's sleeps.
    TasksAhead(std::chrono::duration<double> task, bool alone) {
        constexpr std::chrono::milliseconds lasting{1}, lasting_where_alone{4};
        const std::chrono::duration<double> all = alone ? lasting_where_alone : lasting;
        tasks_ = static_cast<std::uint64_t>(std::clamp(all / task, 1.0, double{most}));
    }

    [[nodiscard]] std::uint64_t tasks() const noexcept { return tasks_; }
    [[nodiscard]] bool can_grow() const noexcept { return tasks_ < most; }
    /// The device began with more than half of them between two looks.
    void grow(bool alone) noexcept { tasks_ = std::min(tasks_ * (alone ? 16 : 4), most); }
    /// So many are made one: half, or there would be none while the next ones are made; and no more than the
    /// host makes in some tens of microseconds.
    [[nodiscard]] std::uint64_t made_at_once() const noexcept {
        return std::clamp<std::uint64_t>(tasks_ / 2, 1, 1024);
    }

private:
    std::uint64_t tasks_ = 1;
};

} // namespace headrace
