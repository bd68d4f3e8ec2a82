// internal/domains/streams/estimated_times.hpp - estimated times of pieces while a stream runs. Internal to
// domains/streams/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/stage_mapping.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace {

/// Starts from the measured times and follows the times of parts: a device may share its power or have other
/// users for a while.
///
/// Arithmetic, without clocks. Threads: one at a time.
class HEADRACE_EXPORT EstimatedTimes {
public:
    static constexpr std::size_t enough_items = 5; ///< number of items that a part's time needs

    /// Shape: [device][piece], seconds; infinite where a device cannot run the piece.
    explicit EstimatedTimes(std::vector<std::vector<double>> measured);

    [[nodiscard]] const std::vector<std::vector<double>>& seconds() const noexcept { return estimated_; }
    [[nodiscard]] double of(const StagePart& part) const;

    /// `seconds`: the part's time over the last `enough_items`. If it differs from the estimate by 15 % or
    /// more, all estimates of the device are scaled. Returns true then.
    bool took(const StagePart& part, double seconds);
    /// The parts from this item (its number in the stream) on. 0 begins another run.
    void use(const std::vector<StagePart>& parts, std::int64_t item);
    /// Resets the estimates of devices that were slower than measured and have had no part since. It waits
    /// for so many items that trying a device costs at most 1/50 of the time if it is still slow. Returns
    /// true if it reset one.
    bool forgets(std::int64_t item);

private:
    const std::vector<std::vector<double>> measured_;
    std::vector<std::vector<double>> estimated_;
    std::vector<std::optional<std::int64_t>> without_; ///< since which item each device has had no part
};

} // namespace headrace
