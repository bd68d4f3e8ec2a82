// domains/jobs/runtime.cpp - see runtime.hpp.
#include "execution/footprint.hpp"
#include "jobs/continuations.hpp"
#include "jobs/job_order.hpp"
#include "jobs/running_jobs.hpp"
#include <headrace/core/log.hpp>
#include <headrace/devices/energy/meter_of.hpp>
#include <headrace/domains/calibrations.hpp>
#include <headrace/domains/runtime.hpp>
#include <headrace/internal/core/coexecution_sets.hpp>
#include <headrace/internal/devices/serial_executor.hpp>
#include <headrace/internal/domains/device_worker.hpp>
#include <headrace/internal/domains/watchdog.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace headrace {
namespace {

/// The reason why this device cannot run the job; empty: it can.
std::string obstacle(const Job& job, const DeviceInfo& device) {
    if (!job.devices().empty() && std::ranges::find(job.devices(), device.id) == job.devices().end())
        return fmt::format("the job is for {} only", fmt::join(job.devices(), ", "));
    if (!job.variant(device.technology)) return "the job has no kernel for " + device.technology;
    return why_too_large(job, device);
}

/// Checks that every name with a power is a kind of device, or a device that was found.
void check_powers(const std::map<std::string, double>& powers, const std::vector<const DeviceInfo*>& devices,
                  const std::vector<LeftOut>& left_out) {
    for (const auto& [name, power] : powers) {
        const auto is_kind = [&name = name](DeviceKind kind) { return to_string(kind) == name; };
        constexpr std::array kinds{DeviceKind::cpu, DeviceKind::gpu, DeviceKind::accelerator};
        if (std::ranges::any_of(kinds, is_kind) ||
            std::ranges::find(devices, name, &DeviceInfo::id) != devices.end() ||
            std::ranges::find(left_out, name, &LeftOut::id) != left_out.end())
            continue;
        std::vector<std::string> ids, kind_names;
        for (const DeviceInfo* const device : devices) ids.push_back(device->id);
        for (const DeviceKind kind : kinds) kind_names.emplace_back(to_string(kind));
        throw Error{ErrorKind::not_found,
                    fmt::format("'{}' is given a power, and is no device here ({}) nor a kind of them ({})",
                                name, fmt::join(ids, ", "), fmt::join(kind_names, ", "))};
    }
}

/// The power that the user gives for a device; nothing if the user gives none at all.
std::optional<Estimate> given_power(const RuntimeOptions& options, const DeviceInfo& device) {
    if (options.powers.empty()) return std::nullopt;
    for (const std::string& name : {device.id, std::string(to_string(device.kind))})
        if (const auto power = options.powers.find(name); power != options.powers.end())
            return Estimate{.peak = power->second, .units_per_second = {}};
    return Estimate{};
}

/// Key of a device, of a co-execution set, or of all devices: name, kernel, work units, bytes.
using Problem = std::tuple<std::string, std::string, std::uint64_t, Bytes>;

Problem problem_of(std::string whose, const KernelKey& kernel) {
    return {std::move(whose), kernel.kernel, kernel.work_units, kernel.bytes};
}

/// Values by problem, for the lifetime of the process. Problems that grow from job to job are never repeated;
/// when 4096 are stored, all are removed.
template <class Value>
class ByProblem {
public:
    void remember(Problem problem, Value value) {
        constexpr std::size_t most = 4096;
        if (known_.size() == most && !known_.contains(problem)) known_.clear();
        known_.insert_or_assign(std::move(problem), std::move(value));
    }
    [[nodiscard]] std::optional<Value> recall(const Problem& problem) const {
        const auto known = known_.find(problem);
        return known == known_.end() ? std::nullopt : std::optional(known->second);
    }

private:
    std::map<Problem, Value> known_;
};

} // namespace

