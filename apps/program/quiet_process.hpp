// apps/program/quiet_process.hpp - a process whose results another one writes.
#pragma once

namespace program {

/// From now on this process writes no results: standard output leads nowhere, and output files stay as they
/// are. Errors that another rank of a cluster has had are not repeated.
///
/// Threads   one, before any output
void become_quiet();
[[nodiscard]] bool is_quiet() noexcept;

} // namespace program
