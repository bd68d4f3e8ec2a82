// internal/domains/streams/believed_times.hpp - what pieces are believed to take while a stream runs. Private
// to domains/streams/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/stage_mapping.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace {

/// As they were measured before, until parts take another time: a device may share its power, or be used by
/// others, for a while.
///
/// Arithmetic, without clocks. Threads: one at a time.
class HEADRACE_EXPORT BelievedTimes {
public:
    static constexpr std::size_t enough_items = 5; ///< to tell how long a part takes

    /// Shape: [device][piece], seconds; infinite where a device cannot do it.
    explicit BelievedTimes(std::vector<std::vector<double>> measured);

    [[nodiscard]] const std::vector<std::vector<double>>& seconds() const noexcept { return believed_; }
    [[nodiscard]] double of(const StagePart& part) const;

    /// Of the last `enough_items`. If it is not about what is believed, all pieces of the device are believed
    /// to be so much slower or faster. True then.
    bool took(const StagePart& part, double seconds);
    /// These are the parts from this item on, the stream's number; 0 begins another run.
    void use(const std::vector<StagePart>& parts, std::int64_t item);
    /// Devices that were slower than they had been measured, and have had no part since, are believed to be
    /// so no more after so many items that to find out costs a fiftieth of the time if they are. True if
    /// there is one, at this item.
    bool forgets(std::int64_t item);

private:
    const std::vector<std::vector<double>> measured_;
    std::vector<std::vector<double>> believed_;
    std::vector<std::optional<std::int64_t>> without_; ///< since which item each device has had no part
};

} // namespace headrace
