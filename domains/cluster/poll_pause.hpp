// domains/cluster/poll_pause.hpp - how long a thread that polls sleeps between two looks.
#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace headrace::cluster {

/// At first the thread does not sleep. After a while without news it sleeps, each time twice as long.
///
/// Threads   `wake` any; all else one
class PollPause {
public:
    using Clock = std::chrono::steady_clock;

    /// There was news, or a new wait begins.
    void restart() noexcept {
        since_ = Clock::now();
        next_ = shortest;
    }
    /// Sleeps, at most until `end` and until `wake`.
    void pause(Clock::time_point end, bool is_transferring) {
        const Clock::time_point now = Clock::now();
        if (now - since_ < (is_transferring ? spinning_for_transfer : spinning)) {
            std::this_thread::yield(); // there may be more ranks than cores
            return;
        }
        const Clock::duration time =
            std::min<Clock::duration>(std::exchange(next_, std::min(2 * next_, longest)), end - now);
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, time, [this] { return is_woken_; });
    }
    /// True once after `wake`.
    [[nodiscard]] bool take_wake() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(is_woken_, false);
    }
    void wake() noexcept {
        const std::scoped_lock lock(mutex_);
        is_woken_ = true;
        changed_.notify_one();
    }

private:
    // Measured with two ranks on two cores that others use too, Open MPI 4.1 (shared memory; TCP for
    // transfers):
    // - The shortest sleep takes about 80 us. With 20 us of spinning, two ranks that answer each other both
    //   sleep, and a round trip takes 180 us; with 100 us it takes 2 us.
    // - A longest pause of 50, 200, 1000 us: a rank that waits takes 8, 4, 1.5 % of a core, and a round trip
    //   that begins after 1 ms of silence takes 0.3, 0.7, 2.9 ms.
    // - A sender that sleeps while its recipient answers: 100 kB at 0.2 to 0.4 GB/s instead of 0.7 to 2.
    static constexpr std::chrono::microseconds spinning{100}, spinning_for_transfer{500}, shortest{10},
        longest{200};

    Clock::time_point since_ = Clock::now();
    std::chrono::microseconds next_ = shortest;
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    bool is_woken_ = false;
};

} // namespace headrace::cluster
