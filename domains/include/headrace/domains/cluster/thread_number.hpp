// domains/cluster/thread_number.hpp - threads of a rank that submit jobs beside the first one.
#pragma once
#include <headrace/core/export.hpp>

#include <cstdint>
#include <memory>

namespace headrace::cluster {

class Node;

/// Says which thread this is, so that the ranks know its jobs: the n-th job of thread 3 is the same one on
/// all ranks, whatever other threads do meanwhile. One thread of a rank needs no number. Any further one that
/// submits jobs which ranks share, makes runtimes, or calls `broadcast`, has one from its beginning:
///
///     std::thread second([&] {
///         const headrace::cluster::ThreadNumber number(1); // does nothing without ranks
///         runtime.submit(job).wait();
///     });
///
/// Functions that `then` runs need none: the ranks know them by the thread that called `then`. So each thread
/// makes the same calls of `then` on all ranks, also for functions that submit nothing.
/// Jobs of two threads that use one domain need an order: one thread waits for the other. Without it, a rank
/// may run them in another order than the next rank does. Where ranks go on after losses
/// (EpochOptions::lost_after), one thread submits all jobs.
///
/// Threads   the one that made it also destroys it; before the Session ends
/// Errors    invalid_argument if `number` is 0, or if another thread of this rank has it at present
class HEADRACE_EXPORT ThreadNumber {
public:
    /// `number`: the same on all ranks, above 0.
    explicit ThreadNumber(std::uint32_t number);
    ~ThreadNumber();
    ThreadNumber(const ThreadNumber&) = delete;
    ThreadNumber& operator=(const ThreadNumber&) = delete;

private:
    struct Entered;
    std::unique_ptr<Entered> entered_; ///< null: there are no ranks
};

} // namespace headrace::cluster
