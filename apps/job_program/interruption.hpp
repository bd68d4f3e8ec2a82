// apps/job_program/interruption.hpp - Ctrl-C as a flag.
#pragma once

namespace job_program {

/// From now on SIGINT and SIGTERM are remembered instead of ending the process; the second one ends it at
/// once, and says so: a GPU kernel that does not answer cannot be stopped.
void watch_for_interruption();

/// The signal that came, or 0. Shells expect the exit code 128 + signal.
[[nodiscard]] int interruption() noexcept;

} // namespace job_program
