// devices/simt/detail/sleepers.hpp - threads that wait for native events without keeping a core busy.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <atomic>

namespace headrace::HEADRACE_ON_SIMT {

/// Waits for native events: awake at first, then looking at them now and then.
///
/// The driver could put a thread to sleep for an event (`EventBlockingSync`). It takes 56 records of such
/// events per stream that are still to come, and then blocks whoever records another, with its lock held
/// (driver 580); and whom it wakes, it wakes late.
///
/// Threads: any. The device must be open; nobody may be waiting when it ends.
class HEADRACE_EXPORT Sleepers {
public:
    explicit Sleepers(int ordinal) : ordinal_(ordinal) {}
    Sleepers(const Sleepers&) = delete; // sleeping threads hold its address
    Sleepers& operator=(const Sleepers&) = delete;

    /// The driver's answer, once there is one. `soon`: a caller of ours stands still until then.
    Status until(EventHandle event, bool soon = false);

private:
    const int ordinal_;
    std::atomic_flag somebody_is_first_; ///< of those that hold up callers
};

} // namespace headrace::HEADRACE_ON_SIMT
