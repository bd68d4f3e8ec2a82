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
    /// Runs what it was given, then returns; not in one of its threads.
    ~Continuations();
    Continuations(const Continuations&) = delete; // threads hold its address
    Continuations& operator=(const Continuations&) = delete;

    /// Returns at once. `work` must not throw.
    void give(std::function<void()> work);

private:
    void serve();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> work_;
    std::size_t idle_ = 0; ///< threads
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

} // namespace headrace
