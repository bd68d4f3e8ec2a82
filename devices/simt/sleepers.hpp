// devices/simt/sleepers.hpp - threads that wait for native events without keeping a core busy.
#pragma once
#include <headrace/devices/simt/runtime.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

/// Waits for events that were not made for it.
///
/// Events for whose completion a thread can sleep (`EventBlockingSync`) are scarce: CUDA's driver takes 56
/// records of them per stream that are still to come, and then blocks whoever records another, with its lock
/// held (driver 580). So the events that order and time our work are not of that kind; of others a thousand
/// fit; and each thread that sleeps has a stream of its own that waits for the event and then comes to one
/// that can be slept for. There are six at most; further threads ask now and then.
///
/// Threads: any. The device must be open; nobody may be waiting when it ends.
class Sleepers {
public:
    explicit Sleepers(int ordinal);
    ~Sleepers();
    Sleepers(const Sleepers&) = delete; // sleeping threads hold its address
    Sleepers& operator=(const Sleepers&) = delete;

    /// The driver's answer, once there is one. `soon`: a caller of ours stands still until then.
    Status until(EventHandle event, bool soon = false);

private:
    struct Bed;

    [[nodiscard]] std::unique_ptr<Bed> take();

    const int ordinal_;
    std::atomic_flag somebody_is_first_; ///< of those that hold up callers
    std::mutex mutex_;
    std::vector<std::unique_ptr<Bed>> free_;
    std::size_t made_ = 0;
};

} // namespace headrace::HEADRACE_ON_SIMT
