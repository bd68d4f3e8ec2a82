// core/stage_mapping.hpp - which device does which part of the work on each item of a stream.
#pragma once
#include <headrace/core/export.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace headrace {

/// The costs of one item of a stream, for each piece of the work. Pieces run one after another. Between two
/// pieces the item may move to another device.
struct StreamCosts {
    /// [device][piece]: measured; infinity if the device cannot do the piece. At least one device and one
    /// piece; all devices have the same number of pieces; no time is negative.
    std::vector<std::vector<double>> seconds;
    /// Seconds to move the data that the pieces from `piece` on need from one device to another. Empty:
    /// transfers cost nothing.
    std::function<double(std::size_t from, std::size_t to, std::size_t piece)> transfer = {};
};

/// Pieces [begin, end), which one device does for each item.
struct StagePart {
    std::size_t device, begin, end;
    double seconds;     ///< for one item
    double transfer_in; ///< seconds for one item, from the device of the previous part; 0 for the first
    friend bool operator==(const StagePart&, const StagePart&) = default;
};

/// The parts in the order of the work. A device has at most one part; devices may come in any order.
struct HEADRACE_EXPORT StageMapping {
    std::vector<StagePart> parts;
    /// Seconds from one item to the next when all parts are busy: the longest part or transfer, because
    /// transfers overlap with computation.
    double period = 0;
    double latency = 0; ///< seconds of one item through all parts

    /// Seconds for a stream of `items` items, including the time in which the parts fill and drain.
    [[nodiscard]] double seconds(std::size_t items) const;
};

/// Finds the mapping with which a stream of `items` items (at least 1) ends first; filling and draining the
/// parts counts. Without `items`: the shortest period; among equal periods the least latency; among these the
/// fewest devices. So an additional device never makes a stream slower. If there are more than ten devices,
/// only the ten that are fastest with a whole item are considered.
///
/// Dynamic programming over sets of devices: for each set and each last device, the best way to do the first
/// pieces. So it covers all orders, in at most 2^k k (k + m) m steps for k devices and m pieces. Usually it
/// needs far fewer, because it skips parts that take longer than a known solution. If `items` is given, it
/// repeats the search for the least latency with falling limits of the period. The latency grows as the limit
/// falls. It stops when no shorter period can compensate for the latency.
///
/// Source   S. Alonso Pascual, A. Gonzalez-Escribano, "Programming and mapping for mixed heterogeneous
///          devices: the case of optical flow", 2025, equations 1 and 2. Differs in: the paper has no
///          transfers, one fixed order of devices, and endless streams
/// Errors   invalid_argument for invalid costs, for zero items, or if devices with one part each cannot do
///          all pieces
[[nodiscard]] HEADRACE_EXPORT StageMapping map_stages(const StreamCosts& costs,
                                                      std::optional<std::size_t> items = {});

/// The mapping of all pieces to one device.
[[nodiscard]] HEADRACE_EXPORT StageMapping on_one_device(const StreamCosts& costs, std::size_t device);

/// Seconds for `items` items, each done whole by the device that would end it first. Nothing is moved.
[[nodiscard]] HEADRACE_EXPORT double seconds_of_whole_items(const StreamCosts& costs, std::size_t items);

} // namespace headrace
