// devices/opencl/stream.cpp - see stream.hpp.
#include "opencl/stream.hpp"
#include "check_range.hpp"
#include <headrace/core/trace.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headrace::opencl {
namespace {

/// True if a failure among `after` is already known: work after these must not appear to succeed.
bool any_failed(std::span<const Event> after) {
    return std::ranges::any_of(after, [](const Event& event) { return event.done() && event.outcome(); });
}

} // namespace

QueueStream::QueueStream(std::shared_ptr<const Context> context, Timing timing)
    : context_(std::move(context)), timing_(timing), queue_(context_->make_queue()) {}

QueueStream::~QueueStream() {
    if (number_ && !last_.done()) number_->keep();
}

cl_mem QueueStream::range(const Memory& memory, Bytes offset, Bytes size, std::string_view what) const {
    const auto* buffer = dynamic_cast<const Buffer*>(&memory);
    const auto complain = [&](const std::string& text) {
        throw Error{ErrorKind::invalid_argument, std::string(what) + " " + text}.on_device(
            context_->info().id);
    };
    if (!buffer || &buffer->context() != context_.get()) complain("needs memory of this device");
    if (offset > buffer->size() || size > buffer->size() - offset)
        complain("of " + std::to_string(size) + " bytes at " + std::to_string(offset) +
                 " leaves a memory of " + std::to_string(buffer->size()) + " bytes");
    return buffer->native();
}

EventHandle QueueStream::marker(const WaitList* waits) const {
    EventHandle event;
    check(clEnqueueMarkerWithWaitList(queue_.get(), waits ? waits->size() : 0,
                                      waits ? waits->data() : nullptr, event.out()),
          "clEnqueueMarkerWithWaitList");
    return event;
}

template <class Submit>
Event QueueStream::submit(HostUse use, std::span<const Event> after, const Submit& submit) {
    auto state = std::make_shared<NativeEvent>(context_);
    state->inherit(after);
    try {
        submit(*state, WaitList{context_, after, use, queue_.get()});
        // Another queue may wait for this event, so the driver must submit the command now.
        check(clFlush(queue_.get()), "clFlush");
        return last_ = Event{state};
    } catch (...) {
        Error error{*current_error(ErrorKind::device)};
        error.on_device(context_->info().id);
        std::vector<Event> all(after.begin(), after.end());
        all.push_back(last_.order_only());
        all.push_back(Event::failed(std::make_shared<const Error>(std::move(error))));
        return last_ = Event::all(all);
    }
}

Event QueueStream::enqueue(std::string_view call, HostUse use, Bytes size, std::span<const Event> after,
                           const Command& command) {
    return submit(use, after, [&](NativeEvent& state, const WaitList& waits) {
        // After a failure, the command would use data that was never written.
        if (size == 0 || any_failed(after)) return state.complete_with_marker(marker(&waits), {});
        EventHandle event;
        check(command(waits, event.out()), call);
        state.complete_with(std::move(event), use, queue_.get());
    });
}

Event QueueStream::copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                           std::span<const Event> after) {
    const cl_mem buffer = range(to, offset, size, "a copy to the device");
    return enqueue("clEnqueueWriteBuffer", HostUse::reads, size, after,
                   [&](const WaitList& waits, cl_event* event) {
                       return clEnqueueWriteBuffer(queue_.get(), buffer, CL_FALSE, offset, size, from,
                                                   waits.size(), waits.data(), event);
                   });
}

Event QueueStream::copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                            std::span<const Event> after) {
    const cl_mem buffer = range(from, offset, size, "a copy from the device");
    return enqueue("clEnqueueReadBuffer", HostUse::writes, size, after,
                   [&](const WaitList& waits, cl_event* event) {
                       return clEnqueueReadBuffer(queue_.get(), buffer, CL_FALSE, offset, size, to,
                                                  waits.size(), waits.data(), event);
                   });
}

Event QueueStream::copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                             std::span<const Event> after) {
    const cl_mem target = range(to, to_offset, size, "a copy between memories");
    const cl_mem source = range(from, from_offset, size, "a copy between memories");
    const Bytes apart = to_offset > from_offset ? to_offset - from_offset : from_offset - to_offset;
    if (target == source && apart < size)
        throw Error{ErrorKind::invalid_argument, "a copy between memories overlaps itself"}.on_device(
            context_->info().id);
    return enqueue("clEnqueueCopyBuffer", HostUse::none, size, after,
                   [&](const WaitList& waits, cl_event* event) {
                       return clEnqueueCopyBuffer(queue_.get(), source, target, from_offset, to_offset, size,
                                                  waits.size(), waits.data(), event);
                   });
}

Event QueueStream::fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
                        std::span<const Event> after) {
    const cl_mem buffer = range(memory, offset, size, "a fill");
    check_fill(memory, offset, size, pattern, context_->info().id);
    return enqueue(
        "clEnqueueFillBuffer", HostUse::none, size, after, [&](const WaitList& waits, cl_event* event) {
            const cl_ulong words[2] = {pattern.word(), pattern.word()};
            Bytes width = sizeof words; // divides offset and size; drivers write one pattern per work-item
            while ((offset | size) % width != 0) width /= 2;
            return clEnqueueFillBuffer(queue_.get(), buffer, words, width, offset, size, waits.size(),
                                       waits.data(), event);
        });
}

Event QueueStream::launch(Body body, std::span<const Event> after) {
    return submit(HostUse::none, after, [&](NativeEvent& state, const WaitList& waits) {
        if (waits.size() > 0) static_cast<void>(marker(&waits)); // the queue is in order
        // A second marker: for markers that wait for events, NVIDIA's driver 580 reports no times or wrong
        // times.
        EventHandle before;
        if (Trace::measures(timing_)) before = marker(nullptr);
        if (!any_failed(after)) {
            try {
                if (!number_ && context_->mixes_up_grids()) number_.emplace();
                body({.technology = "opencl",
                      .stream = queue_.get(),
                      .context = context_->get(),
                      .device = context_->device(),
                      .ordinal = number_ ? number_->get() : 0});
            } catch (...) {
                // Commands that the body has enqueued may still run, so the event completes after them.
                Error error{*current_error()};
                error.on_device(context_->info().id);
                const Event failed = Event::failed(std::make_shared<const Error>(std::move(error)));
                state.inherit({&failed, 1});
            }
        }
        state.complete_with_marker(marker(nullptr), std::move(before));
    });
}

} // namespace headrace::opencl
