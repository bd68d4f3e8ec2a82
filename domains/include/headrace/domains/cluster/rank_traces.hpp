// domains/cluster/rank_traces.hpp - one trace of all ranks of a cluster, with clocks that agree.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/trace.hpp>

namespace headrace::cluster {

/// The steady clocks of two hosts have nothing in common, and differ in speed. So each rank compares its
/// clock with that of rank 0, when its trace begins and when it ends. To be called by all ranks when their
/// trace begins. Does not wait. Does nothing without MPI.
HEADRACE_EXPORT void compare_clocks();

/// Adds the requests of all other ranks to the trace of rank 0, which then shows a process for each rank.
/// The others send theirs. A rank that is lost or has ended is missing. All ranks call it, in the same order
/// as `collect_traffic`. Rank 0 waits for the others. Does nothing without MPI.
///
/// Threads   the same one as for `collect_traffic`
HEADRACE_EXPORT void merge_traces(Trace& trace);

} // namespace headrace::cluster
