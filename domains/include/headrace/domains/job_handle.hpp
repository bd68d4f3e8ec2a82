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

/// A submitted job. Copies share it. What its kernels borrow must outlive it; its Runtime need not: that ends
/// it. A job that fails after its last handle is gone, or that no caller has waited for by then, is one line
/// in the log.
///
/// Threads   any
/// Errors    `wait` and `wait_for` throw invalid_argument inside a task of the job, or of one that it comes
///           after; and inside hooks and functions that bind kernels
class HEADRACE_EXPORT JobHandle {
public:
    explicit JobHandle(std::shared_ptr<JobExecution> execution);

    /// Blocks until the job has ended; throws what it failed with (kind cancelled after `cancel`).
    void wait() const;
    /// False: not ended within `limit`.
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds limit) const;
    [[nodiscard]] bool done() const;
    /// Starts no more work; what runs is abandoned at its next pause (some tenths of a second at most).
    void cancel() const;
    /// Work units finished so far, of all; moves while the job runs.
    [[nodiscard]] std::uint64_t finished_units() const;
    /// Complete once the job has ended. May wait for energy meters, for milliseconds.
    [[nodiscard]] JobReport report() const;
    /// Completes with the job and its outcome.
    [[nodiscard]] Event event() const;

    [[nodiscard]] const std::shared_ptr<JobExecution>& execution() const noexcept { return execution_; }

private:
    struct LastOne;

    std::shared_ptr<JobExecution> execution_;
    std::shared_ptr<const LastOne> last_one_; ///< tells the job when it goes
};

/// How a job ended.
enum class JobStatus : std::uint8_t { done, failed, cancelled };

/// Has `function` called when the job has ended, however it did; on a thread of its runtime's, where it may
/// submit jobs and wait for them. The handle is that of the call: it is done when `function` has returned,
/// and has failed if that has thrown. To cancel it before then is not to have the function called.
///
/// Lifetime  the runtime's destructor waits for functions that are called; it cancels the jobs that they wait
/// for Errors    invalid_argument if the job's runtime is gone
HEADRACE_EXPORT JobHandle then(const JobHandle& handle, std::function<void(JobStatus)> function);

} // namespace headrace
