// domains/jobs/job_planner.cpp - see job_planner.hpp.
#include "jobs/job_planner.hpp"
#include "execution/footprint.hpp"
#include "jobs/continuations.hpp"
#include <headrace/core/log.hpp>
#include <headrace/devices/energy/meter_of.hpp>
#include <headrace/internal/domains/cluster/shared_job.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
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

} // namespace

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

JobPlanner::JobPlanner(const RuntimeOptions& options, const Workers& workers,
                       std::shared_ptr<const std::vector<LeftOut>> left_out)
    : options_(options),
      workers_(workers),
      left_out_(std::move(left_out)),
      model_(make_model(options.model)),
      sets_(*model_, workers.size() == 1) {
    for (const auto& worker : workers_) {
        energy_.push_back(reader_for(worker->device().info()));
        technologies_.insert(worker->device().info().technology);
    }
}

/// The same reader for all devices that are one piece of hardware.
std::shared_ptr<EnergyReader> JobPlanner::reader_for(const DeviceInfo& device) const {
    for (std::size_t i = 0; i < energy_.size(); ++i)
        if (!device.physical_id.empty() && workers_[i]->device().info().physical_id == device.physical_id)
            return energy_[i];
    return std::make_shared<EnergyReader>(energy_meter_of(device));
}

/// The power that the user gives for a device; nothing if the user gives none at all.
std::optional<Estimate> JobPlanner::given_power(const DeviceInfo& device) const {
    if (options_.powers.empty()) return std::nullopt;
    for (const std::string& name : {device.id, std::string(to_string(device.kind))})
        if (const auto power = options_.powers.find(name); power != options_.powers.end())
            return Estimate{.peak = power->second, .units_per_second = {}};
    return Estimate{};
}

std::shared_ptr<JobExecution> JobPlanner::plan(const Job& job, std::shared_ptr<const JobObserver> observer,
                                               std::weak_ptr<Continuations> continuations,
                                               std::shared_ptr<cluster::SharedJob> shared) {
    std::vector<LeftOut> unsuited;
    const KernelKey kernel = kernel_key(job);
    std::vector<JobParticipant> participants = participants_of(job, kernel, unsuited);
    auto one_memory = choose_memory(job, participants);
    const double expected =
        chooses_coexecution_sets(job) && !one_memory ? sets_.put_on_standby(participants, kernel) : 0;
    if (shared)
        for (const cluster::RankBelow& below : ranks_below_->now())
            participants.push_back(
                {.device = cluster::device_of_rank(below.rank),
                 .info = &below.info,
                 .estimate = given_power(below.info).value_or(model_->estimate(below.info, kernel)),
                 .is_rank = true,
                 .devices = below.devices});
    JobScheduling scheduling{.policy = policy_of(job),
                             .learns = options_.model != "peak" && options_.powers.empty(),
                             .expected_seconds = expected,
                             .observer = std::move(observer),
                             .kernel = kernel,
                             .number = next_number_.fetch_add(1, std::memory_order_relaxed), // only a number
                             .continuations = std::move(continuations),
                             .one_memory = std::move(one_memory),
                             .shared = std::move(shared)};
    Job own = job;
    own.keep_variants(technologies_);
    const bool is_shared = scheduling.shared != nullptr;
    auto execution = JobExecution::make(std::move(own), std::move(scheduling), std::move(participants),
                                        left_out_and(unsuited));
    if (is_shared) execution->disturb(); // its times are not those of this process's devices alone
    return execution;
}

std::vector<JobParticipant> JobPlanner::participants_of(const Job& job, const KernelKey& kernel,
                                                        std::vector<LeftOut>& unsuited) const {
    std::vector<JobParticipant> participants;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        const DeviceInfo& info = workers_[i]->device().info();
        std::string why = obstacle(job, info);
        if (const ErrorPtr retired = workers_[i]->retired()) why = retired->what();
        if (why.empty())
            participants.push_back(
                {i, &info, given_power(info).value_or(model_->estimate(info, kernel)), energy_[i]});
        else
            unsuited.push_back({info.id, info.name, why});
    }
    if (participants.empty())
        throw Error{ErrorKind::unsupported, "no device can run this job (" + reasons(unsuited) + ")"}.in_job(
            job.name());
    for (auto& participant : participants) {
        const auto jobs = model_->whole_jobs(std::array{participant.info}, kernel);
        participant.seconds_alone =
            jobs ? std::optional(jobs->seconds) : sets_.seconds_alone(*participant.info, kernel);
    }
    return participants;
}

std::unique_ptr<Policy> JobPlanner::policy_of(const Job& job) const {
    std::unique_ptr<Policy> policy = job.own_policy() ? job.own_policy()() : make_policy(policy_name(job));
    if (!policy)
        throw Error{ErrorKind::invalid_argument,
                    "the function that makes its policy '" + policy_name(job) + "' returned none"}
            .in_job(job.name());
    return policy;
}

/// The devices that take no part in a job; usually the same for all jobs.
std::shared_ptr<const std::vector<LeftOut>>
JobPlanner::left_out_and(const std::vector<LeftOut>& unsuited) const {
    if (unsuited.empty()) return left_out_;
    auto all = std::make_shared<std::vector<LeftOut>>(*left_out_);
    all->insert(all->end(), unsuited.begin(), unsuited.end());
    return all;
}

/// Tasks of a job that writes all of a domain work on one memory. Chooses the memory with the devices
/// that are predicted to end the job first: by whole jobs that each device ran alone, or else by their
/// speeds. Null if the job writes no domain in this way, or if all devices work on one memory.
std::shared_ptr<const OneMemory> JobPlanner::choose_memory(const Job& job,
                                                           std::vector<JobParticipant>& participants) {
    const auto use = std::ranges::find_if(job.uses(), &Job::Use::is_of_one_replica);
    if (use == job.uses().end()) return nullptr;
    constexpr std::size_t of_host = 0;
    for (JobParticipant& participant : participants) {
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
    auto one = std::make_shared<const OneMemory>(best, why);
    if (!is_to_be_told(job)) return one;
    log_warning(fmt::format("job '{}' is done by {} alone: {}", job.name(), fmt::join(ids, ", "), why));
    return one;
}

/// That its tasks work on one memory: once for each kernel.
bool JobPlanner::is_to_be_told(const Job& job) {
    if (job.work_units() <= job.grain()) return false; // one task in any case
    const std::scoped_lock lock(mutex_);
    if (told_of_one_memory_.size() > 1000) told_of_one_memory_.clear(); // names may be generated
    return told_of_one_memory_.insert(job.kernel_name()).second;
}

/// The key for measurements of jobs like this one.
KernelKey JobPlanner::kernel_key(const Job& job) const {
    const bool is_natural = options_.memory == MemoryModel::natural;
    const char* const memory = options_.memory == MemoryModel::unified ? ", unified" : ", buffers";
    return {.kernel = job.kernel_name() + (is_natural ? "" : memory),
            .work_units = job.work_units(),
            .bytes = job.bytes()};
}

const std::string& JobPlanner::policy_name(const Job& job) const {
    return job.policy_name().empty() ? options_.policy : job.policy_name();
}

/// Not with other policies, which have reasons of their own, nor if the user gives the speeds of devices.
bool JobPlanner::chooses_coexecution_sets(const Job& job) const {
    return policy_name(job) == "adaptive" && !job.own_policy() && options_.powers.empty();
}

void JobPlanner::learn(const Job& job, const JobOutcome& outcome) {
    sets_.learn(outcome, chooses_coexecution_sets(job) || !outcome.has_several_devices);
}

} // namespace headrace
