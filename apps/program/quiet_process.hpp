// apps/program/quiet_process.hpp - several processes of one program, of which one writes the results.
#pragma once
#include <cstdio>
#include <functional>
#include <string>

namespace program {

/// From now on this process writes no results: standard output leads nowhere, and output files stay as they
/// are.
///
/// Threads   one, before any output
void become_quiet();
[[nodiscard]] bool is_quiet() noexcept;
/// Where tables for people go: standard output, or standard error if another output goes there.
[[nodiscard]] std::FILE* table_output(bool stdout_is_taken) noexcept;

/// Decides whether and when a failure of this process is printed. `print` prints it.
using FailureTeller = std::function<void(const std::function<void()>& print)>;
/// From now on `complain` calls `teller`. Null: failures are printed at once.
void tell_failures_by(FailureTeller teller);
/// Prints, or lets the teller decide.
void tell_failure(const std::function<void()>& print);

} // namespace program
