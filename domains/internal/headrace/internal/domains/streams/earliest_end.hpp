// internal/domains/streams/earliest_end.hpp - who would be the first to be done with one more whole item.
// Private to domains/streams/.
#pragma once
#include <headrace/core/export.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace {

/// An item goes to the controller that is expected to have done it first, after those that it has: earliest
/// finish time, as list scheduling has it (H. Topcuoglu et al., "HEFT", 2002). So items end about in their
/// order, and a device that would keep the stream waiting has none; but it is tried once in a while, since it
/// may have been slow for a moment only: so seldom that all such together cost the stream 2 % at most.
///
/// Threads   any
class HEADRACE_EXPORT EarliestEnd {
public:
    using Clock = std::chrono::steady_clock;

    explicit EarliestEnd(std::size_t controllers) : all_(controllers) {}

    /// What an item is said to take there, until some have been seen. Infinity: it has none.
    void expect(std::size_t controller, double seconds);
    /// Nobody has an item; what they take is still known.
    void begin(Clock::time_point now = Clock::now());
    /// Who should have the next item. Of whom nothing is known is taken to be as fast as the fastest.
    [[nodiscard]] std::size_t next(Clock::time_point now = Clock::now());
    void given(std::size_t controller, Clock::time_point now = Clock::now());
    /// The item that it has had for longest is done; how long one that failed took says nothing.
    void ended(std::size_t controller, bool succeeded, Clock::time_point now = Clock::now());
    /// Of an item: what the last ones took, or what was said; nothing: neither.
    [[nodiscard]] std::optional<double> seconds(std::size_t controller) const;
    /// Of an item: what the last ones took, whatever was said; nothing: there were none.
    [[nodiscard]] std::optional<double> measured_seconds(std::size_t controller) const;

private:
    struct HEADRACE_EXPORT One {
        std::size_t items = 0;               ///< that it has
        Clock::time_point since{};           ///< it has been at the first of these, or has had none
        bool is_warm = false;                ///< its first item, of a device that makes ready, says nothing
        std::deque<double> seconds{};        ///< of the last ones
        std::size_t measured = 0;            ///< of these; the others were said
        [[nodiscard]] double median() const; ///< of some
    };

    mutable std::mutex mutex_; // guards what follows
    std::vector<One> all_;
};

} // namespace headrace
