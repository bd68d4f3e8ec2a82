// tests/core/hang_limit.hpp - how long anything in a test may take before it is said to hang.
#pragma once
#include <chrono>

namespace headrace::test {

/// On a machine that is busy with other things, too; below CTest's own limit (tests/CMakeLists.txt), which
/// would end a test without a word.
inline constexpr std::chrono::seconds hang_limit{500};

} // namespace headrace::test
