// bench/queues_host.cpp - the rings, and the work without queues, on host threads.
#include "queues.kernels.hpp"
#include "queues_baseline.hpp"
#include "queues_ring.hpp"

#include <headrace/persistent/detail/lanes_host.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace bench {
namespace {

/// body(thread) on every processor; seconds until the last has ended.
double on_threads(const std::function<void(std::uint32_t)>& body) {
    const auto begin = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> threads;
        for (std::uint32_t i = 0; i < host_threads(); ++i) threads.emplace_back(body, i);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// body(index) for all below `count`; the sum of what it returns.
template <class F>
QueueTurn for_each_index(std::uint64_t count, const F& body) {
    constexpr std::uint64_t chunk = 64;
    std::atomic<std::uint64_t> cursor{0}, units{0};
    const double seconds = on_threads([&](std::uint32_t) {
        std::uint64_t sum = 0;
        // relaxed, both: indices carry no data, and the sum is read when the threads have ended.
        for (std::uint64_t i = 0; (i = cursor.fetch_add(chunk, std::memory_order_relaxed)) < count;)
            for (const std::uint64_t end = std::min(count, i + chunk); i < end; ++i) sum += body(i);
        units.fetch_add(sum, std::memory_order_relaxed);
    });
    return {seconds, seconds, units};
}

} // namespace

std::uint32_t host_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

QueueTurn host_trees(std::uint64_t seeds, std::uint32_t levels, std::uint32_t ending) {
    std::vector<std::uint64_t> signatures(TreeRules::sums);
    const TreeRules rules{{signatures.data(), {}}, ending};
    QueueTurn turn =
        for_each_index(seeds, [&](std::uint64_t index) { return count_nodes(rules, Roots{levels}(index)); });
    turn.checksum = checksum_of(signatures.data(), signatures.size());
    return turn;
}

QueueTurn host_walks(std::uint64_t packets) {
    std::vector<float> grid(WalkRules::cells);
    const WalkRules rules{{grid.data(), {}}};
    QueueTurn turn = for_each_index(packets, [&](std::uint64_t index) {
        Packet packet = Starts{}(index);
        std::uint64_t steps = 1;
        while (rules.step(packet)) ++steps;
        return steps;
    });
    turn.checksum = checksum_of(grid.data(), grid.size());
    return turn;
}

QueueTurn cycle_rings_host(std::uint32_t rings, std::uint32_t cycles) {
    using Lanes = headrace::HostLanes<16>; // as on the cpu device
    RingsImage image(rings, host_threads(), Lanes::size);
    const RingsView view{image.tickets.data(), image.slots.data(), image.bundles.data(), rings,
                         image.ring_slots};
    const double seconds = on_threads(
        [&](std::uint32_t group) { cycle_rings<headrace::HostSync>(Lanes{}, view, group, cycles); });
    const std::uint64_t units = std::uint64_t{host_threads()} * Lanes::size * cycles;
    image.check(units);
    return {seconds, seconds, units};
}

} // namespace bench
