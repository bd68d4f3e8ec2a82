// devices/cpu/cpu_stream.hpp - in-order requests on the host: one thread that waits, then works.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/cpu/arena.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace headrace {

class CpuEventState;

/// One thread takes requests in order, sleeps until the events that a request waits for have settled, and
/// does the work. Kernels also use the arena's threads. The destructor waits until all requests have ended.
class HEADRACE_EXPORT CpuStream final : public Stream {
public:
    /// Borrows the arena for its whole lifetime; errors name `device`.
    CpuStream(CpuArena& arena, std::string device);
    ~CpuStream() override;

    Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                  std::span<const Event> after) override;
    Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                   std::span<const Event> after) override;
    Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                    std::span<const Event> after) override;
    Event fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
               std::span<const Event> after) override;
    Event launch(Body body, std::span<const Event> after) override;

private:
    struct Request {
        std::vector<Event> after;
        std::function<void()> work;
        std::shared_ptr<CpuEventState> state;
    };

    Event enqueue(std::function<void()> work, std::span<const Event> after);
    void serve();
    void run(Request& request);
    void check(const Memory& memory, Bytes offset, Bytes size) const;

    CpuArena& arena_;
    const std::string device_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Request> requests_;
    bool closed_ = false;
    std::jthread thread_; // last: it uses the other members
};

} // namespace headrace
