// devices/simt/event.cpp - see event.hpp.
#include <headrace/devices/notifier.hpp>
#include <headrace/devices/simt/event.hpp>

#include <algorithm>

namespace headrace::HEADRACE_ON_SIMT {
namespace {

constexpr char family_address = 0; // its address tells this technology's events from all others

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

StreamPair::StreamPair(std::shared_ptr<Context> context) : context_(std::move(context)) {
    context_->make_current();
    work_ = make_stream();
    beside_ = make_stream(); // now: the driver may not make one while a stream waits at a gate
}

void StreamPair::announce(std::shared_ptr<NativeEvent> event) {
    using Keep = std::shared_ptr<NativeEvent>;
    const std::scoped_lock lock(mutex_); // the wait and the call belong together
    context_->make_current();
    HEADRACE_CALL(StreamWaitEvent, beside_.get(), event->end(), 0);
    auto keep = std::make_unique<Keep>(std::move(event));
    const auto called_back = [](StreamHandle, Status status, void* user) {
        const std::unique_ptr<Keep> self{static_cast<Keep*>(user)};
        // Moved all the way: the last holder destroys streams, which may not happen in the driver's thread.
        notify([event = std::move(*self), status] { event->finish(status); });
    };
    HEADRACE_CALL(StreamAddCallback, beside_.get(), called_back, keep.get(), 0);
    static_cast<void>(keep.release()); // the callback's now
}

NativeEvent::NativeEvent(std::shared_ptr<StreamPair> stream)
    : stream_(std::move(stream)),
      begin_(stream_->context().make_event()),
      end_(stream_->context().make_event()),
      clock_(stream_->context().clock_mark()) {}

void NativeEvent::record_begin() { HEADRACE_CALL(EventRecord, begin_.get(), stream_->work()); }
void NativeEvent::record_end() { HEADRACE_CALL(EventRecord, end_.get(), stream_->work()); }

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
    if (status == not_ready || settled()) return;
    if (status != success) {
        settle(std::make_shared<const Error>(
            status_error(status, "work on the device").on_device(stream_->context().info().id)));
        return;
    }
    ErrorPtr failure;
    for (const auto& context : others_)
        if (!failure) failure = context->lasting_failure();
    settle(std::move(failure));
}

bool NativeEvent::query() {
    if (settled()) return true;
    const Status status = HEADRACE_RUNTIME(EventQuery)(end());
    if (status != success) static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
    finish(status);
    return settled();
}

void NativeEvent::block() {
    if (settled()) return;
    const Status status = HEADRACE_RUNTIME(EventSynchronize)(end());
    if (status != success) static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
    finish(status);
}

void NativeEvent::arm() {
    if (settled() || armed_.test_and_set(std::memory_order_relaxed)) return;
    auto self = std::static_pointer_cast<NativeEvent>(shared_from_this());
    try {
        stream_->announce(self);
    } catch (const Error&) {
        notify([self = std::move(self)] { self->block(); }); // whatever it was, who waits must be told
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
