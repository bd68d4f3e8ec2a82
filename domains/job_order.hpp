// domains/job_order.hpp - which of a runtime's unfinished jobs come after which. Private to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/job_execution.hpp>

#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace headrace {

/// Jobs in the order of submission, until they end.
///
/// Threads   one at a time
/// Lifetime  jobs tell when they end: until then their addresses are kept
class HEADRACE_EXPORT JobOrder {
public:
    /// One more. Returns the ends that it has to wait for beside those that its user named: of an in-order
    /// job all that it conflicts with, and of whoever uses sums those who add to them. Of conflicts that
    /// nobody ordered a warning tells.
    [[nodiscard]] std::vector<Event> add(std::shared_ptr<JobExecution> job);
    void ended(const JobExecution& job);

    [[nodiscard]] bool empty() const noexcept { return jobs_.empty(); }
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> unfinished() const {
        return {jobs_.begin(), jobs_.end()};
    }

private:
    class AllBefore;
    /// That the user did not name.
    struct Neighbours {
        std::vector<const JobExecution*> earlier, later;
    };

    std::list<std::shared_ptr<JobExecution>> jobs_; // a queue, as a rule: the first are the first to go
    std::unordered_map<const JobExecution*, Neighbours> neighbours_;
};

} // namespace headrace
