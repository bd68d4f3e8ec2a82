// tests/core/forked_child.hpp - runs code in a child of fork(), where the threads of this process are absent.
#pragma once
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace headrace::test {

/// Returns what `work` returned in a child process. A child that does not end within a minute is killed.
inline std::string in_forked_child(const std::function<std::string()>& work) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    EXPECT_GE(child, 0);
    if (child == 0) {
        ::alarm(60);
        const std::string said = work();
        static_cast<void>(::write(ends[1], said.data(), said.size()) >= 0);
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string said;
    std::array<char, 256> some{};
    for (ssize_t count = 0; (count = ::read(ends[0], some.data(), some.size())) > 0;)
        said.append(some.data(), static_cast<std::size_t>(count));
    ::close(ends[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "it waits for ever, or crashed: " << status;
    return said;
}

/// What `work` throws in a child process; "nothing" if it throws nothing.
inline std::string thrown_in_forked_child(const std::function<void()>& work) {
    return in_forked_child([&]() -> std::string {
        try {
            work();
        } catch (const Error& error) {
            return error.what();
        }
        return "nothing";
    });
}

/// Each of these calls, which have names, is an Error in a child process that says why.
inline void
expect_errors_in_forked_child(const std::vector<std::pair<const char*, std::function<void()>>>& calls) {
    for (const auto& [name, call] : calls) {
        const std::string thrown = thrown_in_forked_child(call);
        EXPECT_NE(thrown.find("does not follow a fork()"), std::string::npos) << name << ": " << thrown;
    }
}

} // namespace headrace::test
