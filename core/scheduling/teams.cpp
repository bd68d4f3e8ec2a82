// core/scheduling/teams.cpp - see teams.hpp.
#include <headrace/internal/core/teams.hpp>

#include <algorithm>
#include <numeric>

namespace headrace {
namespace {

// Times: what the first job and the first two took a team, over what it takes later.
constexpr double first_may_improve = 1.5, may_improve = 1.1;

constexpr double at_once = 0.01; // seconds: nobody feels a few of these

/// Rates were measured beside the others, in parts of a job. Half of it may have taken a GPU as long as all
/// of it would, if that has lanes for all: what fewer devices need for a job, a job tells.
bool is_worth_trying(double promised, double together) {
    constexpr double longer = 1.25, most = 2, not_felt = 0.1; // times, times, seconds
    return promised <= most * together && (promised <= longer * together || promised <= together + not_felt);
}

/// The slower a device with idle lanes seems, the less it is given, and the slower it seems: the second one
/// may be the fastest. Where the first one has had a job, it has one, too, if jobs are short: it is over
/// soon, with the reserve's help. What is over at once tells least of speeds.
bool may_be_the_fastest(double promised, double least) {
    constexpr double far_off = 8, short_job = 0.25; // times, seconds
    return least <= short_job && (promised <= far_off * least || promised <= at_once);
}

double promised_seconds(const Team& team, std::span<const Estimate> devices, std::uint64_t work_units) {
    double rate = 0;
    for (const std::size_t i : team) rate += *devices[i].units_per_second;
    return static_cast<double>(work_units) / rate;
}

/// As measured, or, as long as that is not settled, what it may reach. What is over at once may have taken
/// many times as long because a thread was woken late, and costs nothing to settle.
double expected_seconds(const WholeJobs& known) {
    if (known.jobs >= jobs_that_tell) return known.seconds;
    if (known.seconds <= at_once) return 0;
    return known.seconds / (known.jobs == 1 ? first_may_improve : may_improve);
}

constexpr double much = 1.25; // times
constexpr std::size_t most_before_doubt = 2 * jobs_that_tell;

/// After so many of all devices' jobs they may be doubted. Fewer that have done well are doubt enough.
std::size_t jobs_before_doubt(double promised, double together, bool others_are_proven) {
    return promised * much <= together && !others_are_proven ? most_before_doubt : jobs_that_tell;
}

/// What disturbed the first jobs may have gone: rates promise much more, and the last one is so long ago that
/// another costs next to nothing.
bool deserves_another_chance(const WholeJobs& known, double promised, double least) {
    constexpr double rarely = 100;     // times
    constexpr std::size_t chances = 3; // models keep nine jobs
    return known.jobs < most_before_doubt + chances && promised * much <= least &&
           known.seconds_ago >= rarely * known.seconds;
}

} // namespace

Team choose_team(std::span<const Estimate> devices, std::uint64_t work_units, const KnownJobs& known) {
    Team best(devices.size());
    std::iota(best.begin(), best.end(), 0);
    const auto is_measured = [](const Estimate& one) { return one.units_per_second.has_value(); };
    if (devices.size() < 2 || !std::ranges::all_of(devices, is_measured)) return best;
    const Team all = best;
    Team by_rate = all;
    std::ranges::stable_sort(by_rate, std::ranges::greater{},
                             [&](std::size_t i) { return *devices[i].units_per_second; });
    std::vector<Team> fewer; // the fastest alone, the fastest two and so on
    for (std::size_t size = 1; size < by_rate.size(); ++size) {
        fewer.emplace_back(by_rate.begin(), by_rate.begin() + static_cast<std::ptrdiff_t>(size));
        std::ranges::sort(fewer.back());
    }
    const auto recent = [&](const Team& team) {
        const std::optional<WholeJobs> jobs = known(team);
        return jobs && jobs->jobs > 0 ? jobs : std::nullopt;
    };
    const bool others_are_proven = std::ranges::any_of(fewer, [&](const Team& team) {
        const std::optional<WholeJobs> jobs = recent(team);
        return jobs && jobs->jobs >= jobs_that_tell;
    });
    const std::optional<WholeJobs> together = known(all);
    const double promised_of_all = promised_seconds(all, devices, work_units);
    if (!together ||
        together->jobs < jobs_before_doubt(promised_of_all, together->seconds, others_are_proven))
        return all;

    double least = together->seconds;
    const auto consider = [&](const Team& team, bool is_worth_a_job) {
        const std::optional<WholeJobs> jobs = recent(team);
        if (!jobs && !is_worth_a_job) return;
        const double seconds = jobs ? expected_seconds(*jobs) : 0; // its turn comes before all others'
        if (seconds >= least) return;
        least = seconds;
        best = team;
    };
    for (const Team& team : fewer)
        consider(team, is_worth_trying(promised_seconds(team, devices, work_units), together->seconds));
    const Team first{by_rate[0]}, second{by_rate[1]};
    const double promised = promised_seconds(second, devices, work_units);
    consider(second, recent(first) && may_be_the_fastest(promised, least));
    // Who did better when it had one has the next one, too: until its median says so, or it does not.
    const bool again =
        best != all && (together->last < least || deserves_another_chance(*together, promised_of_all, least));
    return again ? all : best;
}

} // namespace headrace
