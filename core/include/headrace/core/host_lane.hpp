// core/host_lane.hpp - a thread that runs host tasks one after another, each when its data allows.
#pragma once
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

/// Tasks of one lane run in the order of submission; lanes run beside each other, so that reading the next
/// frame and writing the last one overlap.
///
/// Threads   any may submit; tasks may use tiles of any controller. A task must not wait for its own lane,
///           nor submit to a device that has very many requests waiting for tasks behind it
/// Errors    what a task throws fails its event, and so what reads the tiles that it would have written
/// Lifetime  the destructor runs what was submitted
class HEADRACE_EXPORT HostLane {
public:
    /// `name`: of its thread, for debuggers and profilers, which show the first 15 characters.
    explicit HostLane(std::string name = "host tasks");
    ~HostLane();
    HostLane(const HostLane&) = delete; // its thread holds its address
    HostLane& operator=(const HostLane&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// False: submitting returns when the task has ended, as ControllerOptions::asynchronous; from the next
    /// one on. Such a task runs on the submitting thread, unless another is at work in the lane.
    void set_asynchronous(bool asynchronous) noexcept { asynchronous_ = asynchronous; }

    /// `task` finds the host images of what it reads up to date, and may write those of what it writes.
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

    std::string name_;
    std::atomic<bool> asynchronous_ = true;
    InOrderLane lane_;
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    std::deque<Task> queue_;
    ErrorPtr first_failure_;
    bool working_ = false, closing_ = false; // working_: some thread performs a task
    std::thread thread_;
};

} // namespace headrace
