// internal/domains/task_scope.hpp - which job's code this thread runs, so that an endless wait becomes an
// Error. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/job_node.hpp>
#include <headrace/internal/domains/cluster/submitters.hpp>

#include <cstdint>
#include <string>

namespace headrace {

/// While it lives, this thread runs user code for a task of `job`. `job` must outlive it.
///
/// Threads   the one that made it
class HEADRACE_EXPORT TaskScope {
public:
    /// What happens to the device while the code waits.
    class Device {
    public:
        /// The task is inactive for a while: other tasks may use its launch slot.
        virtual void task_waits() = 0;
        virtual void task_goes_on() = 0;

    protected:
        ~Device() = default;
    };

    /// For a host function on a thread of its own.
    TaskScope(JobNode& job, Device& device);
    /// Other code, on the thread that serves a device and must not block; also with the job's lock held.
    enum class Code : std::uint8_t { hook_or_bind, with_lock };
    TaskScope(JobNode& job, Code code);
    ~TaskScope();
    TaskScope(const TaskScope&) = delete; // threads hold its address
    TaskScope& operator=(const TaskScope&) = delete;

    /// Throws invalid_argument if this thread cannot submit a job, because it holds a job's lock.
    static void check_may_submit();

private:
    friend class JobWait;
    JobNode& job_;
    Device* const device_; ///< null: this thread serves a device
    const bool has_lock_;
    TaskScope* const outer_;
    const cluster::SubmitterScope submits_ = cluster::SubmitterScope(cluster::no_submitter);
};

/// Placed around a wait for the end of `job`. Outside of tasks it does nothing.
///
/// Errors   invalid_argument for a wait that would never end: the task belongs to the job, or to a job that
///          `job` waits for, or the thread serves a device. `what` is the subject of the message:
///          "job 'x' is waited for"
class HEADRACE_EXPORT JobWait {
public:
    JobWait(const JobNodePtr& job, const std::string& what);
    ~JobWait();
    JobWait(const JobWait&) = delete;
    JobWait& operator=(const JobWait&) = delete;

private:
    TaskScope* scope_; ///< null: outside of tasks
    JobNodePtr awaited_;
};

} // namespace headrace
