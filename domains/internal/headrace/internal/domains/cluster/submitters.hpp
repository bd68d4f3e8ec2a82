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
#include <utility>

namespace headrace::cluster {

/// What runs a task. A task runs on any rank, so the ranks cannot know its jobs.
constexpr std::uint64_t no_submitter = ~std::uint64_t{0};

/// While it lives, the calling thread is this submitter.
class HEADRACE_EXPORT SubmitterScope {
public:
    explicit SubmitterScope(std::uint64_t submitter);
    ~SubmitterScope();
    SubmitterScope(const SubmitterScope&) = delete; // the thread refers to it
    SubmitterScope& operator=(const SubmitterScope&) = delete;

private:
    std::optional<std::uint64_t> outer_; ///< nothing: the thread was what it is by itself
};

/// Gives the calls of each submitter of a rank their numbers. A submitter is a thread that has a
/// ThreadNumber, or the one thread that has none: that is submitter 0. Or it is a function that the library
/// runs when a job has ended: its number follows from what called `then`, and from how many such calls that
/// has made.
///
/// When the ranks go on after losses, there is one submitter: all that a rank does is done again from one
/// point of one thread.
///
/// Threads   any
class HEADRACE_EXPORT Submitters {
public:
    enum class Call : std::uint8_t { exchange, job, function, run };

    /// The next call of this kind by the calling thread's submitter.
    ///
    /// Errors    invalid_argument if a second thread without a number calls, or a task, or another submitter
    ///           than the only one
    [[nodiscard]] CallNumber next(Call call);
    /// The submitter that a function will be, which the calling thread passes to `then`.
    [[nodiscard]] std::uint64_t next_function();
    /// It has returned.
    void forget_function(std::uint64_t function) noexcept;
    /// From now on, the calling thread's submitter is the only one.
    ///
    /// Errors    invalid_argument if another one is that already
    void admit_only_this();
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
    [[nodiscard]] std::uint64_t current();               ///< of the calling thread. With the lock
    void expect_admitted(std::uint64_t submitter) const; ///< with the lock

    std::mutex mutex_;
    std::uint32_t generation_ = 0;
    std::map<std::pair<std::uint64_t, Call>, std::uint32_t> calls_;
    std::set<std::uint64_t> threads_;             ///< that have a number
    std::optional<std::uint64_t> without_number_; ///< the thread
    std::optional<std::uint64_t> only_;
};

} // namespace headrace::cluster
