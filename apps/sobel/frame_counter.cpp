// apps/sobel/frame_counter.cpp - see frame_counter.hpp.
#include "frame_counter.hpp"

#include <cstdio>

#include <unistd.h>

namespace sobel {

using namespace std::chrono_literals;

FrameCounter::FrameCounter(bool is_wanted)
    : is_wanted_(is_wanted), is_terminal_(::isatty(STDERR_FILENO) != 0) {
    next_ += is_terminal_ ? 200ms : 10s;
}

void FrameCounter::show(std::int64_t frames) {
    if (!is_wanted_) return;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + (is_terminal_ ? 200ms : 10s);
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    std::fprintf(stderr, "%sframe %lld, %.0f/s%s", is_terminal_ ? "\r" : "", static_cast<long long>(frames),
                 static_cast<double>(frames) / seconds, is_terminal_ ? "  " : "\n");
    is_open_ = is_terminal_;
}

void FrameCounter::finish() {
    if (is_open_) std::fputc('\n', stderr);
    is_open_ = false;
}

} // namespace sobel
