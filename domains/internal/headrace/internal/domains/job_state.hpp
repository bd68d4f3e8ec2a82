// internal/domains/job_state.hpp - what the views of a running job share: its lock, and what the lock
// protects. Internal to domains/.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/domains/job_account.hpp>
#include <headrace/internal/domains/job_life.hpp>
#include <headrace/internal/domains/job_outputs.hpp>
#include <headrace/internal/domains/job_scheduling.hpp>
#include <headrace/internal/domains/task_scope.hpp>
#include <headrace/internal/domains/tasks_in_flight.hpp>
#include <headrace/internal/domains/transferred_units.hpp>
#include <headrace/internal/domains/work_range.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace headrace {

inline Work work_of(const WorkRange& work_range) {
    return {
        .range = work_range.range, .is_transferred = work_range.units != nullptr, .tasks = work_range.tasks};
}

/// A job that has started or was queried: where each of its work units is, and what became of them.
struct RunningJob {
    /// `job` and `participants` must outlive it. Takes the policy.
    RunningJob(const Job& job, JobScheduling& scheduling, const JobParticipants& participants);

    Schedule schedule;
    JobAccount account;
    TasksInFlight in_flight;
    TransferredUnits transferred;
    JobOutputs outputs;
};

/// The views of a job (JobExecution, JobTransfers, JobForecast) lock `mutex`, and call what is here.
///
/// Threads   any for the constants; all else with the lock
class HEADRACE_EXPORT JobState {
public:
    JobState(Job job, JobScheduling scheduling, std::vector<JobParticipant> participants,
             std::shared_ptr<const std::vector<LeftOut>> left_out);
    JobState(const JobState&) = delete; // views refer to it
    JobState& operator=(const JobState&) = delete;

    const Job job;
    const JobParticipants participants;
    const std::shared_ptr<const std::vector<LeftOut>> left_out; ///< null: none
    const Event event;                                          ///< its end
    const JobNodePtr node;
    std::atomic<bool> was_disturbed = false;

    mutable std::mutex mutex;
    mutable JobLife life; ///< `ask` may stop it

    [[nodiscard]] const JobScheduling& scheduling() const noexcept { return scheduling_; }
    /// Very many jobs may wait, so a waiting job has no RunningJob and takes little memory.
    [[nodiscard]] RunningJob& running() const;
    [[nodiscard]] bool was_queried() const noexcept { return running_ != nullptr; }

    /// Of a device that takes part.
    [[nodiscard]] std::size_t participant_of(std::size_t device) const {
        return participants.participant_of(device).value();
    }

    /// Calls the schedule, which may call user code (policies and divisions). If that throws, the job fails
    /// with the exception.
    template <class Answer, class Question>
    Answer ask(const Question& question, Answer otherwise) const {
        const TaskScope inside(*node, TaskScope::Code::with_lock);
        try {
            Answer answer = question();
            if (running().schedule.takes_wake()) ask_again();
            return answer;
        } catch (...) {
            fail(current_error());
            return otherwise;
        }
    }
    void fail(ErrorPtr why) const;
    void fail(Error why) const; ///< in this job
    /// Devices that were refused should ask again.
    void ask_again() const;

    /// What the schedule has granted to the device. Nothing, and the job fails, if its parts are those of
    /// other tasks, or if memory is short. The grant is then the schedule's again.
    [[nodiscard]] std::optional<WorkRange> hand_out(std::size_t place, const std::optional<Work>& work);
    [[nodiscard]] WorkRange work_range_of(const Work& work) const;
    /// The task ends there from here on.
    void shorten(std::size_t device, IndexRange task, std::uint64_t end);
    /// Ends the job if nothing remains. Sets the outcome after it releases the lock.
    void settle_if_ended(std::unique_lock<std::mutex> lock);
    [[nodiscard]] bool fails_unheard() const { return life.fails_unheard(node->is_told()); }
    [[nodiscard]] JobOutcome outcome() const;

private:
    JobState(Job job, JobScheduling scheduling, std::vector<JobParticipant> participants,
             std::shared_ptr<const std::vector<LeftOut>> left_out, Promise promise);
    [[nodiscard]] bool enter_parts(IndexRange units);
    [[nodiscard]] std::vector<IndexRange> done_by_devices() const;

    mutable JobScheduling scheduling_; ///< its policy goes to the schedule when the job starts
    mutable std::unique_ptr<RunningJob> running_;
    Promise promise_; ///< last: if it is broken, what continues may ask for the rest
};

/// One line about a failure of which no caller was told.
void log_unheard_failure(Error error, const Job& job);

} // namespace headrace
