// devices/cpu/topology.hpp - the cores that this process may use, and their performance.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace headrace {

/// One core: the processor numbers of its hardware threads.
using Core = std::vector<unsigned>;

/// The machine's processors, as far as this process may use them. The affinity mask and a container's quota
/// limit the use.
struct CpuTopology {
    std::string name;            ///< for people to read: "AMD EPYC" or "2 x Intel Xeon ..."
    std::vector<Core> cores;     ///< at least one, in the machine's order: neighbours share caches
    std::vector<unsigned> nodes; ///< one for each of `cores`: the system's number of its NUMA node
    std::vector<Core> quota;     ///< the first of `cores`, as many as a container's quota allows
    double clock_ghz = 0;        ///< the highest clock that the machine reports
    unsigned float_lanes = 1;    ///< single-precision numbers in one vector register
    unsigned float_pipes = 1;    ///< vector registers that a core multiplies and adds in one cycle
};

[[nodiscard]] HEADRACE_EXPORT CpuTopology read_topology();

/// The processor time that a container may use, in processors; infinity where there is no limit. The system
/// puts threads beyond that to sleep in turn. `control_groups`: where the system shows its control groups, of
/// version 1 or 2.
[[nodiscard]] HEADRACE_EXPORT double
processor_quota(const std::filesystem::path& control_groups = "/sys/fs/cgroup");

/// Bytes of memory that this process can have in total: the machine's memory or a container's limit.
[[nodiscard]] HEADRACE_EXPORT Bytes host_memory();
/// Bytes of `host_memory` that are free, or that the system can free at once (caches).
[[nodiscard]] HEADRACE_EXPORT Bytes host_memory_available();

} // namespace headrace
