// internal/domains/slot_engine.hpp - the engine of a launch slot, which outlives tasks and jobs: to make
// queues takes as long as some jobs do. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/job_execution.hpp>
#include <headrace/persistent/engine.hpp>

#include <memory>
#include <utility>

namespace headrace {

/// Threads: one.
class HEADRACE_EXPORT SlotEngine {
public:
    /// Null if the job runs host functions, or if no task of it has begun.
    [[nodiscard]] Engine* get() const noexcept { return engine_.get(); }
    [[nodiscard]] const std::shared_ptr<JobExecution>& job() const noexcept { return job_; }

    /// The next tasks are of this job.
    void serve(const std::shared_ptr<JobExecution>& job) {
        engine_.reset();
        job_ = job;
    }
    /// The engine for the next task of the job, with its kernel.
    Engine& bind(Device& device, Stream& stream, std::unique_ptr<BoundKernel> kernel);
    /// Its job has ended. Keeps the engine for the next job that is tuned alike, unless its queues are large.
    void set_aside();
    /// The engine failed, or no task uses it any more.
    void drop() noexcept { engine_.reset(); }
    /// Frees the queues that no task uses. False: there are none.
    bool free_unused(bool slot_is_free);

private:
    std::shared_ptr<JobExecution> job_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<Engine> kept_; ///< of a job that has ended
    EngineOptions kept_tuning_;
    KernelKey kept_kernel_;
};

} // namespace headrace
