// domains/jobs/job_planner.hpp - which devices of a runtime take part in a job, with which memory and policy.
// Internal to domains/.
#pragma once
#include "cluster/ranks_below.hpp"
#include "jobs/standby_choice.hpp"
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>
#include <headrace/domains/runtime.hpp>
#include <headrace/internal/domains/device_worker.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// Checks that every name with a power is a kind of device, or a device that was found. Throws not_found.
void check_powers(const std::map<std::string, double>& powers, const std::vector<const DeviceInfo*>& devices,
                  const std::vector<LeftOut>& left_out);

/// Makes the executions of jobs, and learns from them when they have ended.
///
/// Threads   any
class HEADRACE_EXPORT JobPlanner {
public:
    using Workers = std::vector<std::unique_ptr<DeviceWorker>>;

    /// Both must outlive it. `left_out`: devices of this machine that take no part in any job.
    JobPlanner(const RuntimeOptions& options, const Workers& workers,
               std::shared_ptr<const std::vector<LeftOut>> left_out);

    /// They take part in jobs that the ranks of a cluster share.
    void take_ranks_below(std::unique_ptr<cluster::RanksBelow> ranks) { ranks_below_ = std::move(ranks); }
    /// Throws unsupported if no device can run the job, with the reason for each. `shared`: null if the job
    /// is this process's alone.
    [[nodiscard]] std::shared_ptr<JobExecution> plan(const Job& job,
                                                     std::shared_ptr<const JobObserver> observer,
                                                     std::weak_ptr<Continuations> continuations,
                                                     std::shared_ptr<cluster::SharedJob> shared = nullptr);
    /// The job has ended with success.
    void learn(const Job& job, const JobOutcome& outcome);

private:
    [[nodiscard]] std::vector<JobParticipant> participants_of(const Job& job, const KernelKey& kernel,
                                                              std::vector<LeftOut>& unsuited) const;
    [[nodiscard]] std::shared_ptr<const OneMemory> choose_memory(const Job& job,
                                                                 std::vector<JobParticipant>& participants);
    [[nodiscard]] bool is_to_be_told(const Job& job);
    [[nodiscard]] std::shared_ptr<const std::vector<LeftOut>>
    left_out_and(const std::vector<LeftOut>& unsuited) const;
    [[nodiscard]] std::shared_ptr<EnergyReader> reader_for(const DeviceInfo& device) const;
    [[nodiscard]] std::optional<Estimate> given_power(const DeviceInfo& device) const;
    [[nodiscard]] KernelKey kernel_key(const Job& job) const;
    [[nodiscard]] const std::string& policy_name(const Job& job) const;
    [[nodiscard]] std::unique_ptr<Policy> policy_of(const Job& job) const;
    [[nodiscard]] bool chooses_coexecution_sets(const Job& job) const;

    const RuntimeOptions& options_;
    const Workers& workers_;
    const std::shared_ptr<const std::vector<LeftOut>> left_out_;
    const std::unique_ptr<PerformanceModel> model_;
    StandbyChoice sets_;
    std::vector<std::shared_ptr<EnergyReader>> energy_; ///< for each worker's device
    std::set<std::string_view> technologies_;           ///< of all devices
    std::unique_ptr<cluster::RanksBelow> ranks_below_;  ///< null: there is one process
    std::atomic<std::uint64_t> next_number_ = 0;
    std::mutex mutex_;
    std::set<std::string> told_of_one_memory_; ///< names of kernels
};

} // namespace headrace
