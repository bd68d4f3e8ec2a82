// persistent/detail/launch_budget.hpp - how many rounds lane groups may do in a launch, so that it takes the
// time that it should.
#pragma once
#include <headrace/core/export.hpp>

#include <chrono>
#include <cstdint>

namespace headrace {

/// Follows the times of launches. It knows no clock.
///
/// Threads   one at a time
class HEADRACE_EXPORT LaunchBudget {
public:
    using Duration = std::chrono::nanoseconds;

    static constexpr std::uint32_t most_rounds = 1u << 30; ///< a group counts its rounds in 32 bits

    /// `first_rounds`: of the first launch; 0: few, because the time of a unit is not known yet.
    LaunchBudget(std::uint32_t first_rounds, Duration launch_time);

    [[nodiscard]] std::uint32_t rounds() const noexcept { return rounds_; }
    [[nodiscard]] Duration launch_time() const noexcept { return launch_time_; }
    /// Sets the time that launches aim at.
    void aim_at(Duration launch_time);
    /// A launch took so long. `is_used_up`: it ended because of its budget. `launches`: so far.
    void adapt(Duration took, bool is_used_up, std::uint64_t launches);
    /// Another kernel runs now: the last launch is not comparable with the next one.
    void forget_last_launch() noexcept { past_ = {}; }
    /// As a new budget that aims at the same time.
    void start_again();

private:
    /// What a launch that used up its budget tells about it. If `rounds` is 0, it tells nothing.
    struct PastLaunch {
        std::uint32_t rounds = 0;
        Duration took{};
    };
    [[nodiscard]] static bool rounds_matter(PastLaunch one, PastLaunch other);

    std::uint32_t first_rounds_;
    Duration launch_time_;
    std::uint32_t rounds_;
    bool is_first_ = true; ///< no launch has tried it yet
    PastLaunch past_{};    ///< the last launch
};

} // namespace headrace
