// internal/domains/job_scheduling.hpp - what the runtime decides about a job when it is submitted: which
// devices take part, and by which policy. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>
#include <headrace/core/policy.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/domains/energy_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

namespace cluster {
class SharedJob;
}
class Continuations;
struct JobOutcome;

/// A device that takes part, with its number in the runtime.
struct JobParticipant {
    std::size_t device;
    const DeviceInfo* info;
    Estimate estimate;
    std::shared_ptr<EnergyReader> energy = nullptr; ///< null: not measured
    std::string standby = {}; ///< why it is on standby; empty: it is in the co-execution set
    /// The memory on which it works, if all tasks of the job work on one memory.
    std::size_t memory = 0;
    std::optional<double> seconds_alone = {}; ///< of the job on this device alone, for the report
    bool is_rank = false;                     ///< another rank of the cluster, with all ranks below it
    unsigned devices = 1;                     ///< that it consists of
};

/// The devices of a job. A place is an index among them: the schedule, policies and reports use places, and
/// workers use the numbers of the runtime.
///
/// Threads   any: it does not change
class HEADRACE_EXPORT JobParticipants {
public:
    explicit JobParticipants(std::vector<JobParticipant> all);

    [[nodiscard]] const std::vector<JobParticipant>& all() const noexcept { return all_; }
    [[nodiscard]] const JobParticipant& operator[](std::size_t place) const { return all_[place]; }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    /// Nothing: the device takes no part.
    [[nodiscard]] std::optional<std::size_t> participant_of(std::size_t device) const;
    /// The numbers of the devices that the job can use.
    [[nodiscard]] std::vector<std::size_t> devices() const;
    [[nodiscard]] bool are_several() const noexcept { return all_.size() > 1; }
    [[nodiscard]] bool are_only_cpus() const noexcept { return only_cpus_; }

private:
    std::vector<JobParticipant> all_;
    bool only_cpus_;
};

/// For a job that writes all of a domain: its tasks work on one memory.
struct OneMemory {
    std::size_t first;    ///< the memory at the start
    std::string why = {}; ///< for the report of devices that therefore have no work
};

/// What all jobs of a runtime share: it receives their notices.
struct JobObserver {
    /// Called under the job's lock: devices that were refused should ask again.
    std::function<void()> ask_again = {};
    /// Called when the job has ended with success, before any waiter is notified.
    std::function<void(const Job&, const JobOutcome&)> done = {};
    std::string policy_name = {}; ///< of jobs that name none
};

struct JobScheduling {
    std::unique_ptr<Policy> policy;
    bool learns = true;          ///< measurements update capabilities
    double expected_seconds = 0; ///< with devices on standby: they join after twice this time
    std::shared_ptr<const JobObserver> observer = nullptr;
    KernelKey kernel = {};                                 ///< key of measurements for jobs like this one
    std::uint64_t number = 0;                              ///< of the submission, in its runtime
    std::weak_ptr<Continuations> continuations = {};       ///< of the runtime
    std::shared_ptr<const OneMemory> one_memory = nullptr; ///< null: each device works on its own memory
    std::shared_ptr<cluster::SharedJob> shared = nullptr;  ///< null: the job is this process's alone
};

/// The schedule of a job that starts; takes the policy. `job` must outlive it.
[[nodiscard]] Schedule make_schedule(const Job& job, JobScheduling& scheduling,
                                     const JobParticipants& participants);

} // namespace headrace
