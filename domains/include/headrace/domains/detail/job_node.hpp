// domains/detail/job_node.hpp - a submitted job as other jobs see it: its end, and the jobs that it waits
// for. Internal to domains/.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace {

class JobNode;
using JobNodePtr = std::shared_ptr<JobNode>;

/// A job that must end before another job starts.
struct Predecessor {
    JobNodePtr job;
    bool passes_failure; ///< if `job` fails, the other job fails
};

/// A node of the job graph. Edges point to the jobs that a job waits for; there is no cycle. They are removed
/// when the job starts, so a chain of jobs does not keep its past.
///
/// Threads   any
class HEADRACE_EXPORT JobNode {
public:
    JobNode(std::string name, Event end) : name_(std::move(name)), end_(std::move(end)) {}
    ~JobNode();
    JobNode(const JobNode&) = delete; // others hold its address
    JobNode& operator=(const JobNode&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const Event& end() const noexcept { return end_; }

    /// Called once, when the job is submitted.
    void come_after(const std::vector<Predecessor>& jobs);
    /// The job starts: all jobs before it have ended.
    void forget_past();
    /// A task of the job waits for `job`. Until `job` has ended, this job waits for it too.
    void begin_wait(const JobNodePtr& job);
    void end_wait(const JobNodePtr& job);
    /// True if the job is `other`, or waits for it directly or through other jobs.
    [[nodiscard]] bool waits_for(const JobNode& other) const;

    /// A caller has received the job's failure: the log need not report it.
    void note_told() noexcept { is_told_.store(true, std::memory_order_relaxed); } // relaxed: only a flag
    [[nodiscard]] bool is_told() const noexcept { return is_told_.load(std::memory_order_relaxed); }

private:
    friend std::vector<JobNodePtr> unfinished(std::vector<JobNodePtr> jobs);
    [[nodiscard]] std::vector<JobNodePtr> past() const;
    [[nodiscard]] bool has_past() const;

    const std::string name_;
    const Event end_;
    std::atomic<bool> is_told_ = false;
    mutable std::mutex mutex_;
    std::vector<JobNodePtr> past_;       // of a job that has not started
    std::vector<JobNodePtr> waited_for_; // by tasks
};

/// The jobs of `jobs` that have not ended. A job that was cancelled while it waited has ended, but its
/// predecessors may not have: it is replaced by them.
[[nodiscard]] HEADRACE_EXPORT std::vector<JobNodePtr> unfinished(std::vector<JobNodePtr> jobs);

/// Calls `then` once when all of `before` have ended, with the first failure that passes. Runs in the thread
/// that ends the last of them, or at once.
HEADRACE_EXPORT void when_ended(std::vector<Predecessor> before, std::function<void(const ErrorPtr&)> then);

/// One node that ends when all of `jobs` have ended, with the first of their failures; null if all have
/// ended. Many jobs can then wait for many others through one node.
[[nodiscard]] HEADRACE_EXPORT JobNodePtr join(const std::vector<JobNodePtr>& jobs);

} // namespace headrace
