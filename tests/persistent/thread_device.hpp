// tests/persistent/thread_device.hpp - a device whose kernels run on plain std::threads, so that
// ThreadSanitizer sees all. Requests run during the call that enqueues them; those of a LaterStream after it.
#pragma once
#include <core/takes.hpp>
#include <headrace/core/device.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <new>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace headrace::test {

class HostMemory final : public Memory {
public:
    explicit HostMemory(Bytes size) : size_(size), bytes_(::operator new (size, std::align_val_t{128})) {
        std::memset(bytes_, 0xdb, size); // whoever reads what nobody wrote shall notice
    }
    ~HostMemory() override { ::operator delete (bytes_, std::align_val_t{128}); }
    [[nodiscard]] Bytes size() const noexcept override { return size_; }
    [[nodiscard]] void* address() const noexcept override { return bytes_; }

private:
    Bytes size_;
    void* bytes_;
};

class ThreadStream : public Stream {
public:
    Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                  std::span<const Event> after) override {
        return enqueue(after, [=, target = at(to, offset)] { std::memcpy(target, from, size); });
    }
    Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                   std::span<const Event> after) override {
        return enqueue(after, [=, source = at(from, offset)] { std::memcpy(to, source, size); });
    }
    Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                    std::span<const Event> after) override {
        return enqueue(after, [target = at(to, to_offset), source = at(from, from_offset), size] {
            std::memcpy(target, source, size);
        });
    }
    Event fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
               std::span<const Event> after) override {
        return enqueue(after, [target = at(memory, offset), size, pattern] { pattern.write(target, size); });
    }
    Event launch(Body body, std::span<const Event> after) override {
        return enqueue(after, [body = std::move(body)] { body(NativeStream{.technology = "cpu"}); });
    }

protected:
    virtual Event enqueue(std::span<const Event> after, std::function<void()> work) {
        const ErrorPtr error = outcome_of(after, work);
        return error ? Event::failed(error) : Event{};
    }
    static ErrorPtr outcome_of(std::span<const Event> after, const std::function<void()>& work) {
        try {
            for (const Event& event : after) event.wait();
            work();
            return nullptr;
        } catch (...) {
            return current_error(ErrorKind::kernel);
        }
    }

private:
    static std::byte* at(const Memory& memory, Bytes offset) {
        return static_cast<std::byte*>(memory.address()) + offset;
    }
};

/// Requests run on a thread of the stream's own, one after the other, while the caller does other things.
class LaterStream final : public ThreadStream {
public:
    /// Kernels that have begun so far.
    [[nodiscard]] unsigned launches_begun() const { return launches_begun_; }
    Event launch(Body body, std::span<const Event> after) override {
        return ThreadStream::launch(
            [this, body = std::move(body)](const NativeStream& native) {
                ++launches_begun_;
                body(native);
            },
            after);
    }
    ~LaterStream() override {
        {
            const std::scoped_lock lock(mutex_);
            closed_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

private:
    Event enqueue(std::span<const Event> after, std::function<void()> work) override {
        auto state = std::make_shared<EventState>();
        {
            const std::scoped_lock lock(mutex_);
            requests_.emplace_back([after = std::vector<Event>(after.begin(), after.end()),
                                    work = std::move(work),
                                    state] { state->settle(outcome_of(after, work)); });
        }
        changed_.notify_one();
        return Event(state);
    }
    void serve() {
        for (;;) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return closed_ || !requests_.empty(); });
            if (requests_.empty()) return;
            const auto request = std::move(requests_.front());
            requests_.pop_front();
            lock.unlock();
            request();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> requests_;
    bool closed_ = false;
    std::atomic<unsigned> launches_begun_ = 0;
    std::thread thread_{[this] { serve(); }}; // last: it uses the others
};

class ThreadDevice final : public Device {
public:
    ThreadDevice() {
        info_.id = "threads";
        info_.name = "std::thread";
        info_.technology = "cpu";
        info_.fine_grained_host_coherence = true;
        info_.compute_units = std::thread::hardware_concurrency();
    }
    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<Memory> allocate(Bytes size) override {
        return std::make_unique<HostMemory>(size);
    }
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) override {
        return {std::aligned_alloc(128, (size + 127) / 128 * 128), std::free};
    }
    [[nodiscard]] std::unique_ptr<Stream> make_stream(Timing) override {
        return std::make_unique<ThreadStream>();
    }
    [[nodiscard]] bool reaches(const Device&) const override { return false; }
    [[nodiscard]] Bytes free_memory() const override { return Bytes{1} << 30; }

private:
    DeviceInfo info_;
};

/// Runs lane groups on threads of their own, all at once.
template <unsigned Threads>
struct ThreadRunner {
    static unsigned threads(const NativeStream&) { return Threads; }
    static void run(const NativeStream&, unsigned n, const std::function<void(unsigned)>& body) {
        std::exception_ptr first;
        std::mutex mutex;
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < n; ++i)
            threads.emplace_back([&, i] {
                try {
                    body(i);
                } catch (...) {
                    const std::lock_guard lock(mutex);
                    if (!first) first = std::current_exception();
                }
            });
        for (std::thread& thread : threads) thread.join();
        if (first) std::rethrow_exception(first);
    }
};

/// Runs lane groups one after the other, as PoCL does with work-groups: a group that waits for a later one
/// hangs.
template <unsigned Groups, bool Backwards = false>
struct SerialRunner {
    static unsigned threads(const NativeStream&) { return Groups; }
    static void run(const NativeStream&, unsigned n, const std::function<void(unsigned)>& body) {
        for (unsigned i = 0; i < n; ++i) body(Backwards ? n - 1 - i : i);
    }
};

/// Runs lane groups on threads that start in any order, and some of them late.
template <unsigned Threads>
struct LateRunner : ThreadRunner<Threads> {
    static void run(const NativeStream& stream, unsigned n, const std::function<void(unsigned)>& body) {
        static std::atomic<unsigned> runs{0};
        std::mt19937 random(runs.fetch_add(1, std::memory_order_relaxed)); // relaxed: only differs
        std::vector<unsigned> order(n), delay(n);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        for (unsigned& late : delay) late = random() % 4 == 0 ? static_cast<unsigned>(random() % 500) : 0;
        ThreadRunner<Threads>::run(stream, n, [&](unsigned i) {
            takes(std::chrono::microseconds(delay[i]));
            body(order[i]);
        });
    }
};

} // namespace headrace::test
