// domains/streams/stream_report.hpp - how well a stream was divided among devices.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/figure.hpp>
#include <headrace/devices/candidate.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// Consecutive pieces that one device did.
struct StreamPartReport {
    std::string device, first_piece, last_piece;
    Figure predicted_seconds;    ///< of an item
    Figure seconds;              ///< median of the last items, from when the part could begin until it ended
    double transfer_seconds = 0; ///< predicted, to bring an item there
};

/// Whole items that one device did.
struct StreamShareReport {
    std::string device;
    std::int64_t items = 0;
    Figure predicted_seconds; ///< of an item, when the device has nothing else to do
    Figure seconds; ///< between the ends of two: by what the last ones took, of all that it has at once
};

/// Of one run.
struct StreamReport {
    std::int64_t items = 0;
    double seconds = 0;
    double fill_seconds = 0;               ///< until the first item left the last part
    double drain_seconds = 0;              ///< since the last one left the first part
    std::vector<StreamPartReport> parts;   ///< empty: each device had whole items
    std::vector<StreamShareReport> shares; ///< of whole items; empty: there were parts
    unsigned remapped = 0;                 ///< how often, while it ran
    std::vector<LeftOut> left_out;         ///< devices that were measured, and did not suit
    /// All items on the fastest device: by what its pieces take when it has nothing else to do, or, where
    /// several whole items are on a device at once, by what the last items took there.
    Figure alone_seconds;
    Figure speed_up;   ///< alone_seconds / seconds: the paper's S
    Figure expected;   ///< the sum of all devices' speeds, the fastest being 1, as if nothing were moved: Se
    Figure efficiency; ///< speed_up / expected
};

/// A line for people: S, Se, efficiency, and where there are several parts, how long they took to fill and to
/// drain.
[[nodiscard]] HEADRACE_EXPORT std::string to_string(const StreamReport& report);

} // namespace headrace
