// domains/jobs/standby_choice.hpp - which devices do a job and which are on standby, by how long earlier
// jobs took. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>
#include <headrace/internal/core/coexecution_sets.hpp>
#include <headrace/internal/domains/job_account.hpp>
#include <headrace/internal/domains/job_scheduling.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace headrace {

/// Values by problem, for the lifetime of the process. A problem is a device, a co-execution set, or all
/// devices, with a kernel, a number of work units, and bytes. Problems that grow from job to job are never
/// repeated; when 4096 are stored, all are removed.
///
/// Threads   one at a time
template <class Value>
class ByProblem {
public:
    void remember(const std::string& whose, const KernelKey& kernel, Value value) {
        constexpr std::size_t most = 4096;
        Problem problem = problem_of(whose, kernel);
        if (known_.size() == most && !known_.contains(problem)) known_.clear();
        known_.insert_or_assign(std::move(problem), std::move(value));
    }
    [[nodiscard]] std::optional<Value> recall(const std::string& whose, const KernelKey& kernel) const {
        const auto known = known_.find(problem_of(whose, kernel));
        return known == known_.end() ? std::nullopt : std::optional(known->second);
    }

private:
    using Problem = std::tuple<std::string, std::string, std::uint64_t, Bytes>;

    static Problem problem_of(const std::string& whose, const KernelKey& kernel) {
        return {whose, kernel.kernel, kernel.work_units, kernel.bytes};
    }

    std::map<Problem, Value> known_;
};

/// What a runtime knows of whole jobs, beside what its model keeps. `coexecution_sets.hpp` has the rules.
///
/// Threads   any
class HEADRACE_EXPORT StandbyChoice {
public:
    /// `model` must outlive it. `has_one_device`: the runtime; there is nothing to choose then.
    StandbyChoice(PerformanceModel& model, bool has_one_device)
        : model_(model), has_one_device_(has_one_device) {}

    /// Puts devices on standby without which such jobs were faster. Returns the expected seconds of the job;
    /// 0: all devices take part.
    double put_on_standby(std::vector<JobParticipant>& participants, const KernelKey& kernel);
    /// The time of the last such job on the device alone, even if the model does not keep it.
    [[nodiscard]] std::optional<double> seconds_alone(const DeviceInfo& device,
                                                      const KernelKey& kernel) const;
    /// A job has ended. `tells`: its time is one of a set.
    void learn(const JobOutcome& outcome, bool tells);

private:
    using Clock = std::chrono::steady_clock;

    /// A probe run: a job of a co-execution set that had completed `jobs` jobs. Of jobs that are submitted
    /// together only one is a probe run. Its time is known when it has ended, or never if other jobs disturb
    /// it.
    struct ProbeRun {
        std::size_t jobs;
        Clock::time_point began;
    };
    [[nodiscard]] bool has_probe_run(const std::string& set, const KernelKey& kernel,
                                     const std::optional<WholeJobs>& jobs, Clock::time_point now) const;
    [[nodiscard]] Estimate with_brief_rate(const JobParticipant& participant, const KernelKey& kernel) const;

    PerformanceModel& model_;
    const bool has_one_device_;
    mutable std::mutex mutex_;
    ByProblem<double> alone_;                ///< seconds
    ByProblem<double> brief_rates_;          ///< in units per second; no model keeps them
    ByProblem<ProbeRun> probe_runs_;         ///< the last one of each set
    ByProblem<Clock::time_point> all_began_; ///< the start of the last job on all devices
};

} // namespace headrace
