// domains/jobs/job_handle.cpp - see job_handle.hpp.
#include "jobs/continuations.hpp"
#include <headrace/domains/job_handle.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>
#include <headrace/internal/domains/cluster/submitters.hpp>
#include <headrace/internal/domains/job_execution.hpp>
#include <headrace/internal/domains/task_scope.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace headrace {

struct JobHandle::LastOne {
    std::shared_ptr<JobExecution> job;

    mutable std::once_flag was_asked;
    mutable Event end; ///< for users, once one has asked

    explicit LastOne(std::shared_ptr<JobExecution> of) : job(std::move(of)) {}
    ~LastOne() { job->forget_handles(); }
    LastOne(const LastOne&) = delete; // it calls forget_handles once
    LastOne& operator=(const LastOne&) = delete;
};

JobHandle::JobHandle(std::shared_ptr<JobExecution> execution)
    : execution_(std::move(execution)), last_one_(std::make_shared<const LastOne>(execution_)) {}

namespace {

std::string is_waited_for(const JobNode& job) { return "job '" + job.name() + "' is waited for"; }

/// The end of a job for users: a thread that waits for it inside a task of the job gets an Error.
class EndForUsers final : public EventState {
public:
    /// It settles with the job.
    static Event of(JobNodePtr job) {
        const auto end = std::make_shared<EndForUsers>(std::move(job));
        end->job_->end().then([end](const ErrorPtr& error) { end->settle(error); });
        return Event{end};
    }
    explicit EndForUsers(JobNodePtr job) : job_(std::move(job)) {}

    bool query() override {
        if (job_->end().done()) settle(job_->end().outcome());
        return settled();
    }
    void block() override {
        const JobWait inside(job_, is_waited_for(*job_));
        settle(job_->end().outcome());
    }
    bool block_for(std::chrono::nanoseconds limit) override {
        const JobWait inside(job_, is_waited_for(*job_));
        return job_->end().wait_for(limit) && query();
    }

protected:
    /// A thread that saw the job end may fork before the thread that ends the job has settled this event.
    [[nodiscard]] ErrorPtr left_behind() const override { return job_->end().outcome(); }

private:
    const JobNodePtr job_;
};

JobStatus status_of(const ErrorPtr& error) {
    if (!error) return JobStatus::done;
    return error->kind() == ErrorKind::cancelled ? JobStatus::cancelled : JobStatus::failed;
}

} // namespace

void JobHandle::wait() const {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds awake{20}; // a sleeping thread wakes late: see DeviceWorker
    static std::atomic_flag somebody_is_awake;     // one busy-waiting thread occupies enough cores
    const Event event = execution_->event();
    const JobWait inside(execution_->node(), is_waited_for(*execution_->node()));
    execution_->node()->note_told();
    // relaxed, both: only a hint.
    if (!execution_->participants().are_only_cpus() &&
        !somebody_is_awake.test_and_set(std::memory_order_relaxed)) {
        for (const auto end = Clock::now() + awake; !event.done() && Clock::now() < end;)
            std::this_thread::yield();
        somebody_is_awake.clear(std::memory_order_relaxed);
    }
    event.wait();
}

bool JobHandle::wait_for(std::chrono::nanoseconds limit) const {
    const JobWait inside(execution_->node(), is_waited_for(*execution_->node()));
    return execution_->event().wait_for(limit);
}
bool JobHandle::done() const { return execution_->event().done(); }

void JobHandle::cancel() const {
    execution_->stop(std::make_shared<const Error>(ErrorKind::cancelled, "the job was cancelled"));
}

std::uint64_t JobHandle::finished_units() const { return execution_->finished_units(); }
JobReport JobHandle::report() const { return execution_->report(); }

Event JobHandle::event() const {
    execution_->node()->note_told(); // the waiter for the event gets the failure
    std::call_once(last_one_->was_asked, [this] { last_one_->end = EndForUsers::of(execution_->node()); });
    return last_one_->end;
}

JobHandle then(const JobHandle& handle, std::function<void(JobStatus)> function) {
    const auto& job = handle.execution();
    const auto continuations = job->scheduling().continuations.lock();
    if (!continuations || !continuations->expect())
        throw Error{ErrorKind::invalid_argument, "the runtime of the job is gone"}.in_job(job->job().name());
    // The call is a job with 0 work units, which ends when the function has returned.
    auto call =
        JobExecution::make(Job("then of " + job->job().name(), 0),
                           JobExecution::Scheduling{.policy = nullptr, .continuations = continuations},
                           std::vector<JobExecution::Participant>{});
    call->node()->come_after({{job->node(), false}});
    const auto ranks = cluster::current_node();
    const std::uint64_t submitter = // the ranks know what it submits
        ranks ? ranks->submitters().next_function() : cluster::no_submitter;
    job->node()->note_told();
    job->event().then(
        [continuations, call, ranks, submitter, function = std::move(function)](const ErrorPtr& error) {
            if (!call->hold_for_start()) return continuations->give_up(); // the call was cancelled
            // A raw pointer: the function is stored in `continuations`, which would otherwise own itself.
            continuations->give([call, ranks, submitter, function, error, thread = continuations.get()] {
                call->node()->forget_past();
                const cluster::NodeOfThisThread of_caller(ranks);
                try {
                    const TaskScope inside(*call->node(), *thread);
                    const cluster::SubmitterScope as(submitter);
                    function(status_of(error));
                } catch (...) {
                    call->stop(current_error());
                }
                if (ranks) ranks->submitters().forget_function(submitter);
                call->start();
            });
        });
    return JobHandle(call);
}

} // namespace headrace
