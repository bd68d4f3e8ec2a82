// domains/jobs/job_order.cpp - see job_order.hpp.
#include "jobs/job_order.hpp"

#include <algorithm>
#include <functional>
#include <mutex>

namespace headrace {

std::vector<Predecessor> enter(const Job& job, const JobNodePtr& node, bool is_shared) {
    std::vector<Predecessor> before;
    for (const JobNodePtr& named : job.predecessors()) {
        named->note_told(); // this job fails with the same error
        before.push_back({named, true});
    }

    std::vector<DomainData*> domains;
    for (const Job::Use& use : job.uses()) domains.push_back(use.slice.data.get());
    std::ranges::sort(domains, std::less<>{}); // always in the same order: no deadlock
    std::vector<std::unique_lock<std::mutex>> locks;
    for (DomainData* const domain : domains) locks.emplace_back(domain->users_mutex());

    std::vector<JobNodePtr> conflicts;
    for (const Job::Use& use : job.uses())
        use.slice.data->users().add(node, {use.access, use.joining, job.is_concurrent(), is_shared},
                                    conflicts);
    // A failure follows the data: a job fails if it reads what another job was to write.
    for (JobNodePtr& conflict : conflicts) before.push_back({std::move(conflict), job.is_in_order()});
    node->come_after(before);
    return before;
}

} // namespace headrace
