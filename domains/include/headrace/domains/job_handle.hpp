// domains/job_handle.hpp - a submitted job: wait for it, cancel it, read its report.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/report.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace headrace {

class JobExecution;

/// A submitted job. Copies share it. What the job's kernels borrow must outlive the job. The Runtime need not
/// outlive the handle: its destructor ends the job. The log gets one line if a job fails, its last handle is
/// gone, and no caller waited for it.
///
/// Threads   any
/// Errors    `wait`, `wait_for` and those of `event()` throw invalid_argument inside a task of the job, or of
///           a job that it comes after, and inside hooks and functions that bind kernels. In a child of
///           fork(), a job that had not ended has failed, with an Error that says so
class HEADRACE_EXPORT JobHandle {
public:
    explicit JobHandle(std::shared_ptr<JobExecution> execution);

    /// Blocks until the job has ended. Throws the job's failure (kind cancelled after `cancel`).
    void wait() const;
    /// Returns false if the job has not ended within `limit`.
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds limit) const;
    [[nodiscard]] bool done() const;
    /// The job starts no more work. Running work stops at its next pause (some tenths of a second at most).
    void cancel() const;
    /// Number of work units finished so far, of all. It grows while the job runs.
    [[nodiscard]] std::uint64_t finished_units() const;
    /// Complete when the job has ended. May wait some milliseconds for energy meters.
    [[nodiscard]] JobReport report() const;
    /// Completes when the job ends, with the job's outcome.
    [[nodiscard]] Event event() const;

    [[nodiscard]] const std::shared_ptr<JobExecution>& execution() const noexcept { return execution_; }

private:
    struct LastOne;

    std::shared_ptr<JobExecution> execution_;
    std::shared_ptr<const LastOne> last_one_; ///< tells the job when the last handle goes
};

/// How a job ended.
enum class JobStatus : std::uint8_t { done, failed, cancelled };

/// Calls `function` when the job has ended, with any status, on a thread of the job's runtime. `function` may
/// submit jobs and wait for them. The returned handle is for the call: it is done when `function` returns,
/// and fails if `function` throws. If it is cancelled before the job ends, `function` is not called.
///
/// Lifetime  the runtime's destructor waits for running functions; it cancels the jobs that they wait for
/// Errors    invalid_argument if the job's runtime is gone, and in a child of fork()
HEADRACE_EXPORT JobHandle then(const JobHandle& handle, std::function<void(JobStatus)> function);

} // namespace headrace
