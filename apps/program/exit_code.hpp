// apps/program/exit_code.hpp - how programs end: 0; 1 for a failure; 2 for a mistake of the user's.
#pragma once
#include <functional>
#include <string>

namespace program {

/// One line for people on stderr, whatever the message was made of. Returns `exit_code`. Of several processes
/// of one program, one prints it: see quiet_process.hpp.
int complain(const std::string& program, const std::string& what, int exit_code);

/// Throws io if something that was printed could not be written.
void flush_standard_output();

/// Calls `work` and flushes standard output; what it throws becomes a line and the exit code.
[[nodiscard]] int exit_code_of(const std::string& program, const std::function<void()>& work);

} // namespace program
