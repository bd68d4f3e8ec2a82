// domains/detail/domain_users.hpp - which jobs use a domain, in the order of submission, and which of them a
// new one comes after. Private to domains/.
//
// A domain goes through turns. A turn belongs to a job that writes, or to all the jobs in a row that write
// to replicas which are joined in one way (they commute), or to readers in a row. A job waits for the jobs of
// the turn before its own. It need not look further back: those waited for the turns before theirs.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/job_node.hpp>

#include <cstddef>
#include <vector>

namespace headrace {

class Joining;

/// How a job uses a domain, as far as that decides which jobs conflict.
struct DomainUse {
    Access access;
    const Joining* joining = nullptr; ///< of replicas; null: it has none
    /// Its author says that it conflicts with no other job (Job::concurrent). Replicas that are joined
    /// afterwards are kept in order all the same.
    bool is_concurrent = false;
};

/// Threads: one at a time.
class HEADRACE_EXPORT DomainUsers {
public:
    /// One more. Adds to `before` what it comes after: few nodes, whose number does not depend on how many
    /// jobs there are. Amortised constant.
    void add(const JobNodePtr& job, DomainUse use, std::vector<JobNodePtr>& before);
    /// Those that have not ended; without readers on demand.
    [[nodiscard]] std::vector<JobNodePtr> unfinished(bool also_readers);

private:
    /// Jobs, without most of those that have ended. To ask each costs time, so that is done when their number
    /// has doubled.
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
    };

    Turn now_;
    JobNodePtr replicas_; ///< ends with the last turn of jobs that wrote to replicas, before the one of now
    Jobs readers_, writers_; // all of them, in any turn or none
};

} // namespace headrace
