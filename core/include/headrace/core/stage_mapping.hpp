// core/stage_mapping.hpp - which device does which part of what every item of a stream goes through.
#pragma once
#include <headrace/core/export.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace headrace {

/// What an item of a stream costs, piece by piece: pieces follow each other, and between any two of them the
/// item may go on to another device.
struct StreamCosts {
    /// [device][piece]: as measured; infinity where the device cannot do it. At least one device, and as many
    /// pieces on each, at least one; none negative.
    std::vector<std::vector<double>> seconds;
    /// What it takes to bring what the pieces from `piece` on need from one device to another. Empty:
    /// nothing.
    std::function<double(std::size_t from, std::size_t to, std::size_t piece)> transfer = {};
};

/// Pieces [begin, end), which one device does for every item.
struct StagePart {
    std::size_t device, begin, end;
    double seconds;     ///< of an item
    double transfer_in; ///< of an item, from the device of the part before; 0 for the first
    friend bool operator==(const StagePart&, const StagePart&) = default;
};

/// A way through the devices: each has one part at most, in an order that need not be theirs.
struct HEADRACE_EXPORT StageMapping {
    std::vector<StagePart> parts;
    /// Seconds from one item to the next when all parts are at work: the longest part or transfer, since
    /// transfers overlap with what devices compute.
    double period = 0;
    double latency = 0; ///< seconds of one item through all

    /// Of a stream of so many items, with the time in which the parts fill and drain.
    [[nodiscard]] double seconds(std::size_t items) const;
};

/// The mapping by which a stream of so many items, one at least, ends first, with the time in which parts
/// fill and drain. Not known how many: the one with the shortest period, of these the one with the least
/// latency, and of these one with the fewest devices. So one more device never makes a stream slower. Of more
/// than ten devices the ten that do an item fastest are looked at.
///
/// Dynamic programming over sets of devices: the best way to have a set do the first pieces, with one of them
/// last. So it tries all orders, in 2^k k (k + m) m steps for k devices and m pieces at most, and far fewer
/// as a rule: parts that take longer than what is known to be possible are not looked at. For a number of
/// items that is done some times over: with the least latency for periods that are limited, which gets longer
/// as the limit falls, until no shorter period can make up for it.
///
/// Source   S. Alonso Pascual, A. Gonzalez-Escribano, "Programming and mapping for mixed heterogeneous
///          devices: the case of optical flow", 2025, equations 1 and 2: this without transfers, with devices
///          in one order, for streams without end
/// Errors   invalid_argument for costs that are none, for no items, or if no devices, with one part each, can
///          do all pieces
[[nodiscard]] HEADRACE_EXPORT StageMapping map_stages(const StreamCosts& costs,
                                                      std::optional<std::size_t> items = {});

/// All pieces on one device.
[[nodiscard]] HEADRACE_EXPORT StageMapping on_one_device(const StreamCosts& costs, std::size_t device);

/// What whole items take, so many of them, each on the device that is done with it first. Nothing is moved.
[[nodiscard]] HEADRACE_EXPORT double seconds_of_whole_items(const StreamCosts& costs, std::size_t items);

} // namespace headrace
