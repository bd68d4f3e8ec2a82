// domains/streams/item_spans.hpp - items of a stream in traces and Gantt charts: a bar for each part of each
// item, beside the kernels that it is made of. Private to domains/streams/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/trace.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace headrace {

/// Times by the host's clock, as continuations tell them: a bar begins when both the item and the controller
/// are there.
///
/// Threads   any
class HEADRACE_EXPORT ItemSpans {
    using Clock = std::chrono::steady_clock;

public:
    explicit ItemSpans(std::size_t controllers) : free_from_(controllers, Clock::now()) {}
    /// Null unless a trace records that keeps spans.
    [[nodiscard]] static std::unique_ptr<ItemSpans> make(std::size_t controllers);

    /// An item on its way, from one part to the next.
    struct Item {
        Clock::time_point there{};
    };
    /// Now.
    void arrived(Item& item);
    /// Now: what `controller`, of a device called `device`, has done of the item, which is called `name`.
    void ended(Item& item, std::size_t controller, std::string_view device, std::string_view name);

private:
    std::mutex mutex_;                         // guards what follows, and items
    std::vector<Clock::time_point> free_from_; ///< of each controller
};

} // namespace headrace
