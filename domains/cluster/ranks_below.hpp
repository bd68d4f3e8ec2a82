// domains/cluster/ranks_below.hpp - the ranks below this one in the tree, as participants of jobs. Internal
// to domains/.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/internal/domains/cluster/node.hpp>

#include <vector>

namespace headrace::cluster {

/// A rank below with all ranks below it, described as one device.
struct RankBelow {
    int rank;
    DeviceInfo info;
};

/// All ranks call it at the same time, with their devices. Blocks.
[[nodiscard]] std::vector<RankBelow> meet_ranks_below(Node& node,
                                                      const std::vector<const DeviceInfo*>& devices);

} // namespace headrace::cluster
