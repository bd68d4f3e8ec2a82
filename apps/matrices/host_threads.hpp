// apps/matrices/host_threads.hpp - the threads that share out one host task.
#pragma once
#include <functional>
#include <memory>

namespace matrices {

/// As many as asked for, but no more than the machine has.
///
/// Threads: any may call; several callers share them.
class HostThreads {
public:
    explicit HostThreads(unsigned count);
    ~HostThreads();
    HostThreads(const HostThreads&) = delete;
    HostThreads& operator=(const HostThreads&) = delete;

    /// Calls body(i) for every i below `n`, in parallel; the caller is one of the threads.
    void run(unsigned n, const std::function<void(unsigned)>& body);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace matrices
