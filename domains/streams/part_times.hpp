// domains/streams/part_times.hpp - times at which the parts of a stream's last items ended. Internal to
// domains/streams/.
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

/// Times are by the host's clock, as continuations report them. The size does not grow with the stream.
///
/// Threads   any
class HEADRACE_EXPORT PartTimes {
public:
    using Clock = std::chrono::steady_clock;

    explicit PartTimes(std::size_t parts);
    /// For the same run with other parts: times of the previous parts are dropped.
    PartTimes(std::size_t parts, const PartTimes& before);

    /// Notes the time now: the item's input is there, or the part's last request has ended.
    void arrived(std::int64_t item) { note(0, item); }
    void ended(std::size_t part, std::int64_t item) { note(part + 1, item); }

    /// Seconds that a part takes: the median over the last items from `since` on, each from when both the
    /// item and the device were ready. Nothing if fewer than `least` are known.
    [[nodiscard]] std::optional<double> seconds(std::size_t part, std::int64_t since,
                                                std::size_t least) const;
    /// Time until the first item left the last part; time since the last item left the first part.
    [[nodiscard]] double fill_seconds() const;
    [[nodiscard]] double drain_seconds() const;
    /// Time until `finish`.
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
    std::vector<Row> rows_; ///< the first for arrivals, then one for each part
    std::optional<Clock::time_point> first_out_, last_in_, finished_;
};

} // namespace headrace
