// core/teams.cpp - see teams.hpp.
#include <headrace/core/teams.hpp>

#include <algorithm>
#include <numeric>

namespace headrace {
namespace {

// Times: what the first job and the first two took a team, over what it takes later.
constexpr double first_may_improve = 1.5, may_improve = 1.1;

/// Rates were measured beside the others, in parts of a job. Half of it may have taken a GPU as long as all
/// of it would, if that has lanes for all: what fewer devices need for a job, a job tells.
bool is_worth_trying(double promised, double together) {
    constexpr double longer = 1.25, most = 2, not_felt = 0.1; // times, times, seconds
    return promised <= most * together && (promised <= longer * together || promised <= together + not_felt);
}

/// The slower a device with idle lanes seems, the less it is given, and the slower it seems: the second one
/// may be the fastest. Where the first one has had a job, it has one, too, if jobs are short: it is over
/// soon, with the reserve's help.
bool may_be_the_fastest(double promised, double least) {
    constexpr double far_off = 8, short_job = 0.25; // times, seconds
    return least <= short_job && promised <= far_off * least;
}

double promised_seconds(const Team& team, std::span<const Estimate> devices, std::uint64_t work_units) {
    double rate = 0;
    for (const std::size_t i : team) rate += *devices[i].units_per_second;
    return static_cast<double>(work_units) / rate;
}

/// As measured, or, as long as that is not settled, what it may reach.
double expected_seconds(const WholeJobs& known) {
    if (known.jobs >= jobs_that_tell) return known.seconds;
    return known.seconds / (known.jobs == 1 ? first_may_improve : may_improve);
}

/// The first jobs may have been disturbed: rates promise much more, and the last one is so long ago that
/// another costs next to nothing. So many more are enough for the median to change its mind.
bool deserves_another_chance(const WholeJobs& known, double promised, double least) {
    constexpr double much = 1.25, rarely = 100; // times
    constexpr std::size_t chances = 4;
    return known.jobs < jobs_that_tell + chances && promised * much <= least &&
           known.seconds_ago >= rarely * known.seconds;
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
    const auto recent = [&](const Team& team) {
        const std::optional<WholeJobs> jobs = known(team);
        return jobs && jobs->jobs > 0 ? jobs : std::nullopt;
    };
    const auto consider = [&](Team team, bool is_worth_a_job) {
        const std::optional<WholeJobs> jobs = recent(team);
        if (!jobs && !is_worth_a_job) return;
        const double seconds = jobs ? expected_seconds(*jobs) : 0; // its turn comes before all others'
        if (seconds >= least) return;
        least = seconds;
        best = std::move(team);
    };
    const Team all = best;
    for (std::size_t size = 1; size < by_rate.size(); ++size) {
        Team team(by_rate.begin(), by_rate.begin() + static_cast<std::ptrdiff_t>(size));
        std::ranges::sort(team);
        const double promised = promised_seconds(team, devices, work_units);
        consider(std::move(team), is_worth_trying(promised, together->seconds));
    }
    const Team first{by_rate[0]}, second{by_rate[1]};
    const double promised = promised_seconds(second, devices, work_units);
    consider(second, recent(first) && may_be_the_fastest(promised, least));
    // Who did better when it had one has the next one, too: until its median says so, or it does not.
    const bool again =
        best != all &&
        (together->last < least ||
         deserves_another_chance(*together, promised_seconds(all, devices, work_units), least));
    return again ? all : best;
}

} // namespace headrace
