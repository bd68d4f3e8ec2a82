// apps/job_program/wait.cpp - see wait.hpp.
#include "job_program/wait.hpp"
#include "job_program/interruption.hpp"
#include "job_program/progress_bar.hpp"
#include <headrace/core/error.hpp>

#include <chrono>

namespace job_program {

void wait_for(const headrace::JobHandle& job, std::uint64_t work_units, bool shows_progress) {
    ProgressBar bar(work_units, shows_progress);
    while (!job.wait_for(std::chrono::milliseconds(50))) {
        bar.show(job.finished_units());
        if (interruption() == 0) continue;
        leave_in_time();
        job.cancel();
    }
    bar.finish();
    job.wait(); // throws what went wrong
    if (interruption() == 0) return;
    // The job ended first. What comes next, files above all, would be cut off when patience ends.
    leave_in_time();
    throw headrace::Error{headrace::ErrorKind::cancelled, "interrupted"};
}

} // namespace job_program
