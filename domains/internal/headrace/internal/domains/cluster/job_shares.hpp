// internal/domains/cluster/job_shares.hpp - what one rank has of all shared jobs. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/job_share.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace headrace::cluster {

/// The shares of one rank, by the number of the job. A share exists from the first message about its job, or
/// from its submission on this rank, until it is over.
///
/// Threads   one at a time
/// Errors    those of LocalWork
class HEADRACE_EXPORT JobShares {
public:
    using Clock = JobShare::Clock;

    /// `neighbours` outlives it.
    JobShares(const Neighbours& neighbours, JobShare::Send send);

    [[nodiscard]] bool empty() const noexcept { return shares_.empty(); }
    /// This rank has submitted the job.
    void begin(CallNumber job, std::shared_ptr<LocalWork> work, JobMark mark);
    /// A message about a job, after its topic.
    void receive(int from, Topic topic, Reader message, Clock::time_point now);
    /// JobShare::look for each. Returns the failures of those that are over now.
    [[nodiscard]] std::vector<ErrorPtr> look(Clock::time_point now);
    /// No work comes any more. Jobs that are closed still end.
    void end_open(const ErrorPtr& why);
    /// Ends all on this rank, since all ranks do the same. No more messages come about them.
    void abandon(const ErrorPtr& why);

private:
    [[nodiscard]] JobShare& of(CallNumber job);

    const Neighbours& neighbours_;
    const JobShare::Send send_;
    /// Ordinals of a submitter's jobs that are over.
    struct Over {
        std::uint32_t before = 0;          ///< all of these
        std::set<std::uint32_t> more = {}; ///< and these, not below `before`
    };

    std::map<CallNumber, JobShare> shares_;
    std::map<std::uint64_t, Over> over_; ///< by submitter
};

} // namespace headrace::cluster
