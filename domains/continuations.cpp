// domains/continuations.cpp - see continuations.hpp.
#include <headrace/domains/continuations.hpp>

#include <utility>

namespace headrace {

Continuations::~Continuations() {
    {
        const std::scoped_lock lock(mutex_);
        closing_ = true;
    }
    changed_.notify_all();
    for (std::size_t i = 0;; ++i) { // what still runs may give more, and so make more threads
        std::thread thread;
        {
            const std::scoped_lock lock(mutex_);
            if (i == threads_.size()) return;
            thread = std::move(threads_[i]);
        }
        thread.join();
    }
}

void Continuations::give(std::function<void()> work) {
    const std::scoped_lock lock(mutex_);
    work_.push_back(std::move(work));
    if (idle_ >= work_.size() || threads_.size() == most_threads)
        changed_.notify_one();
    else
        threads_.emplace_back([this] { serve(); });
}

void Continuations::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        changed_.wait(lock, [this] { return closing_ || !work_.empty(); });
        --idle_;
        if (work_.empty()) return;
        auto work = std::move(work_.front());
        work_.pop_front();
        lock.unlock();
        work();
        work = nullptr; // what goes with it may give more
        lock.lock();
    }
}

} // namespace headrace