class Runtime::Impl final : public JobSource {
public:
    Impl(DeviceSelection selection, RuntimeOptions options)
        : options_(std::move(options)),
          model_(make_model(options_.model)),
          left_out_(std::make_shared<std::vector<LeftOut>>(std::move(selection.left_out))) {
        if (selection.devices.empty()) throw Error{ErrorKind::invalid_argument, "a runtime needs a device"};
        for (std::size_t i = 0; i < selection.devices.size(); ++i)
            take_on(std::move(selection.devices[i]), selection.controllers.at(i), selection.named);
        if (workers_.empty()) throw Error{ErrorKind::device, "no device starts: " + reasons(*left_out_)};
        check_powers(options_.powers, devices(), *left_out_);
        for (const auto& worker : workers_) {
            energy_.push_back(reader_for(worker->device().info()));
            technologies_.insert(worker->device().info().technology);
        }
        if (options_.patience > options_.patience.zero())
            watchdog_.emplace(
                options_.patience, [this] { return unfinished(); }, options_.on_hang);
    }

    ~Impl() {
        const auto going = std::make_shared<const Error>(ErrorKind::cancelled, "the runtime is going away");
        {
            const std::scoped_lock lock(mutex_);
            is_going_ = true; // functions that run when jobs end may submit others
        }
        for (const auto& job : unfinished()) job->stop(going);
        wake_all();
        std::unique_lock lock(mutex_);
        nobody_is_left_.wait(lock, [this] { return jobs_.empty() && starting_ == 0; });
        lock.unlock();
        continuations_->close(); // waits for running functions
        for (const auto& worker : workers_) worker->stop();
    }

    [[nodiscard]] const ProcessMark& process() const noexcept { return process_; }

    JobHandle submit(const Job& job) {
        process_.check("a Runtime");
        TaskScope::check_may_submit();
        auto execution = make_execution(job);
        {
            const std::scoped_lock lock(mutex_);
            if (is_going_) throw Error{ErrorKind::cancelled, "the runtime is going away"}.in_job(job.name());
            jobs_.emplace(execution->scheduling().number, execution);
        }
        std::vector<Predecessor> before = enter(job, execution->node());
        for (std::size_t i = 0; i < workers_.size(); ++i) // one that retired before it could see this job
            if (const ErrorPtr retired = workers_[i]->retired()) execution->retire(i, retired, {});
        execution->event().then([this, job = execution.get()](const ErrorPtr&) { ended(*job); });
        when_ended(std::move(before), [this, execution](const ErrorPtr& error) {
            // An ended job may have ended with this runtime: the destructor waits only for held jobs.
            if (execution->hold_for_start()) start_in_turn(execution, error);
        });
        return JobHandle(execution);
    }

    [[nodiscard]] std::vector<const DeviceInfo*> devices() const {
        std::vector<const DeviceInfo*> infos;
        for (const auto& worker : workers_) infos.push_back(&worker->device().info());
        return infos;
    }
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) const {
        const auto gpu = std::ranges::find_if(workers_, [](const auto& worker) {
            return !worker->device().info().shares_host_memory && !worker->retired();
        });
        return (gpu == workers_.end() ? workers_.front() : *gpu)->device().allocate_host(size);
    }
    [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return *left_out_; }

