// devices/opencl/stream.hpp - an in-order command queue as Stream.
#pragma once
#include "opencl/event.hpp"
#include "opencl/memory.hpp"
#include "opencl/stream_number.hpp"
#include <headrace/core/export.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace headrace::opencl {

class HEADRACE_EXPORT QueueStream final : public Stream {
public:
    QueueStream(std::shared_ptr<const Context> context, Timing timing);
    ~QueueStream() override;

    Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                  std::span<const Event> after) override;
    Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                   std::span<const Event> after) override;
    Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                    std::span<const Event> after) override;
    Event fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
               std::span<const Event> after) override;
    Event launch(Body body, std::span<const Event> after) override;

private:
    using Command = std::function<cl_int(const WaitList&, cl_event*)>;

    /// Enqueues `command`, or only a marker if `size` is 0.
    Event enqueue(std::string_view call, HostUse use, Bytes size, std::span<const Event> after,
                  const Command& command);
    /// Runs `submit`, which completes the event's state. An exception becomes the event's failure.
    template <class Submit>
    Event submit(HostUse use, std::span<const Event> after, const Submit& submit);
    [[nodiscard]] EventHandle marker(const WaitList* waits) const;
    /// Returns the buffer; throws invalid_argument if it is not this device's or the range is not inside.
    [[nodiscard]] cl_mem range(const Memory& memory, Bytes offset, Bytes size, std::string_view what) const;

    std::shared_ptr<const Context> context_;
    const Timing timing_;
    QueueHandle queue_;
    std::optional<StreamNumber> number_; ///< from the first launch on, if the driver mixes up grids
    Event last_;                         // the last event: a request that fails to enqueue completes after it
};

} // namespace headrace::opencl
