// domains/continuations.hpp - the threads of a runtime on which functions run that users have given to
// then(). Private to domains/.
#pragma once
#include <headrace/core/export.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headrace {

/// Functions may block, for each other too: where no thread is free, there is one more, up to `most_threads`.
///
/// Threads: any may give.
class HEADRACE_EXPORT Continuations {
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

private:
    void serve();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> work_;
    std::size_t idle_ = 0;     ///< threads
    std::size_t expected_ = 0; ///< calls of `give`
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

} // namespace headrace
