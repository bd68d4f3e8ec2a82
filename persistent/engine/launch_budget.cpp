// persistent/engine/launch_budget.cpp - see launch_budget.hpp.
#include <headrace/persistent/detail/launch_budget.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr std::uint32_t few_rounds = 4;     // small: the time of a unit is not known yet
constexpr double fastest_growth = 8;        // per launch, of the budget
constexpr double growth_of_short_ones = 32; // while launches are so short that the next cannot be long
constexpr std::chrono::milliseconds short_launch{1};
constexpr std::chrono::milliseconds long_launch{500}; // no budget is tried with longer launches

} // namespace

LaunchBudget::LaunchBudget(std::uint32_t first_rounds, Duration launch_time)
    : first_rounds_(first_rounds != 0 ? first_rounds : few_rounds),
      launch_time_(launch_time),
      rounds_(first_rounds_) {}

void LaunchBudget::start_again() {
    rounds_ = first_rounds_;
    is_first_ = true;
}

/// Returns whether rounds take more than a quarter of a launch's time. Two launches show it, if one had at
/// least 1.5 times the rounds of the other. If they cannot show it, returns true.
bool LaunchBudget::rounds_matter(PastLaunch one, PastLaunch other) {
    if (one.rounds < other.rounds) std::swap(one, other);
    if (other.rounds == 0 || one.rounds < 1.5 * other.rounds) return true;
    const auto more_than = [](auto more, auto less) {
        return 1 - static_cast<double>(less) / static_cast<double>(more);
    };
    return more_than(one.took.count(), other.took.count()) > 0.25 * more_than(one.rounds, other.rounds);
}

/// Adapts the budget to launches of launch_time_. It rises carefully, because the next rounds may
/// take longer. On a busy machine a launch may take longer because its groups wait for processors. Fewer
/// rounds would then make more launches, but not shorter ones. So budgets grow until rounds matter. Launches
/// of one round try two rounds now and then, to find out whether rounds matter. This does not apply if
/// `launch_time` is below 1 ms. Budgets may then fall to one round, whatever it costs.
void LaunchBudget::adapt(Duration took, bool is_used_up, std::uint64_t launches) {
    const double factor = std::chrono::duration<double>(launch_time_) /
                          std::max(std::chrono::duration<double>(took), std::chrono::duration<double>(1e-6));
    if (factor > 1 && !is_used_up) return; // a launch that ended early tells nothing about its budget
    const PastLaunch now{is_used_up ? rounds_ : 0, took}, before = std::exchange(past_, now);
    double change = std::min(factor, took < short_launch ? growth_of_short_ones : fastest_growth);
    if (factor < 1 && took < long_launch && launch_time_ >= short_launch) {
        const bool may_try = now.rounds == 1 && before.rounds == 1 && launches % 8 == 0;
        if (!rounds_matter(now, before))
            change = 4;
        else if (may_try)
            change = 2;
    }
    rounds_ = static_cast<std::uint32_t>(std::clamp(rounds_ * change, 1.0, static_cast<double>(most_rounds)));
    is_first_ = false;
}

void LaunchBudget::aim_at(Duration launch_time) {
    const double factor = std::chrono::duration<double>(launch_time) /
                          std::chrono::duration<double>(std::exchange(launch_time_, launch_time));
    // The measured times hold for another launch time too. A longer time is approached as usual. The first
    // budget is a guess without a measurement: a part of it would be a wasted launch.
    if (factor < 1 && !is_first_) rounds_ = std::max(1U, static_cast<std::uint32_t>(rounds_ * factor));
}

} // namespace headrace
