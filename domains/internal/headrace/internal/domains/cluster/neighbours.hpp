// internal/domains/cluster/neighbours.hpp - the tree of ranks. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>

#include <span>
#include <string>
#include <vector>

namespace headrace::cluster {

/// For people: "rank 3 on node17". `hosts`: of all ranks; empty: not known yet.
[[nodiscard]] HEADRACE_EXPORT std::string name_of_rank(int rank, const std::vector<std::string>& hosts);

/// The neighbours of a rank in the tree over all members, in which rank 0 is the root.
struct HEADRACE_EXPORT Neighbours {
    static constexpr int fan_out = 32;
    std::string name;         ///< of the rank, for people: "rank 3 on node17"
    int rank = 0, above = -1; ///< -1: rank 0 has none above
    std::vector<int> below = {};

    /// `members`: ascending, with 0 and `rank`.
    [[nodiscard]] static Neighbours of(int rank, std::span<const int> members, std::string name);
    /// No rank is below this one.
    [[nodiscard]] static bool is_leaf(int rank, std::span<const int> members);
    /// Of ranks 0 to `ranks` - 1.
    [[nodiscard]] static Neighbours of(int rank, int ranks, std::string name);
};

} // namespace headrace::cluster
