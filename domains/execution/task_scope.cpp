// domains/execution/task_scope.cpp - see task_scope.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/task_scope.hpp>

#include <mutex>
#include <utility>

namespace headrace {
namespace {

thread_local TaskScope* innermost = nullptr;

} // namespace

TaskScope::TaskScope(JobNode& job, Device& device)
    : job_(job), device_(&device), has_lock_(false), outer_(std::exchange(innermost, this)) {}
TaskScope::TaskScope(JobNode& job, Code code)
    : job_(job),
      device_(nullptr),
      has_lock_(code == Code::with_lock),
      outer_(std::exchange(innermost, this)) {}
TaskScope::~TaskScope() { innermost = outer_; }

void TaskScope::check_may_submit() {
    if (innermost != nullptr && innermost->has_lock_)
        throw Error{ErrorKind::invalid_argument,
                    "a policy, or a function that divides a job, cannot submit jobs or wait for them"}
            .in_job(innermost->job_.name());
}

JobWait::JobWait(const JobNodePtr& job, const std::string& what) : scope_(innermost) {
    if (job->end().done()) scope_ = nullptr;
    if (scope_ == nullptr) return;
    static std::mutex mutex; // of two threads that begin to wait for each other, one finds the other
    const std::scoped_lock lock(mutex);
    for (const TaskScope* scope = scope_; scope != nullptr; scope = scope->outer_) {
        const std::string inside = what + " inside a task of job '" + scope->job_.name() + "': ";
        if (job->waits_for(scope->job_))
            throw Error{
                ErrorKind::invalid_argument,
                inside + "it waits inside a task of its own job" +
                    (job.get() == &scope->job_ ? "" : ", for '" + job->name() + "' comes after that job") +
                    "; wait where no task runs"};
        if (scope->device_ == nullptr)
            throw Error{ErrorKind::invalid_argument,
                        inside +
                            "hooks, functions that bind kernels, and host functions of devices that call "
                            "them from the thread that feeds the device cannot wait for jobs; wait where "
                            "no task runs"};
    }
    awaited_ = job;
    scope_->job_.begin_wait(job);
    scope_->device_->task_waits();
}

JobWait::~JobWait() {
    if (scope_ == nullptr) return;
    scope_->device_->task_goes_on();
    scope_->job_.end_wait(awaited_);
}

} // namespace headrace
