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

    /// Of nothing, if `size` is 0.
    Event enqueue(std::string_view call, HostUse use, Bytes size, std::span<const Event> after,
                  const Command& command);
    /// Runs `submit`, which fills the event in; whatever it throws becomes the event's failure.
    template <class Submit>
    Event submit(HostUse use, std::span<const Event> after, const Submit& submit);
    [[nodiscard]] EventHandle marker(const WaitList* waits) const;
    /// The range of a buffer of ours; throws invalid_argument otherwise.
    [[nodiscard]] cl_mem range(const Memory& memory, Bytes offset, Bytes size, std::string_view what) const;

    std::shared_ptr<const Context> context_;
    const Timing timing_;
    QueueHandle queue_;
    std::optional<StreamNumber> number_; ///< from the first launch on, where kernels are mixed up
    Event last_; // what a request that could not be enqueued must still not complete before
};

} // namespace headrace::opencl
