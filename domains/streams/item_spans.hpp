// domains/streams/item_spans.hpp - items of a stream in traces and Gantt charts: a bar for each part of each
// item, beside the kernels that it is made of. Private to domains/streams/.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/core/trace.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace {

/// Times by the host's clock, as continuations tell them: a bar begins when both the item and the controller
/// are there.
///
/// Threads   any
class ItemSpans {
public:
    explicit ItemSpans(std::size_t controllers) : free_from_(controllers) {}
    /// Null unless a trace records that keeps spans.
    [[nodiscard]] static std::shared_ptr<ItemSpans> make(std::size_t controllers);

    /// An item on its way, from one part to the next.
    struct Item {
        std::chrono::steady_clock::time_point there{};
    };
    static void watch_arrival(const std::shared_ptr<ItemSpans>& spans, const std::shared_ptr<Item>& item,
                              const Event& there);
    /// `last`: of the requests that `controller`, of a device called `device`, has for the item.
    static void watch_part(const std::shared_ptr<ItemSpans>& spans, const std::shared_ptr<Item>& item,
                           std::size_t controller, std::string device, std::string name, const Event& last);

private:
    using Clock = std::chrono::steady_clock;

    std::mutex mutex_;                         // guards what follows, and items
    std::vector<Clock::time_point> free_from_; ///< of each controller
};

} // namespace headrace
