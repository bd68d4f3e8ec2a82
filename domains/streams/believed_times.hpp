// domains/streams/believed_times.hpp - what pieces are believed to take while a stream runs. Private to
// domains/streams/.
#pragma once
#include <headrace/core/stage_mapping.hpp>

#include <cstddef>
#include <vector>

namespace headrace {

/// As they were measured before, until parts take another time: a device may share its power, or be used by
/// others, for a while.
///
/// Arithmetic, without clocks. Threads: one at a time.
class BelievedTimes {
public:
    static constexpr std::size_t enough_items = 5; ///< to tell how long a part takes

    /// Shape: [device][piece], seconds; infinite where a device cannot do it.
    explicit BelievedTimes(std::vector<std::vector<double>> measured);

    [[nodiscard]] const std::vector<std::vector<double>>& seconds() const noexcept { return believed_; }
    [[nodiscard]] double of(const StagePart& part) const;

    /// Of the last `enough_items`. If it is not about what is believed, all pieces of the device are believed
    /// to be so much slower or faster. True then.
    bool took(const StagePart& part, double seconds);
    /// The device has had no part for so many items. If it was slower than it had been measured, it is
    /// believed to be so no more, after so many that to find out costs a fiftieth of the time if it is. True
    /// then.
    bool had_no_part(std::size_t device, std::size_t items);

private:
    const std::vector<std::vector<double>> measured_;
    std::vector<std::vector<double>> believed_;
};

} // namespace headrace
