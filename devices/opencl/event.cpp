// devices/opencl/event.cpp - see event.hpp.
#include "opencl/event.hpp"

#include <headrace/internal/devices/serial_executor.hpp>

#include <utility>

namespace headrace::opencl {
namespace {

/// A time on the device's clock; 0 if the driver does not report it.
cl_ulong moment(cl_event event, cl_profiling_info what) {
    cl_ulong time = 0;
    return clGetEventProfilingInfo(event, what, sizeof time, &time, nullptr) == CL_SUCCESS ? time : 0;
}

} // namespace

void NativeEvent::complete_with(EventHandle command, HostUse use, cl_command_queue queue) {
    command_ = begin_ = std::move(command);
    if (use == HostUse::writes) to_host_ = queue;
}

void NativeEvent::complete_with_marker(EventHandle marker, EventHandle before) {
    command_ = std::move(marker);
    begin_ = std::move(before);
    of_begin_ = CL_PROFILING_COMMAND_END;
}

bool NativeEvent::orders(HostUse use, cl_command_queue queue) const noexcept {
    if (use == HostUse::none || to_host_ == nullptr) return true;
    const bool in_turn = use == HostUse::writes && to_host_ == queue;
    return in_turn || context_->info().kind == DeviceKind::cpu;
}

cl_int NativeEvent::native_status() const {
    cl_int status = CL_QUEUED;
    const cl_int asked =
        clGetEventInfo(native(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return asked == CL_SUCCESS ? status : asked;
}

void NativeEvent::finish(cl_int status) {
    if (status > CL_COMPLETE) return; // queued, submitted or running
    if (status == CL_COMPLETE)
        settle();
    else
        settle(std::make_shared<const Error>(
            status_error(status, "a command on the device").on_device(context_->info().id)));
}

bool NativeEvent::query() {
    if (!settled()) finish(native_status());
    return settled();
}

void NativeEvent::block() {
    const cl_event event = native();
    const cl_int waited = clWaitForEvents(1, &event);
    const cl_int status = native_status();
    // The event's own status says more than "an event in the list failed". Without a final status, the result
    // of the wait decides.
    finish(status <= CL_COMPLETE ? status : waited == CL_SUCCESS ? CL_COMPLETE : waited);
}

// The driver's thread only posts work. It holds its own reference, because the thread that armed the event
// may have dropped its reference by then.
void NativeEvent::arm() {
    if (settled() || armed_.test_and_set(std::memory_order_relaxed)) return;
    using Keep = std::shared_ptr<NativeEvent>;
    auto keep = std::make_unique<Keep>(std::static_pointer_cast<NativeEvent>(shared_from_this()));
    const auto called_back = [](cl_event, cl_int status, void* user) {
        const std::unique_ptr<Keep> self{static_cast<Keep*>(user)};
        notify([event = std::move(*self), status]() mutable {
            event->finish(status);
            let_go(std::move(event)); // this calls the driver
        });
    };
    const cl_int status = clSetEventCallback(native(), CL_COMPLETE, called_back, keep.get());
    if (status == CL_SUCCESS)
        static_cast<void>(keep.release()); // the callback owns it now
    else
        finish(status);
}

std::optional<EventTimes> NativeEvent::times() const {
    if (!begin_) return std::nullopt;
    const cl_ulong begin = moment(begin_.get(), of_begin_), end = moment(native(), CL_PROFILING_COMMAND_END);
    if (begin == 0 || end < begin) return std::nullopt;
    return EventTimes{context_->host_time(begin), context_->host_time(end)};
}

WaitList::WaitList(const std::shared_ptr<const Context>& context, std::span<const Event> after, HostUse use,
                   cl_command_queue queue) {
    for (const Event& event : after) {
        if (event.done()) continue;
        const auto& state = event.state();
        const auto* native =
            state->family() == context.get() ? static_cast<const NativeEvent*>(state.get()) : nullptr;
        if (native && native->orders(use, queue)) {
            native_.push_back(native->native());
            continue;
        }
        cl_int status = CL_SUCCESS;
        EventHandle bridge{clCreateUserEvent(context->get(), &status)};
        check(status, "clCreateUserEvent");
        native_.push_back(bridge.get());
        keep_.push_back(bridge);
        // Not in the thread that settles: during this call, the driver may start the work that waited for it.
        state->on_settled([bridge = std::move(bridge), context](const ErrorPtr&) mutable {
            context->complete(std::move(bridge));
        });
    }
}

} // namespace headrace::opencl
