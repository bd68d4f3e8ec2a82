// domains/jobs/job_order.hpp - conflicting jobs run in the order of submission. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/job_node.hpp>
#include <headrace/domains/job.hpp>

#include <vector>

namespace headrace {

/// Enters `node`, a job that is being submitted, into all domains that the job uses. Returns its
/// predecessors: the jobs that the user named, and the jobs with conflicting uses of its domains.
///
/// `is_shared`: by the ranks of a cluster.
///
/// All domains of the job are entered in one atomic step, also for jobs of several runtimes: of two jobs that
/// are submitted at the same time, the same one is first in all domains.
[[nodiscard]] HEADRACE_EXPORT std::vector<Predecessor> enter(const Job& job, const JobNodePtr& node,
                                                             bool is_shared = false);

} // namespace headrace
