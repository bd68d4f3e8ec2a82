// tests/persistent/drain.hpp - runs an engine to its end with a deadline of its own, and says how it stood if
// it hangs.
#pragma once
#include <core/hang_limit.hpp>
#include <headrace/persistent/engine.hpp>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace headrace::test {

/// Ends the program, with a word about the engine, unless destroyed in time: a hung launch cannot be taken
/// back.
class Deadline {
public:
    explicit Deadline(const char* what)
        : thread_([this, what] {
              std::unique_lock lock(mutex_);
              if (ended_signal_.wait_for(lock, hang_limit, [this] { return ended_; })) return;
              std::fprintf(stderr, "%s did not end within %lld s\n", what,
                           static_cast<long long>(hang_limit.count()));
              std::fflush(stderr);
              std::_Exit(1);
          }) {}
    ~Deadline() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        ended_signal_.notify_one();
        thread_.join();
    }
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;

private:
    std::mutex mutex_;
    std::condition_variable ended_signal_;
    bool ended_ = false;
    std::thread thread_; // last: it uses the others
};

/// Seeds [begin, end) to the end. Returns how often the launch was resumed.
inline std::uint64_t drain(Engine& engine, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t resumed = 0;
    engine.start(begin, end);
    for (; engine.collect() == Engine::State::parked; ++resumed) engine.resume();
    return resumed;
}

} // namespace headrace::test
