// domains/cluster/session.hpp - several processes that work together: the ranks of a cluster, started by MPI.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/discovery.hpp>

#include <memory>
#include <string>

namespace headrace::cluster {

class Node;

/// True if MPI or Slurm has started this process as one of several ranks: the first of OMPI_COMM_WORLD_SIZE,
/// PMI_SIZE and SLURM_STEP_NUM_TASKS that is set is above 1. Does not start MPI.
///
/// Errors    invalid_argument if that variable is not a positive whole number
[[nodiscard]] HEADRACE_EXPORT bool was_started_by_mpi();
/// The rank that the launcher has given to this process: OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID. 0 if
/// the process was not started as one of several ranks. Does not start MPI.
///
/// Errors    invalid_argument if a variable that is needed is missing or not a whole number
[[nodiscard]] HEADRACE_EXPORT int rank_by_environment();

/// Lets the jobs of this process run on all ranks that `mpirun` or `srun` has started with it. Every rank
/// runs the same program, and each of its threads submits the same jobs in the same order. A second thread
/// that submits jobs says which one it is (thread_number.hpp). Make the session before the Runtime:
///
///     headrace::cluster::Session session; // does nothing if the program was started without MPI
///     headrace::Runtime runtime;
///
/// Ranks share a job that writes by accumulates, reduces, scatters or appends, or to the rows or parts of its
/// tasks: each rank does some of its work units, and all ranks get the results. Each rank does all of any
/// other job: one that writes to any element of a domain, or is `only_on` some devices, or `concurrent` and
/// writes to rows or parts. So
/// domains hold the same on all ranks.
/// Calls that wait for results (gather, count, records, fill) are made by all ranks, or by none.
///
/// Ranks of one host divide its cores and GPUs.
///
/// Threads   one makes and destroys it
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

    /// What rank 0 has passed, for example its standard input. All ranks call it, each thread in the same
    /// order.
    [[nodiscard]] std::string broadcast(std::string bytes_of_first) const;
    /// For programs that open devices without a Runtime: leaves in `selection` the devices of this rank.
    /// Ranks of one host divide its GPUs, unless `request`, that of select_devices, names them one by one.
    void keep_own_devices(const std::string& request, DeviceSelection& selection) const;
    /// Leaves the other ranks before the destructor does, because this one has failed. Ranks that wait for
    /// this one fail too, and their Error has the words of `why`. Waits until all ranks end. To be called
    /// when all runtimes of this process have ended.
    ///
    /// True if rank 0 has failed too: then it tells the user, and the other ranks can end silently.
    bool leave(const Error& why) noexcept;

private:
    std::shared_ptr<Node> node_; ///< null: there is one process
    bool has_left_ = false;
};

} // namespace headrace::cluster
