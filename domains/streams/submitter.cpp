// domains/streams/submitter.cpp - see submitter.hpp.
#include "streams/submitter.hpp"

#include <utility>

namespace headrace {

Submitter::Submitter() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

Submitter::~Submitter() = default; // stops and joins the thread

void Submitter::ask(std::function<void()> work) {
    process_.check("a stream");
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(work));
    changed_.notify_one();
}

void Submitter::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !queue_.empty(); }) || !queue_.empty()) {
        const std::function<void()> work = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        work();
        lock.lock();
    }
}

} // namespace headrace
