// internal/domains/cluster/submitters.hpp - what submits jobs on a rank, and the numbers of its calls.
// Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/numbers.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace headrace::cluster {

/// While it lives, the calling thread is this submitter; nothing: it is what it would be by itself.
class HEADRACE_EXPORT SubmitterScope {
public:
    explicit SubmitterScope(std::optional<std::uint64_t> submitter);
    ~SubmitterScope();
    SubmitterScope(const SubmitterScope&) = delete; // the thread refers to it
    SubmitterScope& operator=(const SubmitterScope&) = delete;

private:
    std::optional<std::uint64_t> outer_;
};

/// Gives the calls of each submitter of a rank their numbers. A submitter is a thread that has a
/// ThreadNumber, or the one thread that has none: that is submitter 0. Or it is a function that the library
/// runs when a job has ended: its number follows from what called `then`, and from how many such calls that
/// has made.
///
/// Threads   any
class HEADRACE_EXPORT Submitters {
public:
    enum class Call : std::uint8_t { exchange, job, function, run };

    /// The next call of this kind by the calling thread's submitter.
    ///
    /// Errors    invalid_argument if a second thread without a number calls
    [[nodiscard]] CallNumber next(Call call);
    /// The submitter that a function will be, which the calling thread passes to `then`. Nothing: the thread
    /// is no submitter.
    [[nodiscard]] std::optional<std::uint64_t> next_function();
    /// Exchanges, jobs and functions are counted anew.
    void begin_generation(std::uint32_t generation);
    /// The thread without a number may be another one from now on.
    void forget_thread();
    /// A thread takes this number, and gives it back.
    ///
    /// Errors    invalid_argument if the number is 0, or another thread has it
    void enter(std::uint64_t thread);
    void leave(std::uint64_t thread) noexcept;

private:
    [[nodiscard]] std::optional<std::uint64_t> current(); ///< of the calling thread. With the lock

    std::mutex mutex_;
    std::uint32_t generation_ = 0;
    std::map<std::pair<std::uint64_t, Call>, std::uint32_t> calls_;
    std::set<std::uint64_t> threads_; ///< that have a number
    std::optional<std::thread::id> without_number_;
};

} // namespace headrace::cluster
