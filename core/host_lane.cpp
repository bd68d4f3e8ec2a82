// core/host_lane.cpp - see host_lane.hpp.
#include <headrace/core/host_lane.hpp>

#include <utility>

namespace headrace {

HostLane::HostLane() : thread_([this] { work(); }) {}

HostLane::~HostLane() {
    {
        const std::scoped_lock lock(mutex_);
        closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

Event HostLane::run(std::string_view name, std::span<const TileUse> uses, std::function<void()> task) {
    const std::scoped_lock in_order(lane_.mutex);
    Submission submission(nullptr, &lane_, uses);
    submission.request();
    return submission.run(name, [&](std::span<const Event> after) {
        return enqueue({std::string(name), std::move(task), {after.begin(), after.end()}, {}});
    });
}

Event HostLane::enqueue(Task task) {
    Event event = task.done.event();
    {
        const std::scoped_lock lock(mutex_);
        queue_.push_back(std::move(task));
    }
    changed_.notify_one();
    return event;
}

void HostLane::work() {
    for (;;) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
        if (queue_.empty()) return;
        Task task = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();

        ErrorPtr failure;
        for (const Event& event : task.after) // all of them, also after a failure: the event's promise
            if (const ErrorPtr error = event.outcome(); error && !failure) failure = error;
        if (!failure) {
            try {
                task.body();
            } catch (...) {
                Error error{*current_error()};
                failure = std::make_shared<const Error>(std::move(error.in_task(task.name)));
            }
        }
        task.body = {}; // what it captured goes before anybody is told
        if (failure)
            task.done.fail(std::move(failure));
        else
            task.done.complete();
    }
}

} // namespace headrace
