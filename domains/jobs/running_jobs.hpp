// domains/jobs/running_jobs.hpp - which of the jobs that nothing holds up do run. Private to domains/.
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

/// Devices look at all running jobs for each task that they begin. So of very many jobs that could run only
/// some do: a job waits for its turn where every device that it can use has `most` running jobs of at least
/// its priority. Jobs of one priority, and for the same devices, have their turn in the order in which they
/// came.
///
/// Threads: one at a time.
class HEADRACE_EXPORT RunningJobs {
public:
    static constexpr std::size_t most = 64;

    /// True: it runs from now on. False: `end` will return it, unless it has ended by then.
    [[nodiscard]] bool begin(const std::shared_ptr<JobExecution>& job);
    /// Returns the jobs whose turn has come: they run from now on, and are held for their start.
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> end(const JobExecution& job);

    [[nodiscard]] const std::vector<std::shared_ptr<JobExecution>>& all() const noexcept { return running_; }

private:
    /// Priority, negated, so that the most urgent are first; the numbers of the devices that the job can use.
    using Key = std::pair<int, std::vector<std::size_t>>;

    [[nodiscard]] bool has_room_for(const Key& key) const;

    std::vector<std::shared_ptr<JobExecution>> running_;
    std::map<Key, std::deque<std::shared_ptr<JobExecution>>> waiting_;
};

} // namespace headrace
