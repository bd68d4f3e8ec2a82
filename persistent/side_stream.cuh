// persistent/side_stream.cuh - a second stream for what runs beside a launch and yet is part of it. For units
// of CUDA or HIP.
#pragma once
#include <headrace/devices/simt/context.hpp>

namespace headrace::HEADRACE_ON_SIMT {

/// What is enqueued on it between `fork` and `join` comes after all that `main` had before, and before all
/// that it gets then. Belongs to the device that is current when it is made.
class SideStream {
public:
    SideStream() : stream_(make_stream()), fork_(make_event()), join_(make_event()) {}

    void fork(StreamHandle main) const { order(main, fork_.get(), stream_.get()); }
    void join(StreamHandle main) const { order(stream_.get(), join_.get(), main); }
    [[nodiscard]] StreamHandle native() const noexcept { return stream_.get(); }

private:
    struct EventDeleter {
        void operator()(EventHandle event) const noexcept {
            static_cast<void>(HEADRACE_RUNTIME(EventDestroy)(event));
        }
    };
    using EventOwner = std::unique_ptr<std::remove_pointer_t<EventHandle>, EventDeleter>;

    static EventOwner make_event() {
        EventHandle event = nullptr;
        HEADRACE_CALL(EventCreateWithFlags, &event, HEADRACE_RUNTIME(EventDisableTiming));
        return EventOwner(event);
    }
    /// What `later` gets from now on waits for what `earlier` has.
    static void order(StreamHandle earlier, EventHandle event, StreamHandle later) {
        HEADRACE_CALL(EventRecord, event, earlier);
        HEADRACE_CALL(StreamWaitEvent, later, event, 0);
    }

    StreamOwner stream_;
    EventOwner fork_, join_;
};

} // namespace headrace::HEADRACE_ON_SIMT
