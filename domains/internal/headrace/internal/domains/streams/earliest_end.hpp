// internal/domains/streams/earliest_end.hpp - the controller that would finish one more whole item first.
// Internal to domains/streams/.
#pragma once
#include <headrace/core/export.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace {

/// An item goes to the controller that is expected to finish it first, after the items that it has. This is
/// the earliest finish time of list scheduling (H. Topcuoglu et al., "HEFT", 2002). Items so end roughly in
/// their order. A device that would delay the stream gets none, but is tried rarely, since it may have been
/// slow only briefly: all tries together cost the stream at most 2 %.
///
/// Threads   any
class HEADRACE_EXPORT EarliestEnd {
public:
    using Clock = std::chrono::steady_clock;

    explicit EarliestEnd(std::size_t controllers) : all_(controllers) {}

    /// The predicted time of an item there, until some have been measured. Infinity: it gets none.
    void expect(std::size_t controller, double seconds);
    /// No controller has an item; their known times stay.
    void begin(Clock::time_point now = Clock::now());
    /// The controller for the next item. One without known times counts as being as fast as the fastest.
    [[nodiscard]] std::size_t next(Clock::time_point now = Clock::now());
    void given(std::size_t controller, Clock::time_point now = Clock::now());
    /// The item that it has had for the longest time has ended. The time of a failed item is ignored.
    void ended(std::size_t controller, bool succeeded, Clock::time_point now = Clock::now());
    /// Time of an item: from the last ones, or the predicted one; nothing: neither is known.
    [[nodiscard]] std::optional<double> seconds(std::size_t controller) const;
    /// Time of an item, only from the last ones; nothing: there were none.
    [[nodiscard]] std::optional<double> measured_seconds(std::size_t controller) const;

private:
    struct HEADRACE_EXPORT One {
        std::size_t items = 0;               ///< that it has
        Clock::time_point since{};           ///< since then it works on its first item, or has none
        bool is_warm = false;                ///< false: the first item warms the device up; not counted
        std::deque<double> seconds{};        ///< of the last ones
        std::size_t measured = 0;            ///< of these; the others were predicted
        [[nodiscard]] double median() const; ///< needs at least one value
    };

    mutable std::mutex mutex_; // guards what follows
    std::vector<One> all_;
};

} // namespace headrace
