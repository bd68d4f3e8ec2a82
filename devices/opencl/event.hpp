// devices/opencl/event.hpp - a cl_event behind an Event, and waits of OpenCL for other events.
#pragma once
#include "opencl/context.hpp"
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace headrace::opencl {

/// How a command uses host memory.
enum class HostUse : std::uint8_t { none, reads, writes };

/// Completion of one command, or of all commands between two markers.
class HEADRACE_EXPORT NativeEvent final : public EventState {
public:
    explicit NativeEvent(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

    /// Call one of these two, once, before others have the event. Here its times are the command's.
    void complete_with(EventHandle command, HostUse use, cl_command_queue queue);
    /// The end of `before` is the begin of the measured time. Null `before`: no times are measured.
    void complete_with_marker(EventHandle marker, EventHandle before);

    [[nodiscard]] cl_event native() const noexcept { return command_.get(); }
    /// False: a command with that use waits through a user event that the host completes. See WaitList.
    [[nodiscard]] bool orders(HostUse use, cl_command_queue queue) const noexcept;

    [[nodiscard]] const void* family() const noexcept override { return context_.get(); }
    bool query() override;
    void block() override;
    void arm() override;
    [[nodiscard]] std::optional<EventTimes> times() const override;

private:
    void finish(cl_int status);
    [[nodiscard]] cl_int native_status() const;

    std::shared_ptr<const Context> context_;
    EventHandle command_, begin_;        // no begin: no times are measured
    cl_command_queue to_host_ = nullptr; // set if the command copies to the host: its queue
    cl_profiling_info of_begin_ = CL_PROFILING_COMMAND_START;
    std::atomic_flag armed_;
};

/// The events in `after` that have not completed, as a list for clEnqueue calls.
///
/// An event of another context becomes a user event, which completes when the original settles. It completes
/// with success after any outcome, because PoCL 3.1 never calls back for work that depends on a failed user
/// event. The failure travels by `EventState::inherit`.
///
/// So does a copy to the host if another copy from or to the host waits for it (see `orders`). NVIDIA's
/// driver 580 reads unpinned memory when the copy is enqueued. It first waits for user events, but not for
/// others. (Of 20000 small copies to the device that each waited for the copy to the host before it, by its
/// event or behind a barrier, 19998 had old data.)
class HEADRACE_EXPORT WaitList {
public:
    /// For a command with that use of host memory, in `queue`.
    WaitList(const std::shared_ptr<const Context>& context, std::span<const Event> after, HostUse use,
             cl_command_queue queue);

    [[nodiscard]] cl_uint size() const noexcept { return static_cast<cl_uint>(native_.size()); }
    [[nodiscard]] const cl_event* data() const noexcept { return native_.empty() ? nullptr : native_.data(); }

private:
    std::vector<EventHandle> keep_;
    std::vector<cl_event> native_;
};

} // namespace headrace::opencl
