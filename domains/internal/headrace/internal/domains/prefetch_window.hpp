// internal/domains/prefetch_window.hpp - the prefetch window: how many small tasks a device holds and has not
// begun. Internal to domains/.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace headrace {

/// Too few: the device runs out of tasks before the host looks again. Too many: other devices, if any take
/// part, lack work at the end, since injected tasks do not come back.
class PrefetchWindow {
public:
    static constexpr std::uint64_t most = 16384; ///< the host makes some thousands between two looks

    /// The time of a task is not known: starts with one task.
    PrefetchWindow() = default;
    /// `task`: expected time of a task. Holds as many tasks as last for several sleeps of the host.
    PrefetchWindow(std::chrono::duration<double> task, bool alone) {
        constexpr std::chrono::milliseconds lasting{1}, lasting_where_alone{4};
        const std::chrono::duration<double> all = alone ? lasting_where_alone : lasting;
        tasks_ = static_cast<std::uint64_t>(std::clamp(all / task, 1.0, double{most}));
    }

    [[nodiscard]] std::uint64_t tasks() const noexcept { return tasks_; }
    [[nodiscard]] bool can_grow() const noexcept { return tasks_ < most; }
    /// The device began more than half of them between two looks.
    void grow(bool alone) noexcept { tasks_ = std::min(tasks_ * (alone ? 16 : 4), most); }
    /// Number of tasks to merge into one: half, so that some are left while the next are made. The limit is
    /// what the host makes in some tens of microseconds.
    [[nodiscard]] std::uint64_t made_at_once() const noexcept {
        return std::clamp<std::uint64_t>(tasks_ / 2, 1, 1024);
    }

private:
    std::uint64_t tasks_ = 1;
};

} // namespace headrace
