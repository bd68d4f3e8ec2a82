// internal/core/teams.hpp - which of a job's devices had better do it, by how long such jobs took whom.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace headrace {

/// Devices that have a job to themselves, by their places among those that could run it, ascending.
using Team = std::vector<std::size_t>;

/// So many jobs of a team settle how long they take: the first ones may load kernels or touch new memory.
inline constexpr std::size_t jobs_that_tell = 3;

/// What is known of jobs that a team has done; nothing: there were none.
using KnownJobs = std::function<std::optional<WholeJobs>(const Team&)>;

/// All devices, unless fewer have proven to be as fast: what a device costs the others, in smaller tasks and
/// data that lies apart, no rate tells. Only a whole job does.
///
/// All of them do a problem several times before they are doubted; twice as often while their rates promise
/// much more, since the first jobs may all have been disturbed. Then the fastest one alone, the fastest
/// two and so on have one job each, if by their rates that ends not much later than with all, by a quarter or
/// a tenth of a second, and within twice their time: without the others they may be faster than their rates.
/// After the fastest the second fastest alone has one, too, where jobs take less than a quarter of a second,
/// if by its rate that takes eight times as long at most, or a hundredth of a second. Who came near the best
/// has as many as settle it, and so has who took a hundredth of a second at most. A rate may be wrong the
/// other way, too; then the reserve steps in, when the job has taken twice as long as with all. (Not before
/// the launch has ended, where a kernel cannot pause: a host function.) Whoever has taken least, by the
/// median, has the next job. What disturbed all of them in their first jobs may be gone: if by their rates
/// they do better by far, they have another job when a hundred times as long as it takes has passed, three
/// times at most, and more while these are shorter.
[[nodiscard]] HEADRACE_EXPORT Team choose_team(std::span<const Estimate> devices, std::uint64_t work_units,
                                               const KnownJobs& known);

} // namespace headrace
