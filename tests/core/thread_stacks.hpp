// tests/core/thread_stacks.hpp - what every thread of this process is doing, for a test that hangs where
// no debugger is. Linux with glibc.
#pragma once
#include <core/eventually.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace headrace::test {

namespace stacks {
inline std::atomic<int> written{0}; ///< stacks so far

/// In the thread that is asked. Of functions that are not exported it gives the address in their file:
/// `addr2line -Cfe FILE ADDRESS` knows the rest.
inline void write_own(int) {
    const int error = errno; // of whatever was interrupted
    std::array<void*, 48> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
    errno = error;
    written.fetch_add(1);
}

inline std::string line_of(const std::filesystem::path& file) {
    std::string line;
    std::getline(std::ifstream(file) >> std::ws, line);
    return line;
}
} // namespace stacks

/// To stderr. A thread that a driver holds in the kernel does not answer; then the kernel says where that is.
/// One at a time. Threads: any.
inline void write_thread_stacks() {
    std::array<void*, 1> frame{};
    backtrace(frame.data(), 1); // loads what it needs, which must not happen in a signal's handler
    struct sigaction action {};
    action.sa_handler = stacks::write_own;
    action.sa_flags = SA_RESTART;
    sigaction(SIGURG, &action, nullptr); // which nobody uses, and whose default is to do nothing
    std::error_code gone;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
        const auto& folder = thread.path();
        const int number = std::stoi(folder.filename());
        std::fprintf(stderr, "thread %d, %s, in the kernel: %s\n", number,
                     stacks::line_of(folder / "comm").c_str(), stacks::line_of(folder / "wchan").c_str());
        const int before = stacks::written.load();
        syscall(SYS_tgkill, getpid(), number, SIGURG);
        if (!eventually([&] { return stacks::written.load() != before; }, std::chrono::seconds(1)))
            std::fprintf(stderr, "it does not answer\n");
    }
}

} // namespace headrace::test
