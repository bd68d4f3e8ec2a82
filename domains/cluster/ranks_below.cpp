// domains/cluster/ranks_below.cpp - see ranks_below.hpp.
#include "cluster/ranks_below.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace headrace::cluster {
namespace {

/// The devices of one rank, or of several.
struct Machine {
    double peak_gflops = 0;
    Bytes memory = 0;
    unsigned compute_units = 0, lane_group = 1;
    std::uint32_t devices = 0, ranks = 1;
    bool has_gpu = false;
    std::uint8_t padding[3] = {};

    void add(const Machine& other) {
        peak_gflops += other.peak_gflops;
        memory += other.memory;
        compute_units += other.compute_units;
        lane_group = std::max(lane_group, other.lane_group);
        devices += other.devices;
        ranks += other.ranks;
        has_gpu = has_gpu || other.has_gpu;
    }
};

std::string counted(std::uint32_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

} // namespace

std::vector<RankBelow> meet_ranks_below(Node& node, const std::vector<const DeviceInfo*>& devices) {
    Machine mine;
    for (const DeviceInfo* const device : devices)
        mine.add({.peak_gflops = device->peak_gflops,
                  .memory = device->memory,
                  .compute_units = device->compute_units,
                  .lane_group = device->lane_group,
                  .devices = 1,
                  .ranks = 0,
                  .has_gpu = device->kind != DeviceKind::cpu});
    const std::vector<Message> all = node.exchange(Writer().put(mine).take());
    std::vector<Machine> machines;
    for (const Message& one : all) machines.push_back(Reader(one).get<Machine>());
    // Of two ranks, the lower one is nearer to the root.
    for (int rank = node.ranks() - 1; rank > 0; --rank)
        machines[static_cast<std::size_t>(Neighbours::of(rank, node.ranks(), "").above)].add(
            machines[static_cast<std::size_t>(rank)]);
    std::vector<RankBelow> below;
    for (const int rank : node.neighbours().below) {
        const Machine& machine = machines[static_cast<std::size_t>(rank)];
        const std::string& host = node.hosts()[static_cast<std::size_t>(rank)];
        DeviceInfo info;
        info.id = fmt::format("rank:{}", rank);
        info.name = machine.ranks == 1
                        ? fmt::format("{}, {}", host, counted(machine.devices, "device"))
                        : fmt::format("{} and {} below, {}", host, counted(machine.ranks - 1, "rank"),
                                      counted(machine.devices, "device"));
        info.technology = "rank";
        info.kind = machine.has_gpu ? DeviceKind::gpu : DeviceKind::cpu;
        info.memory = machine.memory;
        info.largest_allocation = machine.memory;
        info.compute_units = machine.compute_units;
        info.lane_group = machine.lane_group;
        info.peak_gflops = machine.peak_gflops;
        below.push_back({rank, std::move(info)});
    }
    return below;
}

} // namespace headrace::cluster
