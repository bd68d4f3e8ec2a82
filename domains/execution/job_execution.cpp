// domains/execution/job_execution.cpp - see job_execution.hpp.
#include <headrace/internal/devices/serial_executor.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <utility>

namespace headrace {

JobExecution::JobExecution(Job job, Scheduling scheduling, std::vector<Participant> participants,
                           std::shared_ptr<const std::vector<LeftOut>> left_out)
    : state_(std::move(job), std::move(scheduling), std::move(participants), std::move(left_out)) {}

std::shared_ptr<JobExecution> JobExecution::make(Job job, Scheduling scheduling,
                                                 std::vector<Participant> participants,
                                                 std::shared_ptr<const std::vector<LeftOut>> left_out) {
    return make_destroyed_by_executor<JobExecution>(std::move(job), std::move(scheduling),
                                                    std::move(participants), std::move(left_out));
}

void JobExecution::forget_handles() {
    std::unique_lock lock(state_.mutex);
    state_.life.forget_handles();
    const bool is_unheard = state_.fails_unheard();
    const ErrorPtr error = state_.life.stop_reason();
    lock.unlock();
    if (is_unheard) log_unheard_failure(*error, job());
}

bool JobExecution::hold_for_start() {
    const std::scoped_lock lock(state_.mutex);
    return state_.life.hold();
}

void JobExecution::release() {
    std::unique_lock lock(state_.mutex);
    state_.life.release();
    state_.settle_if_ended(std::move(lock));
}

void JobExecution::start() {
    std::unique_lock lock(state_.mutex);
    state_.life.start();
    if (Trace* const trace = Trace::recording())
        span_ = trace->add({nullptr, "jobs", "jobs", false}, job().name(), event(), {});
    RunningJob& run = state_.running();
    run.account.begin();
    run.in_flight.note_start();
    state_.settle_if_ended(std::move(lock)); // it may have been stopped before it began
}

void JobExecution::charge_at_least(double seconds) {
    const std::scoped_lock lock(state_.mutex);
    state_.running().schedule.charge_at_least(seconds);
}

void JobExecution::stop(ErrorPtr why) {
    std::unique_lock lock(state_.mutex);
    if (!state_.life.is_stopping() && !state_.life.has_ended()) state_.fail(std::move(why));
    state_.settle_if_ended(std::move(lock));
}

bool JobExecution::stopping() const {
    const std::scoped_lock lock(state_.mutex);
    return state_.life.is_stopping();
}

std::optional<IndexRange> JobExecution::next(std::size_t device) {
    const auto work_range = next(device, 1);
    return work_range ? std::optional(work_range->range) : std::nullopt;
}

std::optional<WorkRange> JobExecution::next(std::size_t device, std::uint64_t most_tasks) {
    std::unique_lock lock(state_.mutex);
    const auto place = state_.participants.participant_of(device);
    if (!state_.life.is_running() || !place) return std::nullopt;
    RunningJob& run = state_.running();
    const auto work = state_.ask([&] { return run.schedule.next(*place, run.account.now(), most_tasks); },
                                 std::optional<Work>());
    auto work_range = state_.hand_out(*place, work);
    if (state_.life.is_stopping()) {
        state_.settle_if_ended(std::move(lock));
        return std::nullopt;
    }
    return work_range;
}

void JobExecution::launched(std::size_t device, const WorkRange& work_range, std::uint64_t units_left,
                            std::size_t awaited) noexcept {
    const std::scoped_lock lock(state_.mutex);
    state_.running().in_flight.launched(device, work_range, units_left, awaited);
}

void JobExecution::inputs_came(std::size_t device, const WorkRange& work_range) {
    const std::scoped_lock lock(state_.mutex);
    state_.running().in_flight.inputs_came(device, work_range);
}

void JobExecution::begun(std::size_t device, const WorkRange& work_range, std::uint64_t units) {
    const std::scoped_lock lock(state_.mutex);
    RunningJob& run = state_.running();
    if (run.in_flight.lives(device, work_range))
        run.schedule.begun(state_.participant_of(device), work_of(work_range), units, run.account.now());
}

void JobExecution::ran(std::size_t device, const WorkRange& work_range, Clock::duration busy) {
    const std::scoped_lock lock(state_.mutex);
    state_.running().schedule.ran(state_.participant_of(device), work_of(work_range), busy);
}

void JobExecution::paused(std::size_t device, const WorkRange& work_range, std::uint64_t units,
                          Clock::duration busy) {
    const std::scoped_lock lock(state_.mutex);
    RunningJob& run = state_.running();
    const bool lives = run.in_flight.lives(device, work_range);
    HEADRACE_ASSERT(lives);
    state_.ask(
        [&] {
            run.schedule.progressed(state_.participant_of(device), work_of(work_range), units, busy,
                                    run.account.now());
            return true;
        },
        false);
}

void JobExecution::finished(std::size_t device, const std::vector<WorkRange>& work_ranges,
                            const TaskMetrics& metrics, const std::optional<Begun>& next) {
    std::unique_lock lock(state_.mutex);
    RunningJob& run = state_.running();
    const std::size_t place = state_.participant_of(device);
    std::vector<Work> works;
    std::uint64_t tasks = 0;
    for (const WorkRange& work_range : work_ranges) {
        run.in_flight.remove(device, work_range);
        works.push_back(work_of(work_range));
        tasks += work_range.tasks;
    }
    std::optional<Schedule::Progressed> part;
    if (next && run.in_flight.lives(device, next->work_range))
        part = {work_of(next->work_range), next->units};
    const auto busy = run.account.add(place, tasks, metrics);
    state_.ask(
        [&] {
            run.schedule.completed(place, works, busy, run.account.now(), part);
            return true;
        },
        false);
    state_.settle_if_ended(std::move(lock));
}

void JobExecution::abandoned(std::size_t device, const WorkRange& work_range, const ErrorPtr& error) {
    std::unique_lock lock(state_.mutex);
    RunningJob& run = state_.running();
    const std::size_t place = state_.participant_of(device);
    run.in_flight.remove(device, work_range);
    run.schedule.returned(place, work_of(work_range), !error);
    if (error)
        state_.fail(Error(*error).on_device(participants()[place].info->id));
    else if (!work_range.units)
        run.outputs.leave(work_range.range);
    state_.settle_if_ended(std::move(lock));
}

Access JobExecution::access_of(const Job::Use& use) const {
    if (!use.is_of_one_replica()) return use.access;
    const std::scoped_lock lock(state_.mutex);
    return state_.running().schedule.state().availability.has_moved() ? Access::update : use.access;
}

void JobExecution::note_written(const Job::Use& use, IndexRange part, const std::vector<bool>& written,
                                std::span<const std::byte> contents) {
    const std::scoped_lock lock(state_.mutex);
    if (const auto wrong = state_.running().outputs.note(use, part, written, contents)) state_.fail(*wrong);
}

std::uint64_t JobExecution::finished_units() const {
    const std::scoped_lock lock(state_.mutex);
    return state_.running().schedule.state().accounts.completed_units();
}

ExecutionStatus JobExecution::status() const {
    const std::scoped_lock lock(state_.mutex);
    ExecutionStatus status{.job = job().name(),
                           .work_units = job().work_units(),
                           .started = state_.life.has_started(),
                           .waits_for_ranks = false,
                           .last_sign = {},
                           .tasks = {}};
    if (!state_.was_queried()) return status;
    const RunningJob& run = state_.running();
    status.finished = run.schedule.state().accounts.completed_units();
    status.last_sign = run.in_flight.last_sign();
    status.tasks = run.in_flight.all();
    // Each rank looks after its own tasks.
    const auto of_ranks = std::erase_if(status.tasks, [&](const TaskInFlight& task) {
        return participants()[state_.participant_of(task.number)].is_rank;
    });
    status.waits_for_ranks =
        of_ranks > 0 || (run.schedule.state().shape.is_open && run.schedule.state().open.units() == 0);
    return status;
}

JobOutcome JobExecution::outcome() const { return state_.outcome(); }

JobReport JobExecution::report() const {
    std::unique_lock lock(state_.mutex);
    const RunningJob& run = state_.running();
    JobReport report = run.account.report(job(), scheduling(), run.schedule);
    if (state_.left_out) report.left_out = *state_.left_out;
    const JobEnergy energy = run.account.energy();
    lock.unlock(); // meters take their time
    energy.tell(report);
    return report;
}

} // namespace headrace
