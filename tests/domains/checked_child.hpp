// tests/domains/checked_child.hpp - what a job says in checked mode: in a process of its own, whose
// environment asks for it.
#pragma once
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace headrace::test {

/// `run` throws an Error that this pattern describes, or "well" if it throws none. The pattern may also
/// describe what the log says.
inline void expect_said_in_checked_mode(const std::string& pattern, const std::function<void()>& run) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            setenv("HEADRACE_CHECK", "1", 1);
            std::string said = "well";
            try {
                run();
            } catch (const Error& error) {
                said = error.what();
            }
            std::fprintf(stderr, "%s\n", said.c_str());
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), pattern);
}

} // namespace headrace::test
