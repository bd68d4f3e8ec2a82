// internal/domains/cluster/shared_job.hpp - what a job knows of the ranks that share it. Internal to
// domains/.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/index_range.hpp>
#include <headrace/internal/domains/cluster/numbers.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace headrace {

class Job;
class JobExecution;

namespace cluster {

class Node;

/// A job that all ranks of a cluster have submitted: each does a part of its work units. Its private replicas
/// are joined over all ranks, and all ranks get the parts that each has written.
///
/// Threads   any
class HEADRACE_EXPORT SharedJob {
public:
    /// `number`: the same on all ranks.
    SharedJob(std::shared_ptr<Node> node, CallNumber number);

    /// Rank 0 has all work units from the start; other ranks get theirs later.
    [[nodiscard]] bool work_comes_later() const;
    /// From now on the ranks work together.
    void begin(const std::shared_ptr<JobExecution>& execution) const;
    /// The job has ended, and devices of this rank have done these work units, or `error` says why it failed.
    /// Before its domains are used, the ranks bring together what they have of them. Never blocks.
    void spread(const Job& job, std::span<const IndexRange> units, ErrorPtr error) const;

private:
    std::shared_ptr<Node> node_;
    CallNumber number_;
};

/// True if the ranks of a cluster share such a job: one that writes to private replicas, or to the rows or
/// parts of its tasks. Each rank does all of any other job by itself: one that writes any element of a domain
/// works on one memory, one for named devices is for those of this rank, and a concurrent one that
/// writes to parts has no order with others.
[[nodiscard]] HEADRACE_EXPORT bool is_shared_by_ranks(const Job& job);

/// The number under which job executions know a rank, among the devices of the runtime.
[[nodiscard]] constexpr std::size_t device_of_rank(int rank) {
    return (std::size_t{1} << 32) + static_cast<std::size_t>(rank);
}

} // namespace cluster
} // namespace headrace
