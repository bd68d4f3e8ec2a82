// apps/sobel/frame_counter.hpp - how far it is, on stderr.
#pragma once
#include <chrono>
#include <cstdint>

namespace sobel {

/// On a terminal a line that changes, elsewhere a line every ten seconds.
class FrameCounter {
public:
    explicit FrameCounter(bool is_wanted);
    /// Cheap, whether it is time to show something or not.
    void show(std::int64_t frames);
    /// Ends the line.
    void finish();

private:
    using Clock = std::chrono::steady_clock;

    bool is_wanted_, is_terminal_, is_open_ = false;
    Clock::time_point begin_ = Clock::now(), next_ = begin_;
};

} // namespace sobel