private:
    /// A probe run: a job of a co-execution set that had completed `jobs` jobs. Of jobs that are submitted
    /// together only one is a probe run. Its time is known when it has ended, or never if other jobs disturb
    /// it.
    struct ProbeRun {
        std::size_t jobs;
        std::chrono::steady_clock::time_point began;
    };
    static constexpr std::chrono::seconds between_probe_runs{1};

    /// A device that does not start is left out, unless the user selected it by name.
    void take_on(std::unique_ptr<Device> device, const ControllerOptions& how,
                 const std::vector<std::string>& named) {
        const DeviceInfo info = device->info();
        try {
            workers_.push_back(std::make_unique<DeviceWorker>(workers_.size(), std::move(device), how,
                                                              options_.window, *this));
        } catch (const Error& error) {
            if (std::ranges::find(named, info.id) != named.end()) throw;
            log_warning(fmt::format("{} is left out: {}", info.id, error.what()));
            left_out_->push_back({info.id, info.name, error.what()});
        }
    }

    /// The same reader for all devices that are one piece of hardware.
    [[nodiscard]] std::shared_ptr<EnergyReader> reader_for(const DeviceInfo& device) const {
        for (std::size_t i = 0; i < energy_.size(); ++i)
            if (!device.physical_id.empty() && workers_[i]->device().info().physical_id == device.physical_id)
                return energy_[i];
        return std::make_shared<EnergyReader>(energy_meter_of(device));
    }

    std::shared_ptr<JobExecution> make_execution(const Job& job) {
        std::vector<JobExecution::Participant> participants;
        std::vector<LeftOut> unsuited;
        const KernelKey kernel = kernel_key(job);
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            const DeviceInfo& info = workers_[i]->device().info();
            std::string why = obstacle(job, info);
            if (const ErrorPtr retired = workers_[i]->retired()) why = retired->what();
            if (why.empty()) {
                participants.push_back({i, &info,
                                        given_power(options_, info).value_or(model_->estimate(info, kernel)),
                                        energy_[i]});
                continue;
            }
            unsuited.push_back({info.id, info.name, why});
        }
        if (participants.empty())
            throw Error{ErrorKind::unsupported, "no device can run this job (" + reasons(unsuited) + ")"}
                .in_job(job.name());
        for (auto& participant : participants) {
            const auto jobs = model_->whole_jobs(std::array{participant.info}, kernel);
            participant.seconds_alone =
                jobs ? std::optional(jobs->seconds) : seconds_alone(*participant.info, kernel);
        }
        auto one_memory = choose_memory(job, participants);
        const double expected =
            chooses_coexecution_sets(job) && !one_memory ? put_on_standby(participants, kernel) : 0;
        std::unique_ptr<Policy> policy =
            job.own_policy() ? job.own_policy()() : make_policy(policy_name(job));
        if (!policy)
            throw Error{ErrorKind::invalid_argument,
                        "the function that makes its policy '" + policy_name(job) + "' returned none"}
                .in_job(job.name());
        Job own = job;
        own.keep_variants(technologies_);
        return std::make_shared<JobExecution>(
            std::move(own),
            JobExecution::Scheduling{std::move(policy), policy_name(job),
                                     options_.model != "peak" && options_.powers.empty(), expected, observer_,
                                     kernel,
                                     next_number_.fetch_add(1, std::memory_order_relaxed), // only a number
                                     continuations_, std::move(one_memory)},
            std::move(participants), left_out_and(unsuited));
    }

    /// The devices that take no part in a job; usually the same for all jobs.
    [[nodiscard]] std::shared_ptr<const std::vector<LeftOut>>
    left_out_and(const std::vector<LeftOut>& unsuited) const {
        if (unsuited.empty()) return left_out_;
        auto all = std::make_shared<std::vector<LeftOut>>(*left_out_);
        all->insert(all->end(), unsuited.begin(), unsuited.end());
        return all;
    }

    /// Tasks of a job that writes all of a domain work on one memory. Chooses the memory with the devices
    /// that are predicted to end the job first: by whole jobs that each device ran alone, or else by their
    /// speeds. Null if the job writes no domain in this way, or if all devices work on one memory.
    std::shared_ptr<const OneMemory> choose_memory(const Job& job,
                                                   std::vector<JobExecution::Participant>& participants) {
        const auto use = std::ranges::find_if(job.uses(), &Job::Use::is_of_one_replica);
        if (use == job.uses().end()) return nullptr;
        constexpr std::size_t of_host = 0;
        for (JobExecution::Participant& participant : participants) {
            const Controller& controller = workers_[participant.device]->controller();
            const bool is_in_place = std::ranges::all_of(job.uses(), [&](const Job::Use& one) {
                return !one.is_of_one_replica() || controller.is_in_place(one.slice.data->storage());
            });
            participant.memory = is_in_place ? of_host : participant.device + 1;
        }
        const auto all_know = [&](const auto& known) { return std::ranges::all_of(participants, known); };
        const bool are_measured =
            all_know([](const auto& one) { return one.estimate.units_per_second.has_value(); });
        const bool are_timed = all_know([](const auto& one) { return one.seconds_alone.has_value(); });
        std::map<std::size_t, double> speeds; // by memory
        for (const auto& one : participants) {
            const Estimate& estimate = one.estimate;
            speeds[one.memory] += are_timed      ? 1 / *one.seconds_alone
                                  : are_measured ? *estimate.units_per_second
                                                 : estimate.peak;
        }
        if (speeds.size() == 1) return nullptr;
        const auto best = std::ranges::max_element(speeds, {}, &decltype(speeds)::value_type::second)->first;
        std::vector<std::string> ids;
        for (const auto& participant : participants)
            if (participant.memory == best) ids.push_back(participant.info->id);
        const std::string& domain = use->slice.data->name();
        const std::string why =
            fmt::format("any task may write any element of domain '{0}', so that all of them work on one "
                        "memory, that of {1}; for several use scatters({0}), or writes() or updates() of "
                        "rows({0}) or part({0}, f)",
                        domain, fmt::join(ids, ", "));
        const auto one = std::make_shared<const OneMemory>(best, why);
        {
            const std::scoped_lock lock(mutex_);
            if (job.work_units() <= job.grain()) return one;                    // one task in any case
            if (told_of_one_memory_.size() > 1000) told_of_one_memory_.clear(); // names may be generated
            if (!told_of_one_memory_.insert(job.kernel_name()).second) return one;
        }
        log_warning(fmt::format("job '{}' is done by {} alone: {}", job.name(), fmt::join(ids, ", "), why));
        return one;
    }

    /// The key for measurements of jobs like this one.
    [[nodiscard]] KernelKey kernel_key(const Job& job) const {
        const bool is_natural = options_.memory == MemoryModel::natural;
        const char* const memory = options_.memory == MemoryModel::unified ? ", unified" : ", buffers";
        return {.kernel = job.kernel_name() + (is_natural ? "" : memory),
                .work_units = job.work_units(),
                .bytes = job.bytes()};
    }

    [[nodiscard]] const std::string& policy_name(const Job& job) const {
        return job.policy_name().empty() ? options_.policy : job.policy_name();
    }

    /// Not with other policies, which have reasons of their own, nor if the user gives the speeds of devices.
    [[nodiscard]] bool chooses_coexecution_sets(const Job& job) const {
        return policy_name(job) == "adaptive" && !job.own_policy() && options_.powers.empty();
    }

    /// With mutex_ held: true if the set that has completed `jobs` jobs has a further one, not measured yet.
    [[nodiscard]] bool has_probe_run(const Problem& problem, const std::optional<WholeJobs>& jobs,
                                     std::chrono::steady_clock::time_point now) const {
        const auto probe = probe_runs_.recall(problem);
        return probe && probe->jobs == (jobs ? jobs->jobs : 0) && now - probe->began < between_probe_runs;
    }

    /// For a device that may run a job alone, a brief measurement is better than none; policies do not use
    /// it.
    [[nodiscard]] Estimate with_brief_rate(const JobExecution::Participant& participant,
                                           const KernelKey& kernel) const {
        Estimate estimate = participant.estimate;
        if (estimate.units_per_second) return estimate;
        const std::scoped_lock lock(mutex_);
        estimate.units_per_second = brief_rates_.recall(problem_of(participant.info->id, kernel));
        return estimate;
    }

    /// Puts devices on standby without which such jobs were faster. Returns the expected seconds of the job;
    /// 0: all devices take part.
    double put_on_standby(std::vector<JobExecution::Participant>& participants, const KernelKey& kernel) {
        if (participants.size() < 2) return 0;
        std::vector<Estimate> estimates;
        for (const auto& participant : participants)
            estimates.push_back(with_brief_rate(participant, kernel));
        const Problem problem = problem_of("all", kernel);
        const auto now = std::chrono::steady_clock::now();
        const auto whole_jobs = [&](const CoexecutionSet& set) {
            std::vector<const DeviceInfo*> infos;
            for (const std::size_t i : set) infos.push_back(participants[i].info);
            return model_->whole_jobs(infos, kernel);
        };
        const auto ids_of = [&](const CoexecutionSet& set) {
            std::string ids;
            for (const std::size_t i : set) ids += (ids.empty() ? "" : ", ") + participants[i].info->id;
            return ids;
        };
        const KnownJobs known = [&](const CoexecutionSet& set) {
            auto jobs = whole_jobs(set);
            const std::scoped_lock lock(mutex_);
            if (set.size() < participants.size()) {
                if (has_probe_run(problem_of(ids_of(set), kernel), jobs, now))
                    jobs =
                        WholeJobs{.seconds = std::numeric_limits<double>::infinity(), .jobs = jobs_that_tell};
            } else if (const auto last = all_began_.recall(problem); jobs && last) {
                // A job that has not ended, or that gives no measurement, counts as well.
                jobs->seconds_ago =
                    std::min(jobs->seconds_ago, std::chrono::duration<double>(now - *last).count());
            }
            return jobs;
        };
        const CoexecutionSet set = choose_coexecution_set(estimates, kernel.work_units, known);
        if (set.size() == participants.size()) {
            const std::scoped_lock lock(mutex_);
            all_began_.remember(problem, now);
            return 0;
        }
        CoexecutionSet all(participants.size());
        std::iota(all.begin(), all.end(), 0);
        const double together = whole_jobs(all)->seconds;
        const auto without = whole_jobs(set);
        const bool is_settled = without && without->jobs >= jobs_that_tell;
        const std::string others = ids_of(set);
        if (!is_settled) {
            const std::scoped_lock lock(mutex_);
            probe_runs_.remember(problem_of(others, kernel), {without ? without->jobs : 0, now});
        }
        const std::string why = fmt::format(
            "such jobs took {:.4g} s with all devices; {} with {} only", together,
            is_settled ? fmt::format("{:.4g} s", without->seconds) : std::string("now it is tried"), others);
        for (std::size_t i = 0; i < participants.size(); ++i)
            if (!std::ranges::binary_search(set, i)) participants[i].standby = why;
        return is_settled ? without->seconds : together;
    }

    /// All predecessors of the job have ended. The job is held for its start.
    void start_in_turn(const std::shared_ptr<JobExecution>& job, const ErrorPtr& predecessor_failed) {
        job->node()->forget_past();
        if (predecessor_failed) {
            job->stop(predecessor_failed);
            return job->release();
        }
        bool runs = false;
        {
            const std::scoped_lock lock(mutex_);
            runs = running_.begin(job);
            starting_ += runs ? 1 : 0;
        }
        if (runs) return start(job);
        job->release(); // a stopped job need not wait for its turn; it and this runtime may end here
    }

    /// Starts a job that runs from now on; starting_ includes it.
    void start(const std::shared_ptr<JobExecution>& job) {
        JobExecution& execution = *job;
        {
            const std::scoped_lock lock(mutex_);
            // Device time that others of its priority had before does not count.
            double least = std::numeric_limits<double>::infinity();
            for (const auto& other : running_.all())
                if (other != job && other->job().priority() == execution.job().priority())
                    least = std::min(least, other->forecast().charged_seconds());
            if (std::isfinite(least)) execution.charge_at_least(least);
            // Their times now depend on each other, and are no measurements of the jobs.
            for (const auto& other : running_.all()) {
                if (other == job || other->event().done()) continue;
                other->disturb();
                execution.disturb();
            }
        }
        // Private replicas are joined before another use of their domain. That blocks. If an event called
        // this function, the join would wait for events, and their continuations wait for this one: so
        // another thread runs it.
        std::vector<std::shared_ptr<DomainData>> joined;
        for (const Job::Use& use : execution.job().uses())
            if (const Joining* const joining = use.slice.data->joining(); joining && joining != use.joining)
                joined.push_back(use.slice.data);
        if (joined.empty()) return begin(execution);
        starter_.post([this, job, joined = std::move(joined)] {
            try {
                for (const auto& domain : joined) domain->join();
            } catch (...) {
                job->stop(current_error(ErrorKind::internal));
            }
            begin(*job);
        });
    }

    void begin(JobExecution& execution) {
        execution.start();
        // Devices that begin with it are woken first: a wake-up may take as long as the begin of a task.
        std::vector<DeviceWorker*> others;
        for (std::size_t i = 0; i < workers_.size(); ++i)
            if (execution.forecast().wants(i))
                workers_[i]->wake();
            else
                others.push_back(workers_[i].get());
        for (DeviceWorker* const worker : others) worker->wake();
        const std::scoped_lock lock(mutex_);
        --starting_;
        nobody_is_left_.notify_all(); // under the lock, as in ended()
    }

    void ended(JobExecution& execution) {
        std::vector<std::shared_ptr<JobExecution>> next;
        std::shared_ptr<JobExecution> last; // it may be destroyed with this runtime: not under the lock
        {
            const std::scoped_lock lock(mutex_);
            next = running_.end(execution);
            starting_ += next.size();
            if (const auto mine = jobs_.find(execution.scheduling().number); mine != jobs_.end()) {
                last = std::move(mine->second);
                jobs_.erase(mine);
            }
            // Under the lock: when it is released, the destructor may return and this runtime is gone.
            nobody_is_left_.notify_all();
            for (const auto& worker : workers_) worker->wake();
        }
        for (const auto& job : next) start(job);
    }

    void learn(const Job& job, const JobOutcome& outcome) {
        for (const auto& [device, rate, is_brief] : outcome.measurements) {
            if (is_brief) {
                if (workers_.size() == 1) continue; // these values are not used
                const std::scoped_lock lock(mutex_);
                brief_rates_.remember(problem_of(device->id, outcome.kernel), rate);
            } else if (!outcome.was_disturbed || !model_->estimate(*device, outcome.kernel).certain) {
                model_->measured(*device, outcome.kernel, rate);
            }
        }
        const bool tells = chooses_coexecution_sets(job) || !outcome.has_several_devices;
        if (!tells || outcome.was_disturbed || outcome.has_losses) return;
        if (!std::isfinite(outcome.seconds_of_coexecution_set)) return;
        model_->took(outcome.set, outcome.kernel, outcome.seconds_of_coexecution_set);
        if (outcome.set.size() > 1 || workers_.size() == 1) return; // these values are not used
        const std::scoped_lock lock(mutex_);
        alone_.remember(problem_of(outcome.set.front()->id, outcome.kernel),
                        outcome.seconds_of_coexecution_set);
    }

    /// The time of the last such job, even if the model does not keep it.
    [[nodiscard]] std::optional<double> seconds_alone(const DeviceInfo& device,
                                                      const KernelKey& kernel) const {
        const std::scoped_lock lock(mutex_);
        return alone_.recall(problem_of(device.id, kernel));
    }

    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> unfinished() const override {
        const std::scoped_lock lock(mutex_);
        std::vector<std::shared_ptr<JobExecution>> jobs;
        jobs.reserve(jobs_.size());
        for (const auto& [number, job] : jobs_) jobs.push_back(job);
        return jobs;
    }

    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> running() const override {
        const std::scoped_lock lock(mutex_);
        return running_.all();
    }

    /// The highest priority first; of equal priority, jobs that have had the least device time.
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> by_turn() const override {
        auto jobs = running();
        if (jobs.size() < 2) return jobs;
        std::vector<Turn> turns;
        for (const auto& job : jobs)
            turns.push_back({job->job().priority(), job->forecast().charged_seconds()});
        std::vector<std::shared_ptr<JobExecution>> ordered;
        for (const std::size_t i : order_of_turns(turns)) ordered.push_back(jobs[i]);
        return ordered;
    }

    void wake_all() override {
        for (const auto& worker : workers_) worker->wake();
    }

    const ProcessMark process_;
    const RuntimeOptions options_;
    const std::unique_ptr<PerformanceModel> model_;
    const std::shared_ptr<const JobListener> observer_ = std::make_shared<const JobListener>(
        [this] { wake_all(); }, [this](const Job& job, const JobOutcome& outcome) { learn(job, outcome); });
    const std::shared_ptr<std::vector<LeftOut>> left_out_; ///< complete when the runtime has started
    mutable std::mutex mutex_;
    std::size_t starting_ = 0; ///< jobs, in start()
    bool is_going_ = false;
    std::condition_variable nobody_is_left_;
    std::atomic<std::uint64_t> next_number_ = 0;
    std::map<std::uint64_t, std::shared_ptr<JobExecution>> jobs_; // not ended, in the order of submission
    RunningJobs running_;                                         // a part of these
    SerialExecutor starter_{SerialExecutor::Kind::may_call_drivers};
    std::shared_ptr<Continuations> continuations_ = std::make_shared<Continuations>();
    std::set<std::string> told_of_one_memory_;                   // names of kernels
    ByProblem<double> alone_;                                    // seconds
    ByProblem<double> brief_rates_;                              // in units per second; no model keeps them
    ByProblem<ProbeRun> probe_runs_;                             // the last one of each set
    ByProblem<std::chrono::steady_clock::time_point> all_began_; // the start of the last job on all devices
    std::vector<std::shared_ptr<EnergyReader>> energy_;          // for each worker's device
    std::set<std::string_view> technologies_;                    // of all devices
    std::vector<std::unique_ptr<DeviceWorker>> workers_;         // after the rest: their threads use it
    std::optional<Watchdog> watchdog_;                           // its thread uses the rest too
};

