// devices/cpu/topology.cpp - see topology.hpp. hwloc reports cores and packages; Linux reports clocks, quotas
// and memory.
#include <headrace/devices/cpu/topology.hpp>

#include <hwloc.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

namespace headrace {
namespace {

struct TopologyDeleter {
    void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

Bitmap make_bitmap() { return {hwloc_bitmap_alloc(), &hwloc_bitmap_free}; }

Topology load() {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0)
        throw Error{ErrorKind::device, "hwloc_topology_init failed"}.on_device("cpu");
    Topology topology(raw);
    if (hwloc_topology_load(raw) != 0)
        throw Error{ErrorKind::device, "hwloc_topology_load failed"}.on_device("cpu");
    return topology;
}

/// The value after "key : " in a file such as /proc/cpuinfo.
std::optional<std::string> value_of(const char* file, std::string_view key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(key)) continue;
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const auto first = line.find_first_not_of(" \t", colon + 1);
        if (first != std::string::npos) return line.substr(first);
    }
    return std::nullopt;
}

template <class T>
std::optional<T> number_in(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (T value{}; in >> value) return value;
    return std::nullopt;
}

std::string processor_name(hwloc_topology_t topology) {
    const int packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
    const hwloc_obj_t first = packages > 0 ? hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0) : nullptr;
    const char* model = first ? hwloc_obj_get_info_by_name(first, "CPUModel") : nullptr;
    std::string name = model ? model : value_of("/proc/cpuinfo", "model name").value_or("CPU");
    name.erase(name.find_last_not_of(' ') + 1);
    return packages > 1 ? std::to_string(packages) + " x " + name : name;
}

std::pair<std::vector<Core>, std::vector<unsigned>> allowed_cores(hwloc_topology_t topology) {
    // hwloc omits what a cpuset forbids. The affinity mask (taskset) needs an extra query.
    const Bitmap mask = make_bitmap();
    if (hwloc_get_cpubind(topology, mask.get(), HWLOC_CPUBIND_PROCESS) != 0) hwloc_bitmap_fill(mask.get());
    std::vector<Core> cores;
    std::vector<unsigned> nodes;
    const auto collect = [&](hwloc_obj_type_t type) {
        for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology, type, core));) {
            Core processors;
            unsigned processor = 0;
            hwloc_bitmap_foreach_begin(processor, core->cpuset) if (hwloc_bitmap_isset(mask.get(), processor))
                processors.push_back(processor);
            hwloc_bitmap_foreach_end();
            if (processors.empty()) continue;
            cores.push_back(std::move(processors));
            nodes.push_back(static_cast<unsigned>(std::max(hwloc_bitmap_first(core->nodeset), 0)));
        }
    };
    collect(HWLOC_OBJ_CORE);
    if (cores.empty()) collect(HWLOC_OBJ_PU); // some virtual machines show no cores
    if (cores.empty()) return {{{0}}, {0}};
    return {std::move(cores), std::move(nodes)};
}

std::vector<Core> within_quota(const std::vector<Core>& cores, double processors) {
    std::vector<Core> paid;
    for (const Core& core : cores) {
        if (!paid.empty() && processors < 1) break;
        paid.push_back(core);
        processors -= static_cast<double>(core.size());
    }
    return paid;
}

double highest_clock_ghz() {
    if (const auto khz = number_in<double>("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"))
        return *khz * 1e-6;
    if (const auto mhz = value_of("/proc/cpuinfo", "cpu MHz")) return std::stod(*mhz) * 1e-3;
    return 2.0; // no file reports it (some Arm machines): the right order of magnitude
}

struct VectorUnits {
    unsigned lanes, pipes;
};

/// Assumes two pipes that multiply and add, as in server cores of the last decade. Zen 4 splits 512 bits over
/// two cycles, so the result for it is twice the real value. There is no portable way to ask.
VectorUnits vector_units() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return {16, 2};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {8, 2};
    return {4, 1}; // a multiplication and an addition at once: two operations per cycle, as one FMA pipe
#else
    return {4, 2};
#endif
}

/// The number in the first file that holds one: a container's limit under version 1 or 2 of control groups.
std::optional<Bytes> group_memory(std::initializer_list<const char*> files) {
    for (const char* file : files)
        if (const auto bytes = number_in<Bytes>(file)) return bytes; // "max" is no number
    return std::nullopt;
}

Bytes meminfo(std::string_view key) {
    const auto value = value_of("/proc/meminfo", key);
    return value ? std::stoull(*value) * 1024 : 0;
}

} // namespace

CpuTopology read_topology() {
    const Topology topology = load();
    const VectorUnits units = vector_units();
    CpuTopology result;
    result.name = processor_name(topology.get());
    std::tie(result.cores, result.nodes) = allowed_cores(topology.get());
    result.quota = within_quota(result.cores, processor_quota());
    result.clock_ghz = highest_clock_ghz();
    result.float_lanes = units.lanes;
    result.float_pipes = units.pipes;
    return result;
}

double processor_quota(const std::filesystem::path& control_groups) {
    std::ifstream v2(control_groups / "cpu.max"); // "max 100000" or "400000 100000"
    double quota = 0, period = 0;
    if (v2 >> quota >> period && period > 0) return quota / period;
    const auto v1_quota = number_in<double>(control_groups / "cpu/cpu.cfs_quota_us");
    const auto v1_period = number_in<double>(control_groups / "cpu/cpu.cfs_period_us");
    if (v1_quota && v1_period && *v1_quota > 0 && *v1_period > 0) return *v1_quota / *v1_period;
    return std::numeric_limits<double>::infinity();
}

Bytes host_memory() {
    const Bytes machine = meminfo("MemTotal");
    const auto limit =
        group_memory({"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"});
    return limit ? std::min(machine, *limit) : machine;
}

Bytes host_memory_available() {
    const Bytes machine = meminfo("MemAvailable");
    const auto used =
        group_memory({"/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes"});
    const Bytes total = host_memory();
    return used ? std::min(machine, total - std::min(total, *used)) : machine;
}

} // namespace headrace
