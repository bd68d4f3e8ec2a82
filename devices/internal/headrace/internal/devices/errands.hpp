// internal/devices/errands.hpp - threads that drivers' callbacks wake, and threads that call drivers, kept
// apart. A driver calls back from a thread of its own, in which it must not be called again (CUDA forbids it,
// PoCL holds locks); and any call of a driver may block until something settles that only one of our threads
// settles. So a callback only posts, the thread that settles calls no driver, and what must call one has a
// thread of its own.
#pragma once
#include <cstdint>
#include <functional>
#include <headrace/core/export.hpp>
#include <memory>
#include <utility>

namespace headrace {

/// A thread that does what it is given, in order.
///
/// Threads: any may give, also the drivers' own. The work must not throw. Unless the thread is one that may
/// call drivers, the work must not call any.
class HEADRACE_EXPORT Errands {
public:
    enum class Kind : std::uint8_t { calls_no_driver, may_call_drivers };
    explicit Errands(Kind kind = Kind::calls_no_driver);
    ~Errands();                       ///< does what it was given, then returns; not in the thread itself
    Errands(const Errands&) = delete; // the thread holds its address
    Errands& operator=(const Errands&) = delete;

    /// Returns at once. False: it was closed, and the work is dropped.
    bool give(std::function<void()> work);
    /// Does what it was given, then ends the thread.
    void close();

private:
    class Thread;
    std::unique_ptr<Thread> thread_;
};

/// Runs `settle` soon, in order, in the one thread in which events settle whose driver calls back. It must be
/// short, must not throw, and must not call a driver: streams may wait for what comes after it.
///
/// Threads: any, also the drivers' own, also while the process ends: what is posted then is dropped.
HEADRACE_EXPORT void notify(std::function<void()> settle);

/// Drops a reference in a thread in which drivers may be called, and may block: the last one destroys
/// streams, events, memories. As `notify` otherwise, but what comes too late is kept and not destroyed.
HEADRACE_EXPORT void let_go(std::shared_ptr<const void> last);

/// True in the threads of Errands that must call no driver: what may block must not be called.
[[nodiscard]] HEADRACE_EXPORT bool on_errand() noexcept;

/// An object whose destructor calls a driver: where the last reference goes in a thread that must not,
/// `let_go`'s does it.
template <class Object, class... Arguments>
[[nodiscard]] std::shared_ptr<Object> make_destroyed_off_errands(Arguments&&... arguments) {
    return {std::make_unique<Object>(std::forward<Arguments>(arguments)...).release(), [](Object* object) {
                std::unique_ptr<const Object> last(object);
                if (on_errand()) let_go(std::move(last));
            }};
}

} // namespace headrace
