// devices/cpu/cpu_stream.cpp - see cpu_stream.hpp.
#include "cpu/cpu_stream.hpp"
#include "check_range.hpp"

#include <cstring>
#include <utility>

namespace headrace {

class CpuEventState final : public EventState {
public:
    /// The thread that settles calls this before `settle`. A thread that sees the event settled sees the
    /// times.
    void ran(EventTimes times) { times_ = times; }
    [[nodiscard]] std::optional<EventTimes> times() const override { return times_; }

private:
    std::optional<EventTimes> times_;
};

namespace {

std::byte* at(const Memory& memory, Bytes offset) {
    return static_cast<std::byte*>(memory.address()) + offset; // any technology's, if the host can address it
}

} // namespace

CpuStream::CpuStream(CpuArena& arena, std::string device)
    : arena_(arena), device_(std::move(device)), thread_([this] { serve(); }) {}

CpuStream::~CpuStream() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_one(); // the thread completes its requests; its own destructor joins it
}

void CpuStream::check(const Memory& memory, Bytes offset, Bytes size) const {
    check_range(memory, offset, size, device_);
    if (!memory.address())
        throw Error{ErrorKind::invalid_argument, "memory without an address"}.on_device(device_);
}

Event CpuStream::copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                         std::span<const Event> after) {
    check(to, offset, size);
    return enqueue([target = at(to, offset), from, size] { std::memcpy(target, from, size); }, after);
}

Event CpuStream::copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                          std::span<const Event> after) {
    check(from, offset, size);
    return enqueue([to, source = at(from, offset), size] { std::memcpy(to, source, size); }, after);
}

Event CpuStream::copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                           std::span<const Event> after) {
    check(to, to_offset, size);
    check(from, from_offset, size);
    return enqueue([target = at(to, to_offset), source = at(from, from_offset),
                    size] { std::memmove(target, source, size); }, // both may be in one allocation
                   after);
}

Event CpuStream::fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
                      std::span<const Event> after) {
    check(memory, offset, size);
    check_fill(memory, offset, size, pattern, device_);
    return enqueue([target = at(memory, offset), size, pattern] { pattern.write(target, size); }, after);
}

Event CpuStream::launch(Body body, std::span<const Event> after) {
    return enqueue(
        [this, body = std::move(body)] {
            NativeStream native;
            native.technology = "cpu";
            native.stream = &arena_;
            body(native);
        },
        after);
}

Event CpuStream::enqueue(std::function<void()> work, std::span<const Event> after) {
    Request request{{after.begin(), after.end()}, std::move(work), std::make_shared<CpuEventState>()};
    Event event{request.state};
    {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(std::move(request));
    }
    changed_.notify_one();
    return event;
}

void CpuStream::serve() {
    for (;;) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !requests_.empty(); });
        if (requests_.empty()) return;
        Request request = std::move(requests_.front());
        requests_.pop_front();
        lock.unlock();
        run(request);
    }
}

void CpuStream::run(Request& request) {
    ErrorPtr inherited;
    // Waits for all events, also after a failure: our event must not settle before any of them.
    for (const Event& event : request.after)
        if (ErrorPtr error = event.outcome(); error && !inherited) inherited = std::move(error);
    request.after.clear();
    if (inherited) {
        request.state->settle(std::move(inherited));
        return;
    }
    ErrorPtr failure;
    const auto begin = std::chrono::steady_clock::now();
    try {
        request.work();
    } catch (...) {
        Error error = *current_error(ErrorKind::kernel);
        failure = std::make_shared<const Error>(std::move(error.on_device(device_)));
    }
    request.state->ran({begin, std::chrono::steady_clock::now()});
    request.work = nullptr; // destroys its captures before the event settles
    request.state->settle(std::move(failure));
}

} // namespace headrace
