// devices/simt/event.cpp - see event.hpp.
#include "simt/event.hpp"

#include <algorithm>

namespace headrace::HEADRACE_ON_SIMT {
namespace {

constexpr char family_address = 0; // its address identifies the events of this technology

using Milliseconds = std::chrono::duration<double, std::milli>;

std::optional<std::chrono::steady_clock::duration> between(EventHandle begin, EventHandle end) {
    float milliseconds = 0;
    if (HEADRACE_RUNTIME(EventElapsedTime)(&milliseconds, begin, end) != success) {
        static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
        return std::nullopt;
    }
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(Milliseconds(milliseconds));
}

} // namespace

SharedStream::SharedStream(std::shared_ptr<Context> context)
    : context_(std::move(context)), poller_(context_->waiter()) {
    context_->make_current();
    stream_ = make_stream();
}

void SharedStream::announce(std::shared_ptr<NativeEvent> event) {
    const std::uint64_t place = event->place();
    const EventHandle end = event->end();
    poller_.when(place, end, [event = std::move(event)](Status status) { event->finish(status); });
}

PooledEvent SharedStream::record() {
    PooledEvent event = context_->plain_events().take();
    HEADRACE_CALL(EventRecord, event.get(), native());
    return event;
}

void SharedStream::ended(std::uint64_t place) noexcept {
    std::uint64_t known = ended_.load(std::memory_order_relaxed);
    // release: a thread that learns from the place alone that work has ended also sees what the work wrote.
    while (known < place && !ended_.compare_exchange_weak(known, place, std::memory_order_release,
                                                          std::memory_order_relaxed)) {
    }
}

NativeEvent::NativeEvent(std::shared_ptr<SharedStream> stream, bool timed) : stream_(std::move(stream)) {
    Context& context = stream_->context();
    if (timed) {
        begin_ = context.timed_events().take();
        clock_ = context.clock_mark();
    }
    end_ = (timed ? context.timed_events() : context.plain_events()).take();
}

void NativeEvent::record_begin() {
    if (begin_.get()) HEADRACE_CALL(EventRecord, begin_.get(), stream_->native());
}
void NativeEvent::record_end() {
    HEADRACE_CALL(EventRecord, end_.get(), stream_->native());
    place_ = stream_->next_place();
}

void NativeEvent::rely_on(std::span<const Event> after) {
    const auto keep = [this](const std::shared_ptr<Context>& context) {
        if (context.get() != &stream_->context() && std::ranges::find(others_, context) == others_.end())
            others_.push_back(context);
    };
    for (const Event& event : after) {
        const NativeEvent* const native = event.passes_failure() ? as_native(event) : nullptr;
        if (!native || native->settled()) continue;
        keep(native->stream().context().shared_from_this());
        for (const auto& context : native->others_) keep(context);
    }
}

const void* NativeEvent::family() const noexcept { return &family_address; }

void NativeEvent::finish(Status status) {
    if (stream_->has_ended(place_)) status = success; // also if the device has failed since
    if (status == not_ready || settled()) return;
    if (status != success && host_part_.state() && !host_part_.state()->settled()) {
        auto self = std::static_pointer_cast<NativeEvent>(shared_from_this());
        host_part_.then([self = std::move(self), status](const ErrorPtr&) { self->finish(status); });
        return;
    }
    if (status != success) {
        settle(std::make_shared<const Error>(
            status_error(status, "work on the device").on_device(stream_->context().info().id)));
        return;
    }
    stream_->ended(place_);
    ErrorPtr failure;
    for (const auto& context : others_)
        if (!failure) failure = context->lasting_failure();
    settle(std::move(failure));
}

bool NativeEvent::query() {
    if (settled()) return true;
    // A query of the driver takes 1 us. If a later request has ended, this one has ended, too.
    const Status status = stream_->has_ended(place_) ? success : HEADRACE_RUNTIME(EventQuery)(end());
    if (status != success) static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
    finish(status);
    return settled();
}

void NativeEvent::block() {
    if (settled()) return;
    finish(stream_->has_ended(place_) ? success : stream_->context().waiter().until(end(), true));
    if (!settled()) EventState::block(); // waits for the host's part
}

void NativeEvent::arm() {
    if (settled() || armed_.test_and_set(std::memory_order_relaxed)) return;
    try {
        stream_->announce(std::static_pointer_cast<NativeEvent>(shared_from_this()));
    } catch (...) { // no thread could be started: the caller gets the error, and a later call may succeed
        armed_.clear(std::memory_order_relaxed);
        throw;
    }
}

std::optional<EventTimes> NativeEvent::times() const {
    if (error() || !clock_) return std::nullopt;
    const auto begin = between(clock_->event.get(), begin_.get());
    const auto length = between(begin_.get(), end_.get());
    if (!begin || !length) return std::nullopt;
    return EventTimes{clock_->host + *begin, clock_->host + *begin + *length};
}

const NativeEvent* as_native(const Event& event) {
    return event.state() && event.state()->family() == &family_address
               ? static_cast<const NativeEvent*>(event.state().get())
               : nullptr;
}

} // namespace headrace::HEADRACE_ON_SIMT
