// core/host_lane.hpp - a thread that runs host tasks one after another, each when its data allows.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/core/submission.hpp>

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
/// Threads   any may submit; tasks may use tiles of any controller. A task must not wait for its own lane
/// Errors    what a task throws fails its event, and so what reads the tiles that it would have written
/// Lifetime  the destructor runs what was submitted
class HostLane {
public:
    HostLane();
    ~HostLane();
    HostLane(const HostLane&) = delete; // its thread holds its address
    HostLane& operator=(const HostLane&) = delete;

    /// `task` finds the host images of what it reads up to date, and may write those of what it writes.
    Event run(std::string_view name, std::span<const TileUse> uses, std::function<void()> task);

private:
    struct Task {
        std::string name;
        std::function<void()> body;
        std::vector<Event> after;
        Promise done;
    };

    Event enqueue(Task task);
    void work();

    InOrderLane lane_;
    std::mutex mutex_; // guards the queue
    std::condition_variable changed_;
    std::deque<Task> queue_;
    bool closing_ = false;
    std::thread thread_;
};

} // namespace headrace
