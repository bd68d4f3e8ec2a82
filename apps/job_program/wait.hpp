// apps/job_program/wait.hpp - waits for a job as a user wants it: with a progress bar, and until Ctrl-C.
#pragma once
#include <headrace/domains/headrace.hpp>

#include <cstdint>
#include <string>

namespace job_program {

/// Returns when the job has ended. Cancels it when the user interrupts the program (see
/// watch_for_interruption); if a device does not answer then, the process leaves at once.
/// Errors: what went wrong with the job, that it was cancelled
void wait_for(const headrace::JobHandle& job, std::uint64_t work_units, const std::string& program,
              bool shows_progress);

} // namespace job_program
