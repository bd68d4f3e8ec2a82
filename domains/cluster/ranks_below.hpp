// domains/cluster/ranks_below.hpp - the ranks below this one in the tree, as participants of jobs. Internal
// to domains/.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/internal/domains/cluster/node.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::cluster {

/// A rank below with all ranks below it, described as one device.
struct RankBelow {
    int rank;
    unsigned devices; ///< of all these ranks
    DeviceInfo info;
};

/// The machines of all ranks.
///
/// Threads   any
class RanksBelow {
public:
    /// All ranks call it at the same time, with their devices. Blocks.
    RanksBelow(std::shared_ptr<Node> node, const std::vector<const DeviceInfo*>& devices);

    /// Those below this one now. Ranks are lost, so others take their place in the tree. What this returns
    /// stays valid as long as the object lives.
    [[nodiscard]] const std::vector<RankBelow>& now();

private:
    /// The devices of one rank, or of several.
    struct Machine;
    std::shared_ptr<Node> node_;
    std::vector<Message> machines_;            ///< by rank
    std::mutex mutex_;                         ///< for the rest
    std::deque<std::vector<RankBelow>> below_; ///< of each tree that there was
    std::vector<int> members_;                 ///< of the last one
};

} // namespace headrace::cluster
