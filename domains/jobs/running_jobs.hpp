// domains/jobs/running_jobs.hpp - which of the jobs that are ready run. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace headrace {

/// A device looks at all running jobs for each task that it begins. So the number of running
/// jobs is limited: a job waits if every device that it can use has `most` running jobs of at
/// least its priority. Jobs of equal priority for the same devices start in the order of their
/// arrival.
///
/// Threads: one at a time.
class HEADRACE_EXPORT RunningJobs {
public:
    static constexpr std::size_t most = 64;

    /// True: the job runs from now on. False: `end` returns it later, unless it ends before.
    [[nodiscard]] bool begin(const std::shared_ptr<JobExecution>& job);
    /// Removes `job`. Returns the jobs that run from now on because of this; they are held for their start.
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> end(const JobExecution& job);

    [[nodiscard]] const std::vector<std::shared_ptr<JobExecution>>& all() const noexcept { return running_; }

private:
    /// Negated priority (so the highest is first), and numbers of the devices that the job can use.
    using Key = std::pair<int, std::vector<std::size_t>>;

    [[nodiscard]] bool has_room_for(const Key& key) const;

    std::vector<std::shared_ptr<JobExecution>> running_;
    std::map<Key, std::deque<std::shared_ptr<JobExecution>>> waiting_;
};

} // namespace headrace
