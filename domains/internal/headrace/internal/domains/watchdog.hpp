// internal/domains/watchdog.hpp - detects jobs that make no progress, and reports what they wait for.
// Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace headrace {

/// One line about all unfinished jobs, if a task has shown no progress for `patience`, or if no device took
/// remaining work for that time; else empty.
[[nodiscard]] HEADRACE_EXPORT std::string who_waits_for_what(std::span<const ExecutionStatus> unfinished,
                                                             std::chrono::steady_clock::time_point now,
                                                             std::chrono::nanoseconds patience);

/// Checks the unfinished jobs regularly. If they make no progress, it logs an error and calls `on_hang`, and
/// repeats both each time that `patience` has passed.
///
/// Workers report progress to their jobs: a task begins, has its inputs, has another launch enqueued, or
/// ends. The host cannot see progress within a launch. A launch of the engine usually takes 0.1 s
/// (EngineOptions::launch_time), so one that takes `patience` hangs or has such a long work unit. A host
/// function is one launch, however long. The watchdog calls no driver, because a driver may be what
/// hangs.
///
/// Threads   calls `unfinished` and `on_hang` from its own
class HEADRACE_EXPORT Watchdog {
public:
    using Jobs = std::function<std::vector<std::shared_ptr<JobExecution>>()>;

    Watchdog(std::chrono::nanoseconds patience, Jobs unfinished, std::function<void()> on_hang);

private:
    void look(const std::stop_token& stop);

    const std::chrono::nanoseconds patience_;
    const Jobs unfinished_;
    const std::function<void()> on_hang_;
    std::mutex mutex_;
    std::condition_variable_any never_;
    std::jthread thread_; // last: it uses the rest
};

} // namespace headrace
