// domains/jobs/job_order.hpp - jobs that conflict run in the order of submission. Private to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/job_node.hpp>
#include <headrace/domains/job.hpp>

#include <vector>

namespace headrace {

/// Enters `node`, a job that is being submitted, with all domains that the job uses. Returns what it has to
/// wait for: the jobs that its user named, and those that use its domains in ways that conflict.
///
/// Entering is one step for all of the job's domains, whichever runtimes their jobs run on: of two jobs that
/// are submitted at once, one comes after the other everywhere.
[[nodiscard]] HEADRACE_EXPORT std::vector<Predecessor> enter(const Job& job, const JobNodePtr& node);

} // namespace headrace
