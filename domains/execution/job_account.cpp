// domains/execution/job_account.cpp - what is told of a job, while it runs and afterwards: see
// job_execution.hpp.
#include "execution/schedule_work.hpp"
#include <headrace/internal/domains/job_execution.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

/// What so many units tell of a device's speed that a model may keep it.
constexpr double enough_seconds = 1e-4;

} // namespace

std::vector<const DeviceInfo*> JobExecution::coexecution_set() const {
    const std::scoped_lock lock(mutex_);
    std::vector<const DeviceInfo*> set;
    for (const Share& share : running().shares)
        if (share.participant.standby.empty() && !running().schedule.stands_by(participant_of(share)))
            set.push_back(share.participant.info);
    return set;
}

double JobExecution::seconds_of_coexecution_set() const {
    const double seconds = seconds_so_far();
    const std::scoped_lock lock(mutex_);
    Running& run = running();
    double of_set = 0, of_all = 0;
    for (const Share& share : run.shares) {
        const std::size_t place = participant_of(share);
        const Schedule::Account& account = run.schedule.account(place);
        // Transferred units count as nothing, but took their time.
        const double work = account.units_received > 0
                                ? share.busy_seconds() * run.schedule.rates().capability(place)
                                : static_cast<double>(account.completed);
        of_all += work;
        if (share.participant.standby.empty()) of_set += work;
    }
    return seconds * of_all / of_set;
}

bool JobExecution::has_losses() const {
    const std::scoped_lock lock(mutex_);
    return std::ranges::any_of(running().shares, [&](const Share& share) {
        const Schedule::Account& account = running().schedule.account(participant_of(share));
        return account.is_lost || account.is_full;
    });
}

std::vector<JobExecution::Measurement> JobExecution::measurements() const {
    const std::scoped_lock lock(mutex_);
    Running& run = running();
    std::vector<Measurement> measurements;
    for (std::size_t i = 0; i < run.shares.size(); ++i)
        if (const auto rate = run.schedule.rates().units_per_second(i);
            rate && !run.schedule.account(i).is_lost)
            measurements.push_back(
                {run.shares[i].participant.info, *rate, run.shares[i].busy_seconds() <= enough_seconds});
    return measurements;
}

double JobExecution::seconds_so_far() const {
    const std::scoped_lock lock(mutex_);
    return seconds_taken();
}

std::uint64_t JobExecution::finished_units() const {
    const std::scoped_lock lock(mutex_);
    return running().schedule.completed_units();
}

ExecutionStatus JobExecution::status() const {
    const std::scoped_lock lock(mutex_);
    ExecutionStatus status{.job = job_.name(),
                           .work_units = job_.work_units(),
                           .started = started_,
                           .last_sign = {},
                           .tasks = {}};
    if (!running_) return status;
    status.finished = running_->schedule.completed_units();
    status.last_sign = running_->last_sign;
    for (const auto& [of, task] : running_->in_flight) {
        status.tasks.push_back(task);
        status.tasks.back().begun =
            running_->schedule.begun_units(participant_of(task.number), work_of(task.work_range));
    }
    return status;
}

DeviceReport JobExecution::report_of(const Share& share) const {
    const Counters& counters = share.counters;
    const std::size_t place = participant_of(share);
    const Schedule& schedule = running().schedule;
    const Schedule::Account& account = schedule.account(place);
    return {.id = share.participant.info->id,
            .name = share.participant.info->name,
            .kind = share.participant.info->kind,
            .capability = schedule.relative_capability(place),
            .tasks = counters.tasks,
            .work_units = account.completed,
            .share = static_cast<double>(account.completed) /
                     static_cast<double>(std::max<std::uint64_t>(job_.work_units(), 1)),
            .busy_seconds = share.busy_seconds(),
            .finished_seconds = counters.finished_seconds,
            .slowdown = schedule.rates().slowdown(place),
            .bytes_in = counters.bytes_in,
            .bytes_out = counters.bytes_out,
            .seeds_transferred = account.seeds_transferred,
            .units_transferred = account.units_transferred,
            .units_received = account.units_received,
            .engine = counters.engine,
            .energy_joules = {},
            .energy_delay_product = {},
            .reserve = account.is_spared ? scheduling_.one_memory->why : share.participant.standby,
            .failure = share.loss ? share.loss->what() : ""};
}

JobReport JobExecution::report() const {
    std::unique_lock lock(mutex_);
    Running& run = running();
    JobReport report;
    report.job = job_.name();
    report.policy = scheduling_.policy_name;
    report.seconds = seconds_taken();
    report.work_units = job_.work_units();
    if (left_out_) report.left_out = *left_out_;
    double first = report.seconds, last = 0, last_of_gpus = 0, last_of_cpus = 0;
    for (const Share& share : run.shares) {
        DeviceReport device = report_of(share);
        if (device.tasks > 0) {
            first = std::min(first, device.finished_seconds);
            last = std::max(last, device.finished_seconds);
            double& of_kind = device.kind == DeviceKind::cpu ? last_of_cpus : last_of_gpus;
            of_kind = std::max(of_kind, device.finished_seconds);
        }
        report.devices.push_back(std::move(device));
    }
    if (last > 0)
        report.balance.value = first / last;
    else
        report.balance.why_absent = "no task ended";
    if (last_of_gpus > 0 && last_of_cpus > 0)
        report.gpu_over_cpu.value = last_of_gpus / last_of_cpus;
    else
        report.gpu_over_cpu.why_absent = "not both a processor and a GPU had a task";
    std::vector<double> alone;
    std::string unknown;
    for (std::size_t i = 0; i < run.shares.size(); ++i)
        if (const auto& seconds = participants_[i].seconds_alone)
            alone.push_back(*seconds);
        else
            unknown += (unknown.empty() ? "" : ", ") + run.shares[i].participant.info->id;
    report.heterogeneous_speed_up.why_absent = report.heterogeneous_efficiency.why_absent =
        run.shares.size() == 1 ? "one device had the job to itself"
                               : "how long the job takes alone is not known of " + unknown +
                                     ": run it there, or with --baselines";
    if (unknown.empty() && run.shares.size() > 1) report.compare_with(alone);
    const JobEnergy energy = run.energy;
    lock.unlock(); // meters take their time
    energy.tell(report);
    return report;
}

} // namespace headrace
