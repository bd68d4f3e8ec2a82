// tests/devices/requests.hpp - small things that tests of devices need.
#pragma once
#include <core/sanitizers.hpp>
#include <headrace/core/device.hpp>
#include <headrace/core/event.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include <unistd.h>

namespace headrace::test {

inline ErrorPtr an_error() { return std::make_shared<const Error>(ErrorKind::kernel, "it broke"); }

/// Bytes that differ from place to place and from seed to seed.
inline std::vector<std::byte> some_bytes(std::size_t size, std::size_t seed) {
    std::minstd_rand random(static_cast<std::minstd_rand::result_type>(seed + 1));
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 8);
    return bytes;
}

/// What a continuation says, for a thread that waits for it.
class Signal {
public:
    void raise(bool value) {
        const std::scoped_lock lock(mutex_);
        value_ = value;
        raised_.notify_all();
    }
    [[nodiscard]] bool is_raised() {
        const std::scoped_lock lock(mutex_);
        return value_.has_value();
    }
    /// What was said; false if nothing within two minutes.
    [[nodiscard]] bool wait() {
        std::unique_lock lock(mutex_);
        return raised_.wait_for(lock, std::chrono::minutes(2), [this] { return value_.has_value(); }) &&
               *value_;
    }

private:
    std::mutex mutex_;
    std::condition_variable raised_;
    std::optional<bool> value_;
};

/// Work on a stream of its own. When it has ended, whatever could begin on its device has had the time.
class WorkBeside {
public:
    /// Allocates: before anything stands at a gate, since drivers may wait for that to free memory.
    explicit WorkBeside(Device& device) : stream_(device.make_stream()), memory_(device.allocate(size)) {}
    void wait() {
        const std::vector<std::byte> sent = some_bytes(size, 1);
        std::vector<std::byte> received(size);
        stream_->copy_in(*memory_, 0, sent.data(), size);
        stream_->launch([](const NativeStream&) {});
        stream_->copy_out(received.data(), *memory_, 0, size).wait();
        EXPECT_EQ(sent, received);
    }

private:
    static constexpr Bytes size = 4 << 20;
    const std::unique_ptr<Stream> stream_;
    const std::unique_ptr<Memory> memory_;
};

/// Bytes of this process that are in memory; 0 under AddressSanitizer, which keeps what was freed to find who
/// uses it.
inline std::size_t resident_memory() {
    if (under_address_sanitizer) return 0;
    std::size_t total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

inline std::size_t threads_of_this_process() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

} // namespace headrace::test
