// internal/domains/task_scope.hpp - what this thread does for which job: so that a wait that would never end
// is an Error. Private to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/job_node.hpp>

#include <cstdint>
#include <string>

namespace headrace {

/// While it lives, this thread runs code of the user's for a task of `job`, which lives as long.
///
/// Threads   the one that made it
class HEADRACE_EXPORT TaskScope {
public:
    /// What happens to the device if the code waits.
    class Device {
    public:
        /// The task will do nothing for a while: others may have its launch slot.
        virtual void task_waits() = 0;
        virtual void task_goes_on() = 0;

    protected:
        ~Device() = default;
    };

    /// A host function on a thread of its own.
    TaskScope(JobNode& job, Device& device);
    /// Other code, on the thread that feeds a device, which would stand still; also with the job's lock held.
    enum class Code : std::uint8_t { hook_or_bind, with_lock };
    TaskScope(JobNode& job, Code code);
    ~TaskScope();
    TaskScope(const TaskScope&) = delete; // threads hold its address
    TaskScope& operator=(const TaskScope&) = delete;

    /// Throws invalid_argument where a job cannot be submitted: with a job's lock held.
    static void check_may_submit();

private:
    friend class JobWait;
    JobNode& job_;
    Device* const device_; ///< null: the thread feeds one
    const bool has_lock_;
    TaskScope* const outer_;
};

/// Around a wait for the end of `job`: outside of tasks it does nothing.
///
/// Errors   invalid_argument in a child of the process that submitted the job; and where the wait would never
/// end: the task belongs to the job, or to one that the
///          job waits for; or the thread feeds a device. `what` says what is waited for: "job 'x' is waited
///          for"
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
