// apps/job_program/wait.hpp - waits for a job as a user wants it: with a progress bar, and until Ctrl-C.
#pragma once
#include <headrace/headrace.hpp>

#include <cstdint>

namespace job_program {

/// Returns when the job has ended. When the user interrupts the program (see interruption.hpp), cancels the
/// job and sees to it that the program ends.
/// Errors: what went wrong with the job; that the program was interrupted
void wait_for(const headrace::JobHandle& job, std::uint64_t work_units, bool shows_progress);

} // namespace job_program
