// core/host_lane.hpp - a thread that runs host tasks one after another, each when its data is ready.
#pragma once
#include <headrace/core/detail/process_mark.hpp>
#include <headrace/core/detail/submission.hpp>
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace headrace {

/// Tasks of one lane run in the order of submission. Lanes run concurrently. For example, one lane reads the
/// next frame while another lane writes the last one.
///
/// Threads   any may submit; tasks may use tiles of any controller. A task must not wait for its own lane, or
///           submit to a device on which very many requests wait for later tasks of the lane
/// Errors    an exception of a task fails its event, and the requests that read tiles it would have written.
///           A child of fork() cannot use a lane of its parent: both throw invalid_argument there
/// Lifetime  the destructor runs all submitted tasks
class HEADRACE_EXPORT HostLane {
public:
    /// `name`: the name of its thread. Debuggers and profilers show the first 15 characters.
    explicit HostLane(std::string name = "host tasks");
    ~HostLane();
    HostLane(const HostLane&) = delete; // its thread holds its address
    HostLane& operator=(const HostLane&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// False: submitting returns when the task has ended (see ControllerOptions::asynchronous). Applies from
    /// the next task on. Such a task runs on the submitting thread, unless another thread runs lane tasks.
    void set_asynchronous(bool asynchronous) noexcept { asynchronous_ = asynchronous; }

    /// Runs `task` when the host replicas that it reads are current. It may write tiles that `uses` writes.
    Event run(std::string_view name, std::span<const TileUse> uses, std::function<void()> task);

    /// Blocks until every task submitted here has ended; throws the first failure since the last call.
    void wait_all();

private:
    struct HEADRACE_EXPORT Task {
        std::string name;
        std::function<void()> body;
        std::vector<Event> after;
        Promise done;
    };

    Event enqueue(Task task, bool to_be_helped = false);
    void work();
    void help(const Event& mine);
    void run_first(std::unique_lock<std::mutex>& lock);
    void perform(Task task);
    void remember(const ErrorPtr& failure);

    const ProcessMark process_;
    std::string name_;
    std::atomic<bool> asynchronous_ = true;
    InOrderLane lane_;
    std::mutex mutex_; // guards the members below
    std::condition_variable changed_;
    std::deque<Task> queue_;
    ErrorPtr first_failure_;
    bool working_ = false, closing_ = false; // working_: a thread runs a task
    std::thread thread_;
};

} // namespace headrace
