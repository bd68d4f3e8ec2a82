// domains/execution/job_account.cpp - see job_account.hpp.
#include <headrace/internal/domains/job_account.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

/// What so many units tell of a device's speed that a model may keep it.
constexpr double enough_seconds = 1e-4;

} // namespace

JobAccount::JobAccount(const JobParticipants& participants)
    : participants_(participants), shares_(participants.size()) {
    for (const JobParticipant& one : participants.all()) energy_.add(one.energy);
}

void JobAccount::begin() {
    energy_.begin();
    begin_ = end_ = Clock::now();
}

JobAccount::Clock::duration JobAccount::add(std::size_t place, std::uint64_t tasks,
                                            const TaskMetrics& metrics) {
    Share& share = shares_[place];
    share.tasks += tasks;
    end_ = Clock::now();
    const auto busy_before = share.busy.total();
    for (const EventTimes& launch : metrics.launches) share.busy.add(launch);
    share.finished_seconds = seconds();
    share.bytes_in += metrics.bytes_in;
    share.bytes_out += metrics.bytes_out;
    share.engine += metrics.engine;
    return share.busy.total() - busy_before;
}

JobAccount::Clock::duration JobAccount::busiest() const {
    Clock::duration most{};
    for (const Share& share : shares_) most = std::max(most, share.busy.total());
    return most;
}

void JobAccount::lose(std::size_t place, const ErrorPtr& why) {
    if (!shares_[place].loss) shares_[place].loss = why;
}

DeviceReport JobAccount::report_of(std::size_t place, const Job& job, const JobScheduling& scheduling,
                                   const Schedule& schedule) const {
    const Share& share = shares_[place];
    const JobParticipant& participant = participants_[place];
    const ParticipantAccount& account = schedule.state().accounts.of(place);
    return {.id = participant.info->id,
            .name = participant.info->name,
            .kind = participant.info->kind,
            .capability = schedule.state().rates.relative_capability(place),
            .tasks = share.tasks,
            .work_units = account.completed,
            .share = static_cast<double>(account.completed) /
                     static_cast<double>(std::max<std::uint64_t>(job.work_units(), 1)),
            .busy_seconds = share.busy_seconds(),
            .finished_seconds = share.finished_seconds,
            .slowdown = schedule.state().rates.slowdown(place),
            .bytes_in = share.bytes_in,
            .bytes_out = share.bytes_out,
            .seeds_transferred = account.seeds_transferred,
            .units_transferred = account.units_transferred,
            .units_received = account.units_received,
            .engine = share.engine,
            .energy_joules = {},
            .energy_delay_product = {},
            .reserve = schedule.state().availability.is_spared(place) ? scheduling.one_memory->why
                                                                      : participant.standby,
            .failure = share.loss ? share.loss->what() : ""};
}

JobReport JobAccount::report(const Job& job, const JobScheduling& scheduling,
                             const Schedule& schedule) const {
    JobReport report;
    report.job = job.name();
    report.policy = job.policy_name();
    if (report.policy.empty() && scheduling.observer) report.policy = scheduling.observer->policy_name;
    report.seconds = seconds();
    report.work_units = job.work_units();
    double first = report.seconds, last = 0, last_of_gpus = 0, last_of_cpus = 0;
    for (std::size_t place = 0; place < shares_.size(); ++place) {
        DeviceReport device = report_of(place, job, scheduling, schedule);
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
    compare_with_each_alone(report);
    return report;
}

void JobAccount::compare_with_each_alone(JobReport& report) const {
    std::vector<double> alone;
    std::string unknown;
    for (const JobParticipant& one : participants_.all())
        if (one.seconds_alone)
            alone.push_back(*one.seconds_alone);
        else
            unknown += (unknown.empty() ? "" : ", ") + one.info->id;
    report.heterogeneous_speed_up.why_absent = report.heterogeneous_efficiency.why_absent =
        participants_.size() == 1 ? "one device had the job to itself"
                                  : "how long the job takes alone is not known of " + unknown +
                                        ": run it there, or with --baselines";
    if (unknown.empty() && participants_.are_several()) report.compare_with(alone);
}

JobOutcome JobAccount::outcome(const KernelKey& kernel, const Schedule& schedule) const {
    JobOutcome outcome{.kernel = kernel,
                       .has_several_devices = participants_.are_several(),
                       .seconds = seconds(),
                       .set = {},
                       .measurements = {}};
    double of_set = 0, of_all = 0;
    for (std::size_t place = 0; place < shares_.size(); ++place) {
        const JobParticipant& participant = participants_[place];
        const ParticipantAccount& account = schedule.state().accounts.of(place);
        const Availability& availability = schedule.state().availability;
        const double busy = shares_[place].busy_seconds();
        const bool is_of_set = participant.standby.empty();
        // Transferred units count as nothing, but took their time.
        const double work = account.units_received > 0 ? busy * schedule.state().rates.capability(place)
                                                       : static_cast<double>(account.completed);
        of_all += work;
        if (is_of_set) of_set += work;
        if (is_of_set && !availability.stands_by(place)) outcome.set.push_back(participant.info);
        outcome.has_losses = outcome.has_losses || availability.is_lost(place) || availability.is_full(place);
        if (const auto rate = schedule.state().rates.units_per_second(place);
            rate && !availability.is_lost(place))
            outcome.measurements.push_back({participant.info, *rate, busy <= enough_seconds});
    }
    outcome.seconds_of_coexecution_set = outcome.seconds * of_all / of_set;
    return outcome;
}

} // namespace headrace
