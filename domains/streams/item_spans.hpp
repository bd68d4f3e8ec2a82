// domains/streams/item_spans.hpp - items of a stream in traces and Gantt charts: one bar for each part of
// each item, beside its kernels. Internal to domains/streams/.
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

/// Times are by the host's clock, as continuations report them. A bar begins when both the item and the
/// controller are available.
///
/// Threads   any
class HEADRACE_EXPORT ItemSpans {
    using Clock = std::chrono::steady_clock;

public:
    explicit ItemSpans(std::size_t controllers) : free_from_(controllers, Clock::now()) {}
    /// Null, unless a trace records and keeps spans.
    [[nodiscard]] static std::unique_ptr<ItemSpans> make(std::size_t controllers);

    /// The state of an item between two parts.
    struct Item {
        Clock::time_point there{};
    };
    /// The item arrives now.
    void arrived(Item& item);
    /// `controller`, of device `device`, has now ended the part of the item that is called `name`.
    void ended(Item& item, std::size_t controller, std::string_view device, std::string_view name);

private:
    std::mutex mutex_;                         // guards what follows, and items
    std::vector<Clock::time_point> free_from_; ///< of each controller
};

} // namespace headrace
