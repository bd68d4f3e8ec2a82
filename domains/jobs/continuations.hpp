// domains/jobs/continuations.hpp - threads of a runtime that run the functions which users pass to then().
// Internal to domains/.
#pragma once
#include <headrace/core/detail/process_mark.hpp>
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

/// Functions may block. If no thread is free, a further one starts, up to `most_threads`. A thread that waits
/// for a job in a function does not count: that job may itself be a function that needs a thread.
///
/// Threads: any may call give.
class HEADRACE_EXPORT Continuations final : public TaskScope::Device {
public:
    static constexpr std::size_t most_threads = 64;

    Continuations() = default;
    ~Continuations() { close(); }
    Continuations(const Continuations&) = delete; // threads hold its address
    Continuations& operator=(const Continuations&) = delete;

    /// Announces exactly one later call of `give` or `give_up`. False: it is closed. Throws invalid_argument
    /// in a forked child.
    [[nodiscard]] bool expect();
    /// Returns at once. `work` must not throw.
    void give(std::function<void()> work);
    void give_up();
    /// Waits for all announced work, runs it, then returns. Not to be called in one of its threads.
    void close();

    /// A function begins and ends a wait for a job, in the calling thread.
    void task_waits() override;
    void task_goes_on() override;

private:
    void serve();
    void add_thread_if_needed();

    const ProcessMark process_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> work_;
    std::size_t idle_ = 0;     ///< threads
    std::size_t waiting_ = 0;  ///< threads, for jobs
    std::size_t expected_ = 0; ///< calls of `give` or `give_up`
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

} // namespace headrace
