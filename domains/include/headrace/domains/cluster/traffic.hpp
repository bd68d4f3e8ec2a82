// domains/cluster/traffic.hpp - what the ranks of a cluster have sent to each other.
#pragma once
#include <headrace/core/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::cluster {

/// Messages from one rank to another, and their bytes. What MPI adds is not counted.
struct MessageCount {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

/// What one rank has sent to other ranks since its start.
struct RankTraffic {
    int rank = 0;
    std::string host{};
    MessageCount work{};      ///< grants, requests for work, credit, ends and failures of jobs
    MessageCount results{};   ///< private replicas, parts that tasks have written, and results
    MessageCount exchanges{}; ///< what all ranks tell all others: hosts, devices, input
    MessageCount other{};     ///< signs of life, clocks, traces, and this
    /// The least that the results needed between this rank and rank 0: one private replica of each joined
    /// domain in its smallest form, or the written parts, to rank 0; and the results from rank 0. 0 on rank
    /// 0.
    std::uint64_t least_result_bytes = 0;
};

/// Rank 0 gets the traffic of all ranks that are not lost and have not ended, and the other ranks get
/// nothing. So does a process without MPI. All ranks call it, in the same order as `merge_traces`, after they
/// have fetched the same results. Rank 0 waits for the others.
///
/// Threads   the same one as for `merge_traces`
[[nodiscard]] HEADRACE_EXPORT std::vector<RankTraffic> collect_traffic();

} // namespace headrace::cluster
