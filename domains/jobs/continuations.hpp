// domains/jobs/continuations.hpp - the threads of a runtime on which functions run that users have given to
// then(). Private to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/task_scope.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headrace {

/// Functions may block. Where no thread is free, there is one more, up to `most_threads`. A thread in which a
/// function waits for a job is not counted: the job may itself be a function that needs a thread.
///
/// Threads: any may give.
class HEADRACE_EXPORT Continuations final : public TaskScope::Device {
public:
    static constexpr std::size_t most_threads = 64;

    Continuations() = default;
    ~Continuations() { close(); }
    Continuations(const Continuations&) = delete; // threads hold its address
    Continuations& operator=(const Continuations&) = delete;

    /// One call of `give` or `give_up` will follow. False: it is closed.
    [[nodiscard]] bool expect();
    /// Returns at once. `work` must not throw.
    void give(std::function<void()> work);
    void give_up();
    /// Waits for what is expected, runs it, then returns; not in one of its threads.
    void close();

    /// A function waits for a job in this thread, and has waited.
    void task_waits() override;
    void task_goes_on() override;

private:
    void serve();
    void add_thread_if_needed();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> work_;
    std::size_t idle_ = 0;     ///< threads
    std::size_t waiting_ = 0;  ///< threads, for jobs
    std::size_t expected_ = 0; ///< calls of `give`
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

} // namespace headrace
