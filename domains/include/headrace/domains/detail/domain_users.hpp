// domains/detail/domain_users.hpp - the jobs that use a domain in the order of submission, and the jobs that
// a new one waits for. Internal to domains/.
//
// A domain goes through turns. A turn is one job that writes, or consecutive jobs that write private replicas
// with the same way of joining (they commute), or consecutive readers. A job waits only for the jobs of the
// turn before its own: those waited for the turns before theirs.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/job_node.hpp>

#include <cstddef>
#include <vector>

namespace headrace {

class Joining;

/// How a job uses a domain: what decides which jobs conflict.
struct DomainUse {
    Access access;
    const Joining* joining = nullptr; ///< of private replicas; null: it has none
    /// The user states that the job conflicts with no other (Job::concurrent). Private replicas that are
    /// joined later stay in order all the same.
    bool is_concurrent = false;
    /// The ranks of a cluster share the job: its private replicas are joined over all ranks, and those of
    /// other jobs on each rank, so the two do not commute.
    bool is_shared = false;
};

/// Threads: one at a time.
class HEADRACE_EXPORT DomainUsers {
public:
    /// Adds a job. Appends to `before` the nodes that it waits for: few, however many jobs there are.
    /// Amortised constant time.
    void add(const JobNodePtr& job, DomainUse use, std::vector<JobNodePtr>& before);
    /// The jobs that have not ended; with readers if `also_readers`.
    [[nodiscard]] std::vector<JobNodePtr> unfinished(bool also_readers);

private:
    /// Jobs, without most of those that have ended. To check each one costs time, so `sweep` runs only when
    /// their number has doubled.
    struct Jobs {
        std::vector<JobNodePtr> all;
        std::size_t many = 16;
        void add(const JobNodePtr& job);
        void sweep();
    };
    struct Turn {
        Access access = Access::read;
        const Joining* joining = nullptr;
        Jobs jobs;
        JobNodePtr before; ///< ends with the jobs of the turn before; null: there are none
        bool is_shared = false;
    };

    Turn now_;
    JobNodePtr replicas_;    ///< ends with the last earlier turn that wrote to private replicas
    Jobs readers_, writers_; // all jobs, in any turn or none
};

} // namespace headrace