namespace {
std::vector<ControllerOptions> with(MemoryModel memory, std::vector<ControllerOptions> controllers) {
    for (ControllerOptions& controller : controllers) {
        controller.private_copies |= memory == MemoryModel::buffers;
        controller.host_in_place = memory == MemoryModel::unified;
    }
    return controllers;
}

/// Checks only the name: a model that keeps measurements reads them in its constructor.
void check_model(std::string_view name) {
    if (name != "calibrated" && name != "online" && name != "peak")
        throw Error{ErrorKind::not_found, "there is no performance model '" + std::string(name) +
                                              "'; there is calibrated, online, peak"};
}

RuntimeOptions checked(RuntimeOptions options) {
    static_cast<void>(make_policy(options.policy)); // before devices are opened
    check_model(options.model);
    for (const auto& [device, power] : options.powers)
        if (!(power > 0) || !std::isfinite(power))
            throw Error{ErrorKind::invalid_argument, "the power of '" + device + "' is to be above zero"};
    return options;
}
} // namespace

std::unique_ptr<PerformanceModel> make_model(std::string_view name) {
    check_model(name);
    if (name == "calibrated") return std::make_unique<Calibrations>();
    return std::make_unique<PerformanceModel>();
}

Runtime::Runtime(RuntimeOptions options) {
    options = checked(std::move(options));
    DeviceSelection selection = select_devices(options.devices);
    selection.controllers = with(options.memory, std::move(selection.controllers));
    impl_ = std::make_unique<Impl>(std::move(selection), std::move(options));
}

Runtime::Runtime(std::vector<std::unique_ptr<Device>> devices, RuntimeOptions options) {
    options = checked(std::move(options));
    DeviceSelection selection;
    selection.controllers = with(options.memory, std::vector<ControllerOptions>(devices.size()));
    selection.devices = std::move(devices);
    impl_ = std::make_unique<Impl>(std::move(selection), std::move(options));
}

Runtime::~Runtime() {
    // In a forked child there are no threads to end, and mutexes may be locked.
    if (!impl_->process().is_of_this_process()) static_cast<void>(impl_.release());
}

JobHandle Runtime::submit(const Job& job) { return impl_->submit(job); }
std::vector<const DeviceInfo*> Runtime::devices() const { return impl_->devices(); }
std::shared_ptr<void> Runtime::allocate_host(Bytes size) const { return impl_->allocate_host(size); }
const std::vector<LeftOut>& Runtime::left_out() const noexcept { return impl_->left_out(); }

} // namespace headrace
