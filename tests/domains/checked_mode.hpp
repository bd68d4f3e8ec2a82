// tests/domains/checked_mode.hpp - why a test is skipped when the tests run in checked mode
// (HEADRACE_CHECK=1):
//     if (is_checked_mode()) GTEST_SKIP() << leaves_outputs_unwritten;
#pragma once
#include <headrace/internal/domains/checked_task.hpp>

namespace headrace::test {

inline constexpr const char* leaves_outputs_unwritten =
    "checked mode: the job does not write what it declares writes() of, which is an error there";
inline constexpr const char* counts_launches =
    "checked mode: tasks run one by one there, and this test counts the launches that they share";
inline constexpr const char* counts_moved_bytes =
    "checked mode: it moves outputs to the host and back, and this test counts the bytes that a job moves";

} // namespace headrace::test
