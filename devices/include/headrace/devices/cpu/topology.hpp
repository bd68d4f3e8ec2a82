// devices/cpu/topology.hpp - the cores that this process may use, and what they can do.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>

#include <string>
#include <vector>

namespace headrace {

/// One core: the processor numbers of its hardware threads.
using Core = std::vector<unsigned>;

/// What the machine's processors are, as far as this process may use them: its affinity mask, a container's
/// quota.
struct CpuTopology {
    std::string name;            ///< for people: "AMD EPYC" or "2 x Intel Xeon ..."
    std::vector<Core> cores;     ///< at least one, in the machine's order: neighbours share caches
    std::vector<unsigned> nodes; ///< of each of `cores`: the system's number of its NUMA node
    std::vector<Core> quota;     ///< the first of `cores`, as many as a container's quota pays for
    double clock_ghz = 0;        ///< the highest that the machine admits
    unsigned float_lanes = 1;    ///< single-precision numbers in a vector register
    unsigned float_pipes = 1;    ///< vector registers that a core adds and multiplies in one cycle
};

[[nodiscard]] HEADRACE_EXPORT CpuTopology read_topology();

/// Bytes of memory that this process can have altogether: the machine's, or a container's limit.
[[nodiscard]] HEADRACE_EXPORT Bytes host_memory();
/// Bytes of it that are free, or that the system can free at once (caches).
[[nodiscard]] HEADRACE_EXPORT Bytes host_memory_available();

} // namespace headrace
