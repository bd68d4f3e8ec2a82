// domains/execution/job_scheduling.cpp - see job_scheduling.hpp.
#include <headrace/internal/domains/checked_task.hpp>
#include <headrace/internal/domains/cluster/shared_job.hpp>
#include <headrace/internal/domains/job_scheduling.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

/// Lanes that a multiprocessor holds: what a task needs to have one unit for each of a GPU's.
constexpr std::uint64_t lanes_per_compute_unit = 1024;

/// As the job says, and as its user does.
class JobDivision final : public Division {
public:
    explicit JobDivision(const Job& job) : job_(job) {}
    [[nodiscard]] std::uint64_t split(IndexRange left, std::uint64_t wanted) const override {
        return job_.split(left, wanted);
    }

private:
    const Job& job_; // outlives the schedule
};

/// Whether tasks can be done once more, or elsewhere beside one that has begun.
bool is_repeatable(const Job& job) {
    return std::ranges::none_of(job.uses(), [](const Job::Use& use) { return use.access == Access::update; });
}

Schedule::Shape shape_of(const Job& job, const JobScheduling& scheduling) {
    return {.work_units = job.work_units(),
            .first_unit = job.units().begin,
            .learns = scheduling.learns,
            .moves_data = job.moves_data(),
            .is_repeatable = is_repeatable(job),
            .shares_units = job.shares_units() && !is_checked(job),
            .is_open = scheduling.shared && scheduling.shared->work_comes_later(),
            .has_above = scheduling.shared && scheduling.shared->work_comes_later(),
            .expected_seconds = scheduling.expected_seconds,
            .memory = scheduling.one_memory ? std::optional(scheduling.one_memory->first) : std::nullopt};
}

Schedule::Participant participant_of(const Job& job, const JobParticipant& one) {
    const DeviceInfo& info = *one.info;
    const bool is_gpu = info.kind == DeviceKind::gpu;
    const KernelVariant* const variant = job.variant(info.technology);
    // Launches pause when they are asked to, and work on transferred units; host functions do neither.
    const bool has_launches = variant != nullptr && variant->bind() != nullptr;
    return {.estimate = one.estimate,
            .least = std::max<std::uint64_t>(info.lane_group, job.grain()),
            .full = is_gpu ? info.compute_units * lanes_per_compute_unit : info.compute_units,
            .lane_group = info.lane_group,
            .is_group = one.is_rank,
            .devices = one.devices,
            .is_processor = info.kind == DeviceKind::cpu,
            .gives_back = info.fine_grained_host_coherence && is_repeatable(job) && has_launches,
            .takes_units = (variant == nullptr || has_launches) && !one.is_rank, // which says so itself
            .is_standby = !one.standby.empty(),
            .memory = one.memory};
}

} // namespace

JobParticipants::JobParticipants(std::vector<JobParticipant> all)
    : all_(std::move(all)), only_cpus_(std::ranges::all_of(all_, [](const JobParticipant& one) {
          return one.info->kind == DeviceKind::cpu;
      })) {}

std::optional<std::size_t> JobParticipants::participant_of(std::size_t device) const {
    const auto found = std::ranges::find(all_, device, &JobParticipant::device);
    if (found == all_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - all_.begin());
}

std::vector<std::size_t> JobParticipants::devices() const {
    std::vector<std::size_t> numbers;
    for (const JobParticipant& one : all_) numbers.push_back(one.device);
    return numbers;
}

Schedule make_schedule(const Job& job, JobScheduling& scheduling, const JobParticipants& participants) {
    std::vector<Schedule::Participant> all;
    for (const JobParticipant& one : participants.all()) all.push_back(participant_of(job, one));
    return {shape_of(job, scheduling), std::move(all), std::move(scheduling.policy),
            std::make_shared<JobDivision>(job)};
}

} // namespace headrace
