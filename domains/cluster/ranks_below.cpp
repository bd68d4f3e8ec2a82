// domains/cluster/ranks_below.cpp - see ranks_below.hpp.
#include "cluster/ranks_below.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace headrace::cluster {

struct RanksBelow::Machine {
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

namespace {

std::string counted(std::uint32_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

} // namespace

RanksBelow::RanksBelow(std::shared_ptr<Node> node, const std::vector<const DeviceInfo*>& devices)
    : node_(std::move(node)) {
    Machine mine;
    for (const DeviceInfo* const device : devices)
        mine.add({.peak_gflops = device->peak_gflops,
                  .memory = device->memory,
                  .compute_units = device->compute_units,
                  .lane_group = device->lane_group,
                  .devices = 1,
                  .ranks = 0,
                  .has_gpu = device->kind != DeviceKind::cpu});
    machines_ = node_->exchange(Writer().put(mine).take());
}

const std::vector<RankBelow>& RanksBelow::now() {
    std::vector<int> members = node_->members();
    const std::scoped_lock lock(mutex_);
    if (!below_.empty() && members == members_) return below_.back();
    members_ = std::move(members);
    std::map<int, Machine> machines;
    for (const int rank : members_)
        machines[rank] = Reader(machines_[static_cast<std::size_t>(rank)]).get<Machine>();
    // Of two ranks, the lower one is nearer to the root.
    for (std::size_t at = members_.size() - 1; at > 0; --at)
        machines[Neighbours::of(members_[at], members_, "").above].add(machines[members_[at]]);
    std::vector<RankBelow>& below = below_.emplace_back();
    for (const int rank : Neighbours::of(node_->rank(), members_, "").below) {
        const Machine& machine = machines[rank];
        const std::string& host = node_->hosts()[static_cast<std::size_t>(rank)];
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
        below.push_back({rank, machine.devices, std::move(info)});
    }
    return below;
}

} // namespace headrace::cluster
