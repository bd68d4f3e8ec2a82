// bench/tasks/waiting.hpp - a job that many others wait behind.
#pragma once
#include <cstddef>

namespace bench {

struct WaitingTurn {
    double seconds;    ///< of the job
    double bytes_each; ///< memory of a job that waits; 0 without any
};

/// Runs a job of two thousand tasks on the processor while so many others wait for what it writes, and
/// cancels them.
[[nodiscard]] WaitingTurn run_before_waiting_jobs(std::size_t count);

} // namespace bench
