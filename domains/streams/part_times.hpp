// domains/streams/part_times.hpp - when the parts of a stream's items ended, of the last items.
// Private to domains/streams/.
#pragma once
#include <headrace/core/export.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace {

/// Times by the host's clock, as continuations tell them. Does not grow with the stream.
///
/// Threads   any
class HEADRACE_EXPORT PartTimes {
public:
    using Clock = std::chrono::steady_clock;

    explicit PartTimes(std::size_t parts);
    /// Of the same run, cut into other parts: those of before are not known any more.
    PartTimes(std::size_t parts, const PartTimes& before);

    /// Now: the item's input is there; the part's last request has ended.
    void arrived(std::int64_t item) { note(0, item); }
    void ended(std::size_t part, std::int64_t item) { note(part + 1, item); }

    /// Seconds that a part takes: the median over the last items, none of them before `since`, from when both
    /// the item and the device were there. Nothing if fewer than `least` are known.
    [[nodiscard]] std::optional<double> seconds(std::size_t part, std::int64_t since,
                                                std::size_t least) const;
    /// Until the first item left the last part, and since the last one left the first part.
    [[nodiscard]] double fill_seconds() const;
    [[nodiscard]] double drain_seconds() const;
    /// Until `finish`.
    [[nodiscard]] double seconds() const;
    void finish();

private:
    static constexpr std::int64_t kept = 32; ///< items
    struct End {
        std::int64_t item = -1;
        Clock::time_point when;
    };
    using Row = std::array<End, kept>;

    void note(std::size_t row, std::int64_t item);
    // With the lock held:
    [[nodiscard]] const End* end(std::size_t row, std::int64_t item) const;

    const Clock::time_point begin_;
    mutable std::mutex mutex_;
    std::vector<Row> rows_; ///< of arrivals, and of each part
    std::optional<Clock::time_point> first_out_, last_in_, finished_;
};

} // namespace headrace
