// domains/streams/feeder.cpp - see feeder.hpp.
#include "streams/feeder.hpp"

#include <utility>

namespace headrace {

Feeder::Feeder() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

Feeder::~Feeder() = default; // stops and joins the thread

void Feeder::ask(std::function<void()> work) {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(work));
    changed_.notify_one();
}

void Feeder::run(const std::stop_token& stop) {
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
