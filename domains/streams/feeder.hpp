// domains/streams/feeder.hpp - a thread that submits requests. Private to domains/streams/.
#pragma once
#include <headrace/core/export.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace headrace {

/// Does what it is asked for in that order. Unlike a HostLane's tasks, these are not the program's work: they
/// wait for devices that have as many requests as they take, and no trace should call that busy.
///
/// Threads   any; what it is asked for throws nothing
/// Lifetime  the destructor does all that was asked for
class HEADRACE_EXPORT Feeder {
public:
    Feeder();
    ~Feeder();
    Feeder(const Feeder&) = delete; // its thread holds its address
    Feeder& operator=(const Feeder&) = delete;

    void ask(std::function<void()> work);

private:
    void run(const std::stop_token& stop);

    std::mutex mutex_; // guards what follows
    std::condition_variable_any changed_;
    std::deque<std::function<void()>> queue_;
    std::jthread thread_; // last: it uses the rest
};

} // namespace headrace
