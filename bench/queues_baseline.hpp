// bench/queues_baseline.hpp - what `queues` is compared with: what the device can do at most, and the same
// trees and packets with no queue at all. In plain CUDA on the current device, unless said otherwise. Calls
// return when all is done.
#pragma once
#include <cstdint>

namespace bench {

/// One turn of any program of this benchmark.
struct QueueTurn {
    double kernel_seconds;       ///< by the device's clock
    double job_seconds;          ///< from the first request to the end
    std::uint64_t units;         ///< operations, bytes, or work units, as the row says
    std::uint64_t checksum = 0;  ///< the same for all programs of a row
    double lanes_at_work = 0;    ///< 0: unknown
    std::uint64_t all_units = 0; ///< where `units` are those that went through a queue
};

/// A sum of sums in which their places count.
template <class T>
std::uint64_t checksum_of(const T* sums, std::uint64_t count) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) sum += (2 * i + 1) * static_cast<std::uint64_t>(sums[i]);
    return sum;
}

// ---- limits of the device

/// All lane groups take tickets from one word, one at a time.
[[nodiscard]] QueueTurn one_address_atomics();
/// The leaders of a block's lane groups take tickets from a word of its shared memory.
[[nodiscard]] QueueTurn shared_atomics();
/// Bytes read and written.
[[nodiscard]] QueueTurn copy_memory();

// ---- the work without queues

enum class TreeStyle : std::uint8_t { own_stack, calls };
/// One thread a seed.
[[nodiscard]] QueueTurn plain_trees(std::uint64_t seeds, std::uint32_t levels, std::uint32_t ending,
                                    TreeStyle style);

enum class WalkStyle : std::uint8_t {
    thread_a_packet,
    refill ///< lanes that are done get the next packets, as soon as too few are at work
};
[[nodiscard]] QueueTurn plain_walks(std::uint64_t packets, WalkStyle style);

// ---- the engine's rings alone

/// Every lane group pushes a bundle of units of 16 bytes and pops another, `cycles` times, over `rings`
/// rings. Throws if a unit was lost or came twice.
[[nodiscard]] QueueTurn cycle_rings_cuda(std::uint32_t rings, std::uint32_t cycles);

// ---- the same on host threads, one for each processor

[[nodiscard]] std::uint32_t host_threads();
[[nodiscard]] QueueTurn host_trees(std::uint64_t seeds, std::uint32_t levels, std::uint32_t ending);
[[nodiscard]] QueueTurn host_walks(std::uint64_t packets);
[[nodiscard]] QueueTurn cycle_rings_host(std::uint32_t rings, std::uint32_t cycles);

} // namespace bench
