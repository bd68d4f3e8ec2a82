// domains/cluster/host_share.hpp - what each of several ranks on one host has of it. Internal to domains/.
#pragma once
#include <headrace/devices/discovery.hpp>
#include <headrace/internal/domains/cluster/node.hpp>

#include <cstddef>
#include <string_view>

namespace headrace::cluster {

/// The place of a rank among those of its host.
struct PlaceOnHost {
    std::size_t index = 0, ranks = 1;

    [[nodiscard]] static PlaceOnHost of(const Node& node);
};

/// Binds this process to its part of the cores that all ranks of the host could use, at least one. If a
/// launcher has bound it already, only checks that it has as many as its part, and warns if not.
void take_share_of_host(const Node& node);

/// Keeps this rank's GPUs of a selection by `request` (see select_devices): GPU number i belongs to rank i
/// modulo the number of ranks on the host. Every rank keeps devices that are named one by one ("cuda:1"), or
/// by a file. Ranks that would have no device use one GPU together.
void keep_share_of_gpus(const PlaceOnHost& place, std::string_view request, DeviceSelection& selection);

} // namespace headrace::cluster
