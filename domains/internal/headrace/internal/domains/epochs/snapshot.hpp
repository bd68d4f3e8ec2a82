// internal/domains/epochs/snapshot.hpp - what is committed of a job: how many units, and what they have made
// of its results. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headrace::epochs {

/// The domains that a job writes, in the order in which it declares them.
[[nodiscard]] HEADRACE_EXPORT std::vector<std::shared_ptr<DomainData>> results_of(const Job& job);

/// One state of the results, as bytes: the same in memory, between ranks and in a file.
struct HEADRACE_EXPORT Snapshot {
    std::uint64_t done = 0; ///< index of the first unit that is not done
    cluster::Message bytes; ///< of the results

    /// Waits for jobs and joins private replicas: on the ranks of a cluster all call it, or `join_only`.
    [[nodiscard]] static Snapshot take(const Job& job, std::uint64_t done);
    /// What `take` does to the domains, where the bytes are not wanted.
    static void join_only(const Job& job);
    /// The results of the job become those of the snapshot. Talks to no rank. Errors: invalid_argument if
    /// the bytes are of other domains, with the first difference.
    void restore(const Job& job) const;
};

} // namespace headrace::epochs
