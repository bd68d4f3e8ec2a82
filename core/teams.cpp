// core/teams.cpp - see teams.hpp.
#include <headrace/core/teams.hpp>

#include <algorithm>
#include <numeric>

namespace headrace {
namespace {

constexpr double worth_trying = 1.1; // times later than all have been: rates were measured beside the others

/// The time that a team is expected to take: as measured, or, as long as that is not settled, what it may
/// reach.
double expected_seconds(const Team& team, std::span<const Estimate> devices, std::uint64_t work_units,
                        const std::optional<WholeJobs>& known) {
    if (known && known->jobs >= jobs_that_tell) return known->seconds;
    double rate = 0;
    for (const std::size_t i : team) rate += *devices[i].units_per_second;
    return static_cast<double>(work_units) / rate / worth_trying;
}

} // namespace

Team choose_team(std::span<const Estimate> devices, std::uint64_t work_units, const KnownJobs& known) {
    Team best(devices.size());
    std::iota(best.begin(), best.end(), 0);
    const auto is_measured = [](const Estimate& one) { return one.units_per_second.has_value(); };
    if (devices.size() < 2 || !std::ranges::all_of(devices, is_measured)) return best;
    const std::optional<WholeJobs> together = known(best);
    if (!together || together->jobs < jobs_that_tell) return best;

    Team by_rate = best;
    std::ranges::stable_sort(by_rate, std::ranges::greater{},
                             [&](std::size_t i) { return *devices[i].units_per_second; });
    double least = together->seconds;
    for (std::size_t size = 1; size < by_rate.size(); ++size) {
        Team team(by_rate.begin(), by_rate.begin() + static_cast<std::ptrdiff_t>(size));
        std::ranges::sort(team);
        const double seconds = expected_seconds(team, devices, work_units, known(team));
        if (seconds >= least) continue;
        least = seconds;
        best = std::move(team);
    }
    return best;
}

} // namespace headrace
