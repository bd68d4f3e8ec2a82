// apps/job_program/progress_bar.hpp - how far it is, on stderr.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace job_program {

/// Shows nothing if it is not wanted. On a terminal it is one line that changes, elsewhere a line per tenth.
class ProgressBar {
public:
    ProgressBar(std::uint64_t total, bool is_wanted);
    /// `doing`: what comes next.
    void show(std::uint64_t finished, const std::string& doing = {});
    /// Ends the line.
    void finish();

private:
    std::uint64_t total_;
    bool is_wanted_, is_terminal_;
    unsigned shown_ = 1001; // tenths of a percent
    std::string doing_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace job_program
