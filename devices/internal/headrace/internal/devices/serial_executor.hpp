// internal/devices/serial_executor.hpp - serial executors, which keep drivers' callbacks apart from calls of
// drivers. A driver calls back in its own thread. That thread must not call the driver (CUDA forbids it, PoCL
// holds locks). A call of a driver may block until an event settles, and one of our threads must settle that
// event. So a callback only posts work. The thread that settles events calls no driver. Work that calls a
// driver runs in another thread.
#pragma once
#include <cstdint>
#include <functional>
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>
#include <memory>
#include <utility>

namespace headrace {

/// A serial executor: a thread that runs the work it is given, in order.
///
/// Threads: any thread may call `post`, also a driver's own. The work must not throw. It must not call a
/// driver, unless the kind is `may_call_drivers`.
class HEADRACE_EXPORT SerialExecutor {
public:
    enum class Kind : std::uint8_t { calls_no_driver, may_call_drivers };
    explicit SerialExecutor(Kind kind = Kind::calls_no_driver);
    ~SerialExecutor(); ///< runs the work that is left, then returns; not in the thread itself
    SerialExecutor(const SerialExecutor&) = delete; // the thread holds its address
    SerialExecutor& operator=(const SerialExecutor&) = delete;

    /// Returns at once. False: the executor is closed, and the work is dropped.
    bool post(std::function<void()> work);
    /// Runs the work that is left, then ends the thread.
    void close();

private:
    class Thread;
    std::unique_ptr<Thread> thread_;
};

/// Runs `settle` soon, in order, in the one thread that settles events after drivers' callbacks. It must be
/// short, must not throw, and must not call a driver: streams may wait for work that comes after it.
///
/// Threads: any, also the drivers' own, also while the process ends: work posted then is dropped.
HEADRACE_EXPORT void notify(std::function<void()> settle);

/// Drops a reference in a thread that may call drivers and may block: the last reference destroys streams,
/// events, memories. Otherwise as `notify`, but a reference that comes too late is kept.
HEADRACE_EXPORT void let_go(std::shared_ptr<const void> last);

/// True in a thread of SerialExecutor that must not call a driver. Such a thread must call nothing that may
/// block.
[[nodiscard]] HEADRACE_EXPORT bool on_serial_executor() noexcept;

/// Makes an object with a destructor that calls a driver or waits. The thread of `let_go` destroys the object
/// if the last reference is dropped in a thread that must not call a driver, or by a continuation of an
/// event.
template <class Object, class... Arguments>
[[nodiscard]] std::shared_ptr<Object> make_destroyed_by_executor(Arguments&&... arguments) {
    return {std::make_unique<Object>(std::forward<Arguments>(arguments)...).release(), [](Object* object) {
                std::unique_ptr<const Object> last(object);
                if (on_serial_executor() || EventState::runs_continuations()) let_go(std::move(last));
            }};
}

} // namespace headrace
