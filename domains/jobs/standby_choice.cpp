// domains/jobs/standby_choice.cpp - see standby_choice.hpp.
#include "jobs/standby_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace headrace {
namespace {

constexpr std::chrono::seconds between_probe_runs{1};

/// The name of all devices together.
constexpr const char* all_devices = "all";

std::string ids_of(const std::vector<JobParticipant>& participants, const CoexecutionSet& set) {
    std::string ids;
    for (const std::size_t i : set) ids += (ids.empty() ? "" : ", ") + participants[i].info->id;
    return ids;
}

} // namespace

/// With mutex_ held: true if the set that has completed `jobs` jobs has a further one, not measured yet.
bool StandbyChoice::has_probe_run(const std::string& set, const KernelKey& kernel,
                                  const std::optional<WholeJobs>& jobs, Clock::time_point now) const {
    const auto probe = probe_runs_.recall(set, kernel);
    return probe && probe->jobs == (jobs ? jobs->jobs : 0) && now - probe->began < between_probe_runs;
}

/// For a device that may run a job alone, a brief measurement is better than none; policies do not use it.
Estimate StandbyChoice::with_brief_rate(const JobParticipant& participant, const KernelKey& kernel) const {
    Estimate estimate = participant.estimate;
    if (estimate.units_per_second) return estimate;
    const std::scoped_lock lock(mutex_);
    estimate.units_per_second = brief_rates_.recall(participant.info->id, kernel);
    return estimate;
}

double StandbyChoice::put_on_standby(std::vector<JobParticipant>& participants, const KernelKey& kernel) {
    if (participants.size() < 2) return 0;
    std::vector<Estimate> estimates;
    for (const auto& participant : participants) estimates.push_back(with_brief_rate(participant, kernel));
    const auto now = Clock::now();
    const auto whole_jobs = [&](const CoexecutionSet& set) {
        std::vector<const DeviceInfo*> infos;
        for (const std::size_t i : set) infos.push_back(participants[i].info);
        return model_.whole_jobs(infos, kernel);
    };
    const KnownJobs known = [&](const CoexecutionSet& set) {
        auto jobs = whole_jobs(set);
        const std::scoped_lock lock(mutex_);
        if (set.size() < participants.size()) {
            if (has_probe_run(ids_of(participants, set), kernel, jobs, now))
                jobs = WholeJobs{.seconds = std::numeric_limits<double>::infinity(), .jobs = jobs_that_tell};
        } else if (const auto last = all_began_.recall(all_devices, kernel); jobs && last) {
            // A job that has not ended, or that gives no measurement, counts as well.
            jobs->seconds_ago =
                std::min(jobs->seconds_ago, std::chrono::duration<double>(now - *last).count());
        }
        return jobs;
    };
    const CoexecutionSet set = choose_coexecution_set(estimates, kernel.work_units, known);
    if (set.size() == participants.size()) {
        const std::scoped_lock lock(mutex_);
        all_began_.remember(all_devices, kernel, now);
        return 0;
    }
    CoexecutionSet all(participants.size());
    std::iota(all.begin(), all.end(), 0);
    const double together = whole_jobs(all)->seconds;
    const auto without = whole_jobs(set);
    const bool is_settled = without && without->jobs >= jobs_that_tell;
    const std::string others = ids_of(participants, set);
    if (!is_settled) {
        const std::scoped_lock lock(mutex_);
        probe_runs_.remember(others, kernel, {without ? without->jobs : 0, now});
    }
    const std::string why = fmt::format(
        "such jobs took {:.4g} s with all devices; {} with {} only", together,
        is_settled ? fmt::format("{:.4g} s", without->seconds) : std::string("now it is tried"), others);
    for (std::size_t i = 0; i < participants.size(); ++i)
        if (!std::ranges::binary_search(set, i)) participants[i].standby = why;
    return is_settled ? without->seconds : together;
}

std::optional<double> StandbyChoice::seconds_alone(const DeviceInfo& device, const KernelKey& kernel) const {
    const std::scoped_lock lock(mutex_);
    return alone_.recall(device.id, kernel);
}

void StandbyChoice::learn(const JobOutcome& outcome, bool tells) {
    for (const auto& [device, rate, is_brief] : outcome.measurements) {
        if (is_brief) {
            if (has_one_device_) continue; // these values are not used
            const std::scoped_lock lock(mutex_);
            brief_rates_.remember(device->id, outcome.kernel, rate);
        } else if (!outcome.was_disturbed || !model_.estimate(*device, outcome.kernel).certain) {
            model_.measured(*device, outcome.kernel, rate);
        }
    }
    if (!tells || outcome.was_disturbed || outcome.has_losses) return;
    if (!std::isfinite(outcome.seconds_of_coexecution_set)) return;
    model_.took(outcome.set, outcome.kernel, outcome.seconds_of_coexecution_set);
    if (outcome.set.size() > 1 || has_one_device_) return; // these values are not used
    const std::scoped_lock lock(mutex_);
    alone_.remember(outcome.set.front()->id, outcome.kernel, outcome.seconds_of_coexecution_set);
}

} // namespace headrace
