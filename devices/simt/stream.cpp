// devices/simt/stream.cpp - see stream.hpp.
#include "simt/stream.hpp"
#include "check_range.hpp"
#include "simt/changes.hpp"
#include "simt/fills.hpp"
#include "simt/sums.hpp"
#include <headrace/core/trace.hpp>
#include <headrace/internal/devices/serial_executor.hpp>

#include <algorithm>
#include <utility>

namespace headrace::HEADRACE_ON_SIMT {
namespace {

/// True if a failure among `after` is already known: work after these must not appear to succeed.
bool any_failed(std::span<const Event> after) {
    return std::ranges::any_of(after, [](const Event& event) {
        return event.state() && event.state()->settled() && event.outcome();
    });
}

bool is_pinned_range(const void* memory, Bytes size) {
    return is_pinned(memory) && is_pinned(static_cast<const std::byte*>(memory) + size - 1);
}

} // namespace

SimtStream::SimtStream(const std::shared_ptr<Context>& context, Timing timing)
    : timing_(timing), stream_(make_destroyed_by_executor<SharedStream>(context)) {}

SimtStream::~SimtStream() {
    static_cast<void>(HEADRACE_RUNTIME(SetDevice)(stream_->context().ordinal()));
    static_cast<void>(HEADRACE_RUNTIME(StreamSynchronize)(stream_->native()));
    // The device no longer uses it. Nor does the thread that copies, because the stream waited for that
    // thread.
    if (staging_) stream_->context().give_back_staging(staging_);
}

void SimtStream::wait_for(const Event& event) {
    if (!event.state() || event.state()->settled()) return;
    const NativeEvent* const native = as_native(event);
    if (!native)
        stream_->context().semaphores().wait(stream_->native(), event);
    else if (&native->stream() != stream_.get()) // a stream is in order with itself
        HEADRACE_CALL(StreamWaitEvent, stream_->native(), native->end(), 0);
}

void SimtStream::make_room(std::size_t requests) {
    while (!unfinished_.empty() && unfinished_.size() + requests > most_unfinished) {
        // If the older half has ended, removes it at once. Otherwise every request would ask the driver.
        const auto middle = unfinished_.begin() + static_cast<std::ptrdiff_t>(unfinished_.size() / 2);
        if ((*middle)->query()) {
            unfinished_.erase(unfinished_.begin(), std::next(middle));
        } else {
            unfinished_.front()->block();
            unfinished_.pop_front();
        }
    }
}

Event SimtStream::enqueue(std::span<const Event> after, const std::function<void()>& work,
                          std::size_t requests) {
    try {
        requests += after.size() / usual_waits;
        make_room(requests); // asks other devices, too, if requests relied on them
        stream_->context().make_current();
        auto state = std::make_shared<NativeEvent>(stream_, Trace::measures(timing_));
        state->rely_on(after);
        state->inherit(after);
        for (const Event& event : after) wait_for(event);
        state->record_begin();
        // After a known failure, no work is enqueued. The event still waits for all events in `after`.
        if (!any_failed(after)) {
            static_cast<void>(HEADRACE_RUNTIME(GetLastError)()); // clears an earlier error of other code
            try {
                work();
                HEADRACE_CALL(GetLastError); // the error of a launch in `work`
            } catch (...) {
                // Part of the work may have been enqueued, so the event completes after that part, and then
                // fails.
                Error error{*current_error()};
                const Event failed =
                    Event::failed(std::make_shared<const Error>(std::move(error.on_device(info().id))));
                state->inherit({&failed, 1});
            }
        }
        state->end_after(std::exchange(host_part_, {}));
        state->record_end();
        unfinished_.insert(unfinished_.end(), requests, state);
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
    if (&device_memory.context() != &stream_->context())
        throw Error{ErrorKind::invalid_argument, "memory of " + device_memory.context().info().id}.on_device(
            info().id);
    return device_memory;
}

Event SimtStream::copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                          std::span<const Event> after) {
    std::byte* const target = own(to, offset, size).at(offset);
    if (size != 0 && !is_pinned_range(from, size))
        return staged({target, const_cast<std::byte*>(static_cast<const std::byte*>(from)), size, true},
                      after);
    return enqueue(after, [&] {
        if (size != 0)
            HEADRACE_CALL(MemcpyAsync, target, from, size, HEADRACE_RUNTIME(MemcpyHostToDevice),
                          stream_->native());
    });
}

Event SimtStream::copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                           std::span<const Event> after) {
    std::byte* const source = own(from, offset, size).at(offset);
    if (size != 0 && !is_pinned_range(to, size))
        return staged({source, static_cast<std::byte*>(to), size, false}, after);
    return enqueue(after, [&] {
        if (size != 0)
            HEADRACE_CALL(MemcpyAsync, to, source, size, HEADRACE_RUNTIME(MemcpyDeviceToHost),
                          stream_->native());
    });
}

