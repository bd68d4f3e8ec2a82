// domains/jobs/continuations.cpp - see continuations.hpp.
#include "jobs/continuations.hpp"

#include <utility>

namespace headrace {

bool Continuations::expect() {
    process_.check("a runtime");
    const std::scoped_lock lock(mutex_);
    if (closing_) return false;
    ++expected_;
    return true;
}

void Continuations::give(std::function<void()> work) {
    const std::scoped_lock lock(mutex_);
    --expected_;
    work_.push_back(std::move(work));
    add_thread_if_needed();
    changed_.notify_all(); // a thread, or `close`
}

void Continuations::add_thread_if_needed() {
    if (idle_ < work_.size() && threads_.size() - waiting_ < most_threads)
        threads_.emplace_back([this] { serve(); });
}

void Continuations::task_waits() {
    const std::scoped_lock lock(mutex_);
    ++waiting_;
    add_thread_if_needed();
}

void Continuations::task_goes_on() {
    const std::scoped_lock lock(mutex_);
    --waiting_;
}

void Continuations::give_up() {
    const std::scoped_lock lock(mutex_);
    --expected_;
    changed_.notify_all();
}

void Continuations::close() {
    std::vector<std::thread> threads;
    {
        std::unique_lock lock(mutex_);
        // Running functions may cause calls of further functions.
        changed_.wait(lock, [this] { return expected_ == 0 && work_.empty() && idle_ == threads_.size(); });
        closing_ = true;
        threads.swap(threads_);
    }
    changed_.notify_all();
    for (std::thread& thread : threads) thread.join();
}

void Continuations::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        if (idle_ == threads_.size()) changed_.notify_all(); // `close` waits for this
        changed_.wait(lock, [this] { return closing_ || !work_.empty(); });
        --idle_;
        if (work_.empty()) return;
        auto work = std::move(work_.front());
        work_.pop_front();
        lock.unlock();
        work();
        work = nullptr; // its destructor may add more work
        lock.lock();
    }
}

} // namespace headrace
