// devices/cpu/placement.cpp - see placement.hpp.
#include <headrace/internal/devices/cpu/placement.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace headrace {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error{ErrorKind::invalid_argument, why}; }

std::string text_of(NumaRange range) {
    return range.first == range.last
               ? "NUMA node " + std::to_string(range.first)
               : "NUMA nodes " + std::to_string(range.first) + "-" + std::to_string(range.last);
}

void check_range(const CpuTopology& topology, NumaRange range) {
    const std::set<unsigned> there(topology.nodes.begin(), topology.nodes.end());
    for (unsigned node = range.first; node <= range.last; ++node) {
        if (there.contains(node)) continue;
        std::string all;
        for (const unsigned known : there) all += std::to_string(known) + ' ';
        refuse("key \"numa\": NUMA node " + std::to_string(node) +
               " has no core that this process may use; there are: " + all);
    }
}

} // namespace

std::vector<Core> place(const CpuTopology& topology, const DeviceSettings& settings,
                        std::span<const Core> taken) {
    if (settings.numa) check_range(topology, *settings.numa);
    // A container's quota limits the number of cores. The settings `threads` and `numa` override the quota.
    const auto& within = settings.threads || settings.numa ? topology.cores : topology.quota;
    std::vector<Core> free;
    for (std::size_t i = 0; i < within.size(); ++i) {
        if (settings.numa &&
            (topology.nodes[i] < settings.numa->first || topology.nodes[i] > settings.numa->last))
            continue;
        const bool is_taken = std::ranges::any_of(taken, [&](const Core& core) {
            return std::ranges::find_first_of(core, within[i]) != core.end();
        });
        if (!is_taken) free.push_back(within[i]);
    }
    std::size_t hardware_threads = 0;
    for (const Core& core : free) hardware_threads += core.size();
    const std::size_t wanted = settings.threads.value_or(static_cast<unsigned>(hardware_threads));
    if (wanted == 0 || wanted > hardware_threads)
        refuse((settings.threads ? "key \"threads\": " + std::to_string(wanted) + " are asked for, and "
                                 : std::string("key \"numa\": ")) +
               std::to_string(hardware_threads) + " hardware threads are left" +
               (settings.numa ? " in " + text_of(*settings.numa) : ""));

    std::vector<Core> chosen;
    if (wanted <= free.size()) {
        for (std::size_t i = 0; i < wanted; ++i) chosen.push_back({free[i].front()});
        return chosen;
    }
    std::size_t more = wanted - free.size(); // beyond one per core
    for (const Core& core : free) {
        const std::size_t here = 1 + std::min(more, core.size() - 1);
        more -= here - 1;
        chosen.emplace_back(core.begin(), core.begin() + static_cast<std::ptrdiff_t>(here));
    }
    return chosen;
}

} // namespace headrace
