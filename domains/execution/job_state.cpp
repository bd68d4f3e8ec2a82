// domains/execution/job_state.cpp - see job_state.hpp.
#include <headrace/core/log.hpp>
#include <headrace/internal/domains/cluster/shared_job.hpp>
#include <headrace/internal/domains/job_state.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace headrace {

RunningJob::RunningJob(const Job& job, JobScheduling& scheduling, const JobParticipants& participants)
    : schedule(make_schedule(job, scheduling, participants)), account(participants), outputs(job) {}

JobState::JobState(Job of, JobScheduling how, std::vector<JobParticipant> devices,
                   std::shared_ptr<const std::vector<LeftOut>> others)
    : JobState(std::move(of), std::move(how), std::move(devices), std::move(others), Promise{}) {}

JobState::JobState(Job of, JobScheduling how, std::vector<JobParticipant> devices,
                   std::shared_ptr<const std::vector<LeftOut>> others, Promise promise)
    : job(std::move(of)),
      participants(std::move(devices)),
      left_out(std::move(others)),
      event(promise.event()),
      node(std::make_shared<JobNode>(job.name(), event)),
      scheduling_(std::move(how)),
      promise_(std::move(promise)) {
    life.expect_devices(participants.size());
}

RunningJob& JobState::running() const {
    if (!running_) running_ = std::make_unique<RunningJob>(job, scheduling_, participants);
    return *running_;
}

void JobState::fail(ErrorPtr why) const {
    life.stop(std::move(why));
    ask_again(); // for launches to be asked to pause
}

void JobState::fail(Error why) const { fail(std::make_shared<const Error>(why.in_job(job.name()))); }

void JobState::ask_again() const {
    if (scheduling_.observer && scheduling_.observer->ask_again) scheduling_.observer->ask_again();
}

std::optional<WorkRange> JobState::hand_out(std::size_t place, const std::optional<Work>& work) {
    if (!work) return std::nullopt;
    ErrorPtr error;
    try {
        const WorkRange work_range = work_range_of(*work);
        if (work_range.units || enter_parts(work_range.range)) {
            const JobParticipant& participant = participants[place];
            running().in_flight.add(participant.device, participant.info->id, work_range);
            return work_range;
        }
    } catch (...) { // no memory for the entry: without it the job would never end
        error = current_error();
    }
    running().schedule.returned(place, *work, false);
    if (error) fail(std::move(error));
    return std::nullopt;
}

WorkRange JobState::work_range_of(const Work& work) const {
    WorkRange work_range(work.range, work.tasks);
    if (work.is_transferred) work_range.units = running().transferred.at(work);
    return work_range;
}

/// What a task of these work units writes. False: the job fails.
bool JobState::enter_parts(IndexRange units) {
    JobOutputs& outputs = running().outputs;
    if (!outputs.have_parts()) return true;
    const auto wrong = ask([&] { return outputs.enter(units); }, std::optional<Error>{});
    if (wrong) fail(*wrong);
    return !life.is_stopping();
}

void JobState::shorten(std::size_t device, IndexRange task, std::uint64_t end) {
    if (end == task.end) return;
    RunningJob& run = running();
    run.in_flight.shorten(device, task, end);
    run.outputs.leave(task);
    static_cast<void>(enter_parts({task.begin, end})); // if it fails, so does the job
}

void JobState::settle_if_ended(std::unique_lock<std::mutex> lock) {
    if (life.is_waiting()) return; // it may wait for long, with little memory
    RunningJob& run = running();
    if (!life.may_end(run.schedule.state().is_done(), run.schedule.state().has_tasks())) return;
    life.end();
    if (!life.is_stopping())
        if (auto unwritten = run.outputs.why_unwritten())
            life.stop(std::make_shared<const Error>(unwritten->in_job(job.name())));
    const ErrorPtr error = life.stop_reason();
    // With the lock: a device that is lost from now on takes a replica with it that nothing makes again.
    if (!error) run.outputs.complete();
    if (scheduling_.shared) scheduling_.shared->spread(job, done_by_devices(), error);
    run.account.end();
    run.schedule.forget(); // handles may keep us for long
    run.transferred.clear();
    const EventTimes ran = run.account.times();
    const bool is_unheard = fails_unheard();
    lock.unlock(); // continuations may ask us things
    if (error) {
        run.outputs.fail(error);
        if (is_unheard) log_unheard_failure(*error, job);
        return promise_.fail(error);
    }
    if (scheduling_.observer && scheduling_.observer->done) scheduling_.observer->done(job, outcome());
    promise_.complete(ran);
}

/// Work units that devices of this process have completed.
std::vector<IndexRange> JobState::done_by_devices() const {
    std::vector<IndexRange> done;
    for (std::size_t place = 0; place < participants.size(); ++place)
        if (!participants[place].is_rank)
            std::ranges::copy(running().schedule.state().accounts.completed_by(place),
                              std::back_inserter(done));
    return done;
}

JobOutcome JobState::outcome() const {
    const std::scoped_lock lock(mutex);
    JobOutcome outcome = running().account.outcome(scheduling_.kernel, running().schedule);
    outcome.was_disturbed = was_disturbed;
    return outcome;
}

void log_unheard_failure(Error error, const Job& job) {
    log_error(std::string("a job failed, and no caller waited for it: ") + error.in_job(job.name()).what());
}

} // namespace headrace
