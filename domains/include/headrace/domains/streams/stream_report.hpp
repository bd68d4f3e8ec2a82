// domains/streams/stream_report.hpp - how well a stream was divided among devices.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/figure.hpp>
#include <headrace/devices/candidate.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// Consecutive pieces that one device computed.
struct StreamPartReport {
    std::string device, first_piece, last_piece;
    Figure predicted_seconds;    ///< for one item
    Figure seconds;              ///< median of the last items: from when the part could begin until its end
    double transfer_seconds = 0; ///< predicted time to bring an item to the device
};

/// Whole items that one device computed.
struct StreamShareReport {
    std::string device;
    std::int64_t items = 0;
    Figure predicted_seconds; ///< for one item, on a device that does nothing else
    Figure seconds;           ///< between the ends of two of the last items, over all that it has at once
};

/// The report of one run.
struct StreamReport {
    std::int64_t items = 0;
    double seconds = 0;
    double fill_seconds = 0;               ///< until the first item left the last part
    double drain_seconds = 0;              ///< since the last item left the first part
    std::vector<StreamPartReport> parts;   ///< empty: each device had whole items
    std::vector<StreamShareReport> shares; ///< of whole items; empty: there were parts
    unsigned remapped = 0;                 ///< number of changes of the mapping during the run
    std::vector<LeftOut> left_out;         ///< measured devices that were excluded
    /// Time for all items on the fastest device. Based on the times of its pieces when it does nothing else,
    /// or, if a device has several whole items at once, on the times of the last items there.
    Figure alone_seconds;
    Figure speed_up;   ///< alone_seconds / seconds: S in the paper
    Figure expected;   ///< Se: sum of all devices' speeds, the fastest having 1, without any transfers
    Figure efficiency; ///< speed_up / expected
};

/// One line for people: S, Se and efficiency. If there are several parts, also the times to fill and to drain
/// them.
[[nodiscard]] HEADRACE_EXPORT std::string to_string(const StreamReport& report);

} // namespace headrace
