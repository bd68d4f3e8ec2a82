// apps/job_program/wait.cpp - see wait.hpp.
#include "job_program/wait.hpp"
#include "job_program/interruption.hpp"
#include "job_program/progress_bar.hpp"
#include "program/exit_code.hpp"

#include <chrono>
#include <optional>

#include <unistd.h>

namespace job_program {

using namespace std::chrono_literals;

/// What does not answer (a driver that compiles, a kernel that hangs) cannot be stopped: the process leaves
/// without it.
void wait_for(const headrace::JobHandle& job, std::uint64_t work_units, const std::string& program,
              bool shows_progress) {
    constexpr auto patience = 600ms; // of the second that a user is promised
    ProgressBar bar(work_units, shows_progress);
    std::optional<std::chrono::steady_clock::time_point> cancelled;
    while (!job.wait_for(50ms)) {
        bar.show(job.finished_units());
        if (interruption() == 0) continue;
        if (!cancelled) {
            job.cancel();
            cancelled = std::chrono::steady_clock::now();
        } else if (std::chrono::steady_clock::now() - *cancelled > patience) {
            ::_exit(program::complain(program,
                                      "interrupted; a device did not answer in time, leaving without it",
                                      128 + interruption()));
        }
    }
    bar.finish();
    job.wait(); // throws what went wrong
}

} // namespace job_program