Event SimtStream::staged(const StagedCopy& copy, std::span<const Event> after) {
    // Splits the copy into parts so small that the stream takes several of them: see `most_unfinished`.
    constexpr Bytes part = StagedCopy::most_pieces * Context::staging_bytes / 2;
    Event last;
    for (Bytes done = 0; done < copy.size; done += part) {
        const StagedCopy next{copy.device + done, copy.host + done, std::min(part, copy.size - done),
                              copy.in};
        const auto work = [&] {
            if (!staging_) staging_ = stream_->context().take_staging();
            host_part_ = stage(*stream_, next, staging_);
        };
        // The previous part is on this stream. So there is no wait, but its failure is inherited.
        last = enqueue(done == 0 ? after : std::span<const Event>(&last, 1), work, next.usual_requests());
    }
    return last;
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
        const int here = stream_->context().ordinal(), there = remote.context().ordinal();
        if (here == there)
            HEADRACE_CALL(MemcpyAsync, target, source, size, HEADRACE_RUNTIME(MemcpyDeviceToDevice),
                          stream_->native());
        else
            HEADRACE_CALL(MemcpyPeerAsync, target, here, source, there, size, stream_->native());
    });
}

Event SimtStream::add(Memory& to, const Memory& from, Bytes offset, Bytes size, NumberType type,
                      std::span<const Event> after) {
    std::byte* const sums = own(to, offset, size).at(offset);
    check_range(from, offset, size, info().id);
    const std::byte* const amounts = own_memory<const DeviceMemory>(from, info().id).at(offset);
    if (type == NumberType::none)
        throw Error{ErrorKind::invalid_argument, "it adds numbers of 4 or 8 bytes"}.on_device(info().id);
    return enqueue(after, [&] { enqueue_sum(stream_->native(), sums, amounts, size, type); });
}

Event SimtStream::take_changes(Memory& to, const Memory& from, Bytes offset, Bytes size,
                               const Changes& changes, std::span<const Event> after) {
    check_range(from, offset, size, info().id);
    for (const Bytes bytes : {offset, size})
        if (changes.element == 0 || bytes % changes.element != 0)
            throw Error{ErrorKind::invalid_argument, "it takes whole elements"}.on_device(info().id);
    const ChangedRange range{
        .to = own(to, offset, size).at(offset),
        .from = own_memory<const DeviceMemory>(from, info().id).at(offset),
        .before = own(changes.before, 0, size).address(),
        .elements = size / changes.element,
        .element = changes.element,
        .first = offset / changes.element,
    };
    auto* const conflict =
        static_cast<std::uint64_t*>(own(changes.conflict, 0, sizeof(std::uint64_t)).address());
    return enqueue(after, [&] { enqueue_take_changes(stream_->native(), range, conflict); });
}

Event SimtStream::fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
                       std::span<const Event> after) {
    std::byte* const target = own(memory, offset, size).at(offset);
    check_fill(memory, offset, size, pattern, info().id);
    return enqueue(after, [&] {
        if (size == 0) return;
        if (pattern.size() == 1)
            HEADRACE_CALL(MemsetAsync, target, pattern.as<std::uint8_t>(), size, stream_->native());
        else
            enqueue_fill(stream_->native(), target, size, pattern);
    });
}

Event SimtStream::launch(Body body, std::span<const Event> after) {
    return enqueue(after, [&] {
        NativeStream native;
        native.technology = Technology::name;
        native.stream = stream_->native();
        native.ordinal = stream_->context().ordinal();
        body(native);
    });
}

} // namespace headrace::HEADRACE_ON_SIMT
