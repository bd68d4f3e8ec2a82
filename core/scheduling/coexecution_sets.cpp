// core/scheduling/coexecution_sets.cpp - see coexecution_sets.hpp.
#include <headrace/internal/core/coexecution_sets.hpp>

#include <algorithm>
#include <numeric>

namespace headrace {
namespace {

// Factors: the time of the first job (or the first two jobs) of a set, divided by its later time.
constexpr double first_may_improve = 1.5, may_improve = 1.1;

constexpr double at_once = 0.01; // seconds: users do not notice a few jobs of this length

/// Rates are measured in parts of a job, while other devices run, too. If a GPU has lanes for the whole job,
/// half of the job may take as long as all of it. Only a whole job shows the time of a smaller set.
bool is_worth_trying(double promised, double together) {
    constexpr double longer = 1.25, most = 2, not_felt = 0.1; // factor, factor, seconds
    return promised <= most * together && (promised <= longer * together || promised <= together + not_felt);
}

/// A device with idle lanes seems slow, so it gets less work and then seems slower still. So the second
/// fastest may really be the fastest. When the first one has had its job, the second one gets a job, too, if
/// jobs are short: such a job ends soon, if necessary with standby devices. The shortest jobs show least
/// about speeds.
bool may_be_the_fastest(double promised, double least) {
    constexpr double far_off = 8, short_job = 0.25; // factor, seconds
    return least <= short_job && (promised <= far_off * least || promised <= at_once);
}

double promised_seconds(const CoexecutionSet& set, std::span<const Estimate> devices,
                        std::uint64_t work_units) {
    double rate = 0;
    for (const std::size_t i : set) rate += *devices[i].units_per_second;
    return static_cast<double>(work_units) / rate;
}

/// The measured time; before there are enough jobs, the time that the set may reach. A very short job may
/// have taken many times as long because a thread was woken late. Running it again costs almost nothing.
double expected_seconds(const WholeJobs& known) {
    if (known.jobs >= jobs_that_tell) return known.seconds;
    if (known.seconds <= at_once) return 0;
    return known.seconds / (known.jobs == 1 ? first_may_improve : may_improve);
}

constexpr double much = 1.25; // factor
constexpr std::size_t most_before_doubt = 2 * jobs_that_tell;

/// The number of jobs of all devices before smaller sets are probed. It is the lower number if a smaller set
/// already has enough jobs.
std::size_t jobs_before_doubt(double promised, double together, bool others_are_proven) {
    return promised * much <= together && !others_are_proven ? most_before_doubt : jobs_that_tell;
}

/// The disturbance of the first jobs may be over: rates promise much more, and the last job is so long ago
/// that another one costs very little.
bool deserves_another_chance(const WholeJobs& known, double promised, double least) {
    constexpr double rarely = 100;     // factor
    constexpr std::size_t chances = 3; // 6 + 3: models keep nine jobs
    return known.jobs < most_before_doubt + chances && promised * much <= least &&
           known.seconds_ago >= rarely * known.seconds;
}

} // namespace

CoexecutionSet choose_coexecution_set(std::span<const Estimate> devices, std::uint64_t work_units,
                                      const KnownJobs& known) {
    CoexecutionSet best(devices.size());
    std::iota(best.begin(), best.end(), 0);
    const auto is_measured = [](const Estimate& one) { return one.units_per_second.has_value(); };
    if (devices.size() < 2 || !std::ranges::all_of(devices, is_measured)) return best;
    const CoexecutionSet all = best;
    CoexecutionSet by_rate = all;
    std::ranges::stable_sort(by_rate, std::ranges::greater{},
                             [&](std::size_t i) { return *devices[i].units_per_second; });
    std::vector<CoexecutionSet> fewer; // the fastest alone, the fastest two and so on
    for (std::size_t size = 1; size < by_rate.size(); ++size) {
        fewer.emplace_back(by_rate.begin(), by_rate.begin() + static_cast<std::ptrdiff_t>(size));
        std::ranges::sort(fewer.back());
    }
    const auto recent = [&](const CoexecutionSet& set) {
        const std::optional<WholeJobs> jobs = known(set);
        return jobs && jobs->jobs > 0 ? jobs : std::nullopt;
    };
    const bool others_are_proven = std::ranges::any_of(fewer, [&](const CoexecutionSet& set) {
        const std::optional<WholeJobs> jobs = recent(set);
        return jobs && jobs->jobs >= jobs_that_tell;
    });
    const std::optional<WholeJobs> together = known(all);
    const double promised_of_all = promised_seconds(all, devices, work_units);
    if (!together ||
        together->jobs < jobs_before_doubt(promised_of_all, together->seconds, others_are_proven))
        return all;

    double least = together->seconds;
    const auto consider = [&](const CoexecutionSet& set, bool is_worth_a_job) {
        const std::optional<WholeJobs> jobs = recent(set);
        if (!jobs && !is_worth_a_job) return;
        const double seconds = jobs ? expected_seconds(*jobs) : 0; // a set without a job goes first
        if (seconds >= least) return;
        least = seconds;
        best = set;
    };
    for (const CoexecutionSet& set : fewer)
        consider(set, is_worth_trying(promised_seconds(set, devices, work_units), together->seconds));
    const CoexecutionSet first{by_rate[0]}, second{by_rate[1]};
    const double promised = promised_seconds(second, devices, work_units);
    consider(second, recent(first) && may_be_the_fastest(promised, least));
    // If the last job of all devices was the fastest, they get the next one, too. This goes on until their
    // median is the least, or until a job of them is slower.
    const bool again =
        best != all && (together->last < least || deserves_another_chance(*together, promised_of_all, least));
    return again ? all : best;
}

} // namespace headrace
