// domains/streams/submitter.hpp - a thread that submits requests. Internal to domains/streams/.
#pragma once
#include <headrace/core/detail/process_mark.hpp>
#include <headrace/core/export.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace headrace {

/// Runs the given work in its order. Unlike the tasks of a HostLane, it is not work of the program: it waits
/// for devices with full request queues, and a trace should not show that as busy time.
///
/// Threads   any; the work throws nothing
/// Lifetime  the destructor runs all remaining work
class HEADRACE_EXPORT Submitter {
public:
    Submitter();
    ~Submitter();
    Submitter(const Submitter&) = delete; // its thread holds its address
    Submitter& operator=(const Submitter&) = delete;

    /// Throws invalid_argument in a forked child.
    void ask(std::function<void()> work);

private:
    void run(const std::stop_token& stop);

    const ProcessMark process_;
    std::mutex mutex_; // guards what follows
    std::condition_variable_any changed_;
    std::deque<std::function<void()>> queue_;
    std::jthread thread_; // last: it uses the rest
};

} // namespace headrace
