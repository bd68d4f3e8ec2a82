// devices/simt/stream.cpp - see stream.hpp.
#include <headrace/devices/check_range.hpp>
#include <headrace/devices/simt/host_call.hpp>
#include <headrace/devices/simt/stream.hpp>

#include <algorithm>
#include <cstring>

namespace headrace::HEADRACE_ON_SIMT {
namespace {

// The runtime itself copies unpinned memory by way of a pinned buffer, at the same speed, but in the calling
// thread and only after the stream has come that far: a caller that is to open the stream's gate would wait
// for ever.
constexpr Bytes staging_bytes = 4 << 20; // half a millisecond of copying: the calls cost little beside it

/// True if it is known already that work after these must not be seen to succeed.
bool any_failed(std::span<const Event> after) {
    return std::ranges::any_of(after, [](const Event& event) {
        return event.state() && event.state()->settled() && event.outcome();
    });
}

bool is_pinned_range(const void* memory, Bytes size) {
    return is_pinned(memory) && is_pinned(static_cast<const std::byte*>(memory) + size - 1);
}

} // namespace

SimtStream::SimtStream(const std::shared_ptr<Context>& context)
    : pair_(std::make_shared<StreamPair>(context)) {}

SimtStream::~SimtStream() {
    static_cast<void>(HEADRACE_RUNTIME(SetDevice)(pair_->context().ordinal()));
    static_cast<void>(
        HEADRACE_RUNTIME(StreamSynchronize)(pair_->work())); // nothing uses `staging_` after this
}

void SimtStream::wait_for(const Event& event) {
    if (!event.state() || event.state()->settled()) return;
    const NativeEvent* const native = as_native(event);
    if (!native)
        pair_->context().gates().hold(pair_->work(), event);
    else if (&native->stream() != pair_.get()) // a stream is in order with itself
        HEADRACE_CALL(StreamWaitEvent, pair_->work(), native->end(), 0);
}

Event SimtStream::enqueue(std::span<const Event> after, const std::function<void()>& work) {
    try {
        pair_->context().make_current();
        auto state = std::make_shared<NativeEvent>(pair_);
        state->rely_on(after);
        state->inherit(after);
        for (const Event& event : after) wait_for(event);
        state->record_begin();
        // What is known to have failed is not built upon; the event still waits for all it comes after.
        if (!any_failed(after)) {
            static_cast<void>(HEADRACE_RUNTIME(GetLastError)()); // somebody else's, from before
            try {
                work();
                HEADRACE_CALL(GetLastError); // what a launch in `work` complained of
            } catch (...) {
                // Part of the work may have been enqueued, so the event completes with that, and then fails.
                Error error{*current_error()};
                const Event failed =
                    Event::failed(std::make_shared<const Error>(std::move(error.on_device(info().id))));
                state->inherit({&failed, 1});
            }
        }
        state->record_end();
        return last_ = Event{std::move(state)};
    } catch (...) {
        Error error{*current_error(ErrorKind::device)};
        error.on_device(info().id);
        std::vector<Event> all(after.begin(), after.end());
        all.push_back(last_.order_only());
        all.push_back(Event::failed(std::make_shared<const Error>(std::move(error))));
        return last_ = Event::all(all);
    }
}

const DeviceMemory& SimtStream::own(const Memory& memory, Bytes offset, Bytes size) const {
    check_range(memory, offset, size, info().id);
    const auto& device_memory = own_memory<const DeviceMemory>(memory, info().id);
    if (&device_memory.context() != &pair_->context())
        throw Error{ErrorKind::invalid_argument, "memory of " + device_memory.context().info().id}.on_device(
            info().id);
    return device_memory;
}

Event SimtStream::copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                          std::span<const Event> after) {
    std::byte* const target = own(to, offset, size).at(offset);
    return enqueue(after, [&] {
        if (size == 0) return;
        if (is_pinned_range(from, size))
            HEADRACE_CALL(MemcpyAsync, target, from, size, HEADRACE_RUNTIME(MemcpyHostToDevice),
                          pair_->work());
        else
            stage_in(target, static_cast<const std::byte*>(from), size);
    });
}

Event SimtStream::copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                           std::span<const Event> after) {
    const std::byte* const source = own(from, offset, size).at(offset);
    return enqueue(after, [&] {
        if (size == 0) return;
        if (is_pinned_range(to, size))
            HEADRACE_CALL(MemcpyAsync, to, source, size, HEADRACE_RUNTIME(MemcpyDeviceToHost), pair_->work());
        else
            stage_out(static_cast<std::byte*>(to), source, size);
    });
}

std::byte* SimtStream::staging() {
    if (!staging_) {
        void* memory = nullptr;
        expect_success(allocate_pinned(&memory, staging_bytes), "allocating pinned memory");
        staging_.reset(memory);
    }
    return static_cast<std::byte*>(staging_.get());
}

// One buffer serves, because all that uses it is on one stream.
void SimtStream::stage_in(std::byte* to, const std::byte* from, Bytes size) {
    std::byte* const buffer = staging();
    for (Bytes done = 0; done < size;) {
        const Bytes part = std::min(staging_bytes, size - done);
        call_on_host(pair_->work(), [buffer, source = from + done, part](Status status) {
            if (status == success) std::memcpy(buffer, source, part);
        });
        HEADRACE_CALL(MemcpyAsync, to + done, buffer, part, HEADRACE_RUNTIME(MemcpyHostToDevice),
                      pair_->work());
        done += part;
    }
}

void SimtStream::stage_out(std::byte* to, const std::byte* from, Bytes size) {
    std::byte* const buffer = staging();
    for (Bytes done = 0; done < size;) {
        const Bytes part = std::min(staging_bytes, size - done);
        HEADRACE_CALL(MemcpyAsync, buffer, from + done, part, HEADRACE_RUNTIME(MemcpyDeviceToHost),
                      pair_->work());
        call_on_host(pair_->work(), [buffer, target = to + done, part](Status status) {
            if (status == success) std::memcpy(target, buffer, part);
        });
        done += part;
    }
}

Event SimtStream::copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                            std::span<const Event> after) {
    std::byte* const target = own(to, to_offset, size).at(to_offset);
    check_range(from, from_offset, size, info().id);
    const auto& remote = own_memory<const DeviceMemory>(from, info().id);
    const std::byte* const source = remote.at(from_offset);
    if (&remote == &to && to_offset < from_offset + size && from_offset < to_offset + size && size > 0)
        throw Error{ErrorKind::invalid_argument, "a copy between memories overlaps itself"}.on_device(
            info().id);
    return enqueue(after, [&] {
        if (size == 0) return;
        const int here = pair_->context().ordinal(), there = remote.context().ordinal();
        if (here == there)
            HEADRACE_CALL(MemcpyAsync, target, source, size, HEADRACE_RUNTIME(MemcpyDeviceToDevice),
                          pair_->work());
        else
            HEADRACE_CALL(MemcpyPeerAsync, target, here, source, there, size, pair_->work());
    });
}

Event SimtStream::fill_zero(Memory& memory, Bytes offset, Bytes size, std::span<const Event> after) {
    std::byte* const target = own(memory, offset, size).at(offset);
    return enqueue(after, [&] {
        if (size != 0) HEADRACE_CALL(MemsetAsync, target, 0, size, pair_->work());
    });
}

Event SimtStream::launch(Body body, std::span<const Event> after) {
    return enqueue(after, [&] {
        NativeStream native;
        native.technology = technology;
        native.stream = pair_->work();
        native.ordinal = pair_->context().ordinal();
        body(native);
    });
}

} // namespace headrace::HEADRACE_ON_SIMT
