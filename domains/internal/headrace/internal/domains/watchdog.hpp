// internal/domains/watchdog.hpp - notices jobs that do not get on, and says who waits for what. Private to
// domains/.
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

/// One line about all unfinished jobs if a task has given no sign of life for `patience`, or if for so long
/// there was work left that no device took; else empty.
[[nodiscard]] HEADRACE_EXPORT std::string who_waits_for_what(std::span<const JobStanding> unfinished,
                                                             std::chrono::steady_clock::time_point now,
                                                             std::chrono::nanoseconds patience);

/// Looks at the unfinished jobs now and then. If they do not get on, it logs an error and calls `on_hang`,
/// and again each time that `patience` has gone by.
///
/// Signs of life are what workers tell their jobs: that a task begins, has its inputs, has another launch
/// enqueued, ends. What goes on within a launch nobody on the host can see. The engine's take a tenth of a
/// second as a rule (EngineOptions::launch_time), so one that takes as long as `patience` hangs, or has a
/// work unit that takes as long; a host function is one launch however long it takes. It asks no driver,
/// since those may be what does not answer.
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
