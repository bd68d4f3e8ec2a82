// domains/cluster/session.hpp - several processes that work together: the ranks of a cluster, started by MPI.
#pragma once
#include <headrace/core/export.hpp>

#include <memory>
#include <string>

namespace headrace::cluster {

class Node;

/// Lets the jobs of this process run on all ranks that `mpirun` or `srun` has started with it. Every rank
/// runs the same program, and submits the same jobs in the same order, from one thread. Make it before the
/// Runtime:
///
///     headrace::cluster::Session session; // does nothing if the program was started without MPI
///     headrace::Runtime runtime;
///
/// Ranks share a job that writes by accumulates, reduces, scatters or appends, or to the rows or parts of its
/// tasks: each rank does some of its work units, and all ranks get the results. Each rank does all of any
/// other job: one that writes to any element of a domain, or is `only_on` some devices, or `concurrent`. So
/// domains hold the same on all ranks.
/// Calls that wait for results (gather, count, records, fill) are made by all ranks, or by none.
///
/// Ranks of one host divide its cores and GPUs.
///
/// Threads   one, which also makes the runtimes
/// Errors    invalid_argument if ranks run different programs; device if the ranks do not find each other
class HEADRACE_EXPORT Session {
public:
    Session();
    /// Waits until all ranks end.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// From 0 to ranks() - 1. Rank 0 reads standard input and writes results.
    [[nodiscard]] int rank() const noexcept;
    [[nodiscard]] int ranks() const noexcept; ///< their number; 1 without MPI
    [[nodiscard]] bool is_first() const noexcept { return rank() == 0; }

private:
    std::shared_ptr<Node> node_; ///< null: there is one process
};

} // namespace headrace::cluster
