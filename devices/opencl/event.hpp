// devices/opencl/event.hpp - a cl_event behind an Event, and other events as OpenCL can wait for them.
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

/// What a command does with host memory.
enum class HostUse : std::uint8_t { none, reads, writes };

/// Completion of one command, or of all between two markers.
class HEADRACE_EXPORT NativeEvent final : public EventState {
public:
    explicit NativeEvent(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

    /// One of these, once, before anyone else has the event. Its times are the command's.
    void complete_with(EventHandle command, HostUse use, cl_command_queue queue);
    /// A marker, and the one whose end is where the measured time begins; null: nobody measures.
    void complete_with_marker(EventHandle marker, EventHandle before);

    [[nodiscard]] cl_event native() const noexcept { return command_.get(); }
    /// False: a command with that use must wait for this on the host. See WaitList.
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
    EventHandle command_, begin_;        // no begin: nobody measures
    cl_command_queue to_host_ = nullptr; // a copy to the host, in this queue
    cl_profiling_info of_begin_ = CL_PROFILING_COMMAND_START;
    std::atomic_flag armed_;
};

/// The unfinished ones among `after`, as a list for clEnqueue calls.
///
/// What is not of this context becomes a user event that the settling of the original completes. It does so
/// with success whatever the outcome: PoCL 3.1 never calls back for what depends on a failed user event, and
/// the failure travels by EventState::inherit.
///
/// So does a copy to the host that another copy from or to the host waits for: NVIDIA's driver 580 reads what
/// is to be copied from memory that is not pinned when the command is enqueued, whatever that waits for. Only
/// for user events does it wait. (Of 20000 small copies to the device that each waited for the copy to the
/// host before it, by its event or behind a barrier, 19998 had old data.)
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
