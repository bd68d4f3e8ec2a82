// core/control/host_lane.cpp - see host_lane.hpp.
#include <headrace/core/host_lane.hpp>
#include <headrace/core/trace.hpp>

#include <utility>

#include <pthread.h>

namespace headrace {

HostLane::HostLane(std::string name) : name_(std::move(name)), thread_([this] { work(); }) {
    lane_.name = name_;
    // The system refuses longer names. A thread without a name works as well.
    static_cast<void>(pthread_setname_np(thread_.native_handle(), name_.substr(0, 15).c_str()));
}

HostLane::~HostLane() {
    {
        const std::scoped_lock lock(mutex_);
        closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

Event HostLane::run(std::string_view name, std::span<const TileUse> uses, std::function<void()> task) {
    process_.check("a host lane");
    const bool waits = !asynchronous_;
    Event event, mine;
    bool queued = false;
    {
        const std::scoped_lock in_order(lane_.mutex);
        Submission submission(nullptr, &lane_, uses);
        submission.request();
        event = submission.run(name, [&](std::span<const Event> after) {
            queued = true;
            mine = enqueue({std::string(name), std::move(task), {after.begin(), after.end()}, {}}, waits);
            return mine;
        });
    }
    if (!queued) mine = enqueue({std::string(name), {}, {event}, {}}, waits); // failed: for wait_all
    if (waits) {
        help(mine);
        static_cast<void>(event.outcome());
    }
    if (Trace* const trace = Trace::recording()) trace->tidy();
    return event;
}

void HostLane::wait_all() {
    process_.check("a host lane");
    static_cast<void>(enqueue({"wait_all", [] {}, {}, {}}).outcome()); // the queue is in order
    ErrorPtr failure;
    {
        const std::scoped_lock lock(mutex_);
        failure = std::exchange(first_failure_, {});
    }
    if (failure) throw Error{*failure};
}

void HostLane::remember(const ErrorPtr& failure) {
    const std::scoped_lock lock(mutex_);
    if (!first_failure_) first_failure_ = failure;
}

/// `to_be_helped`: the submitting thread waits anyway, so it runs the task. This saves waking two threads.
Event HostLane::enqueue(Task task, bool to_be_helped) {
    Event event = task.done.event();
    {
        const std::scoped_lock lock(mutex_);
        queue_.push_back(std::move(task));
    }
    if (!to_be_helped) changed_.notify_one();
    return event;
}

void HostLane::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return !working_ && (closing_ || !queue_.empty()); });
        if (queue_.empty()) return;
        run_first(lock);
    }
}

/// Runs the tasks in the queue up to `mine`, unless another thread runs tasks. That thread then continues, or
/// wakes the thread of the lane.
void HostLane::help(const Event& mine) {
    std::unique_lock lock(mutex_);
    while (!working_ && !queue_.empty() && !mine.state()->settled()) run_first(lock);
    const bool more = !working_ && !queue_.empty();
    lock.unlock();
    if (more) changed_.notify_one();
}

/// The lock is not held while the task runs. working_ keeps other threads from running tasks.
void HostLane::run_first(std::unique_lock<std::mutex>& lock) {
    Task task = std::move(queue_.front());
    queue_.pop_front();
    working_ = true;
    lock.unlock();
    perform(std::move(task));
    lock.lock();
    working_ = false;
}

void HostLane::perform(Task task) {
    ErrorPtr failure;
    EventTimes times;
    for (const Event& event : task.after) // wait for all, also after a failure: `done` must not settle before
        if (const ErrorPtr error = event.outcome(); error && !failure) failure = error;
    if (!failure) {
        try {
            times.begin = std::chrono::steady_clock::now();
            task.body();
            times.end = std::chrono::steady_clock::now();
        } catch (...) {
            Error error{*current_error()};
            failure = std::make_shared<const Error>(std::move(error.in_task(task.name)));
        }
    }
    task.body = {}; // destroys captured objects before the event completes
    if (failure) {
        remember(failure);
        task.done.fail(std::move(failure));
    } else {
        task.done.complete(times);
    }
}

} // namespace headrace
