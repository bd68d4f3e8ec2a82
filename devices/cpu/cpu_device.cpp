// devices/cpu/cpu_device.cpp - see cpu_device.hpp and cpu.hpp.
#include "cpu/cpu_device.hpp"
#include "cpu/cpu_stream.hpp"
#include <headrace/devices/cpu/instructions.hpp>
#include <headrace/internal/devices/cpu/cpu.hpp>
#include <headrace/internal/devices/numa.hpp>

#include <oneapi/tbb/version.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <type_traits>

#include <unistd.h>

namespace headrace {
namespace {

constexpr Bytes alignment = 64; // bytes: a cache line, and the widest vector register

// The answer to a question serves for a while: the system needs 0.1 ms, longer than a small task takes.
constexpr auto answer_lasts = std::chrono::milliseconds(100);
constexpr Bytes answer_parts = 16; // and until this part of the available memory is taken

HostBudget& budget() {
    static_assert(std::is_trivially_destructible_v<HostBudget>); // memory may be freed while the process ends
    static HostBudget shared;
    return shared;
}

[[noreturn]] void refuse(Bytes size, Bytes available, std::string_view device) {
    throw Error{ErrorKind::out_of_memory, "host memory cannot hold " + std::to_string(size) +
                                              " bytes more: " + std::to_string(available) + " of " +
                                              std::to_string(host_memory()) + " bytes are available"}
        .on_device(device);
}

DeviceInfo describe(const CpuTopology& topology, std::size_t cores, std::string id = "cpu") {
    DeviceInfo info;
    info.id = std::move(id);
    info.name = topology.name;
    info.technology = "cpu";
    info.driver = std::string("oneTBB ") + TBB_runtime_version();
    info.physical_id = "cpu";
    info.kind = DeviceKind::cpu;
    info.memory = info.largest_allocation = host_memory();
    info.compute_units = static_cast<unsigned>(cores);
    info.lane_group = topology.float_lanes;
    info.peak_gflops = static_cast<double>(cores) * topology.clock_ghz * topology.float_lanes *
                       topology.float_pipes * 2; // a multiplication and an addition
    info.shares_host_memory = true;
    info.fine_grained_host_coherence = true;
    return info;
}

} // namespace

Bytes HostBudget::ask() {
    asked_ = std::chrono::steady_clock::now();
    total_ = host_memory();
    const Bytes available = host_memory_available();
    allowance_ = available / answer_parts;
    return available;
}

void HostBudget::take(Bytes size, std::string_view device) {
    const std::scoped_lock lock(mutex_);
    const bool is_old = std::chrono::steady_clock::now() - asked_ > answer_lasts;
    if (is_old || size > allowance_) {
        const Bytes available = ask();
        if (size > available) refuse(size, available, device);
    }
    const Bytes taken = taken_;
    if (taken > total_ || size > total_ - taken) refuse(size, total_ - std::min(total_, taken), device);
    taken_ += size;
    allowance_ -= std::min(size, allowance_);
}

std::shared_ptr<void> allocate_on_host(Bytes size, std::optional<NumaRange> numa, std::string_view device) {
    if (size == 0) throw Error{ErrorKind::invalid_argument, "an allocation of 0 bytes"}.on_device(device);
    budget().take(size, device);
    // Rounded up, because aligned_alloc needs a multiple. Cannot overflow, because the budget accepted the
    // size.
    const Bytes unit = numa ? static_cast<Bytes>(sysconf(_SC_PAGESIZE)) : alignment; // a page is on one node
    void* const bytes = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
    if (!bytes) {
        budget().give_back(size);
        refuse(size, host_memory_available(), device);
    }
    if (numa) bind_to_nodes(bytes, size, *numa);
    return {bytes, [size](void* memory) {
                std::free(memory);
                budget().give_back(size);
            }};
}

CpuDevice::CpuDevice(DeviceInfo info, std::span<const Core> cores, bool pin, std::optional<NumaRange> numa)
    : info_(std::move(info)), numa_(numa), arena_(cores, pin) {
    std::ignore = instructions_in_use(); // a wrong HEADRACE_INSTRUCTIONS fails here, and not in a kernel
}

std::unique_ptr<Memory> CpuDevice::allocate(Bytes size) {
    return std::make_unique<CpuMemory>(allocate_on_host(size, numa_, info_.id), size);
}

std::shared_ptr<void> CpuDevice::allocate_host(Bytes size) { return allocate_on_host(size, numa_, info_.id); }
std::unique_ptr<Stream> CpuDevice::make_stream(Timing) { // always measured: a clock read is cheap
    return std::make_unique<CpuStream>(arena_, info_.id);
}
bool CpuDevice::reaches(const Device& other) const {
    return dynamic_cast<const CpuDevice*>(&other) != nullptr;
}
Bytes CpuDevice::free_memory() const { return host_memory_available(); }

std::unique_ptr<Device> make_cpu_device(unsigned cores) {
    const CpuTopology topology = read_topology();
    if (cores > topology.cores.size())
        throw Error{ErrorKind::invalid_argument, std::to_string(cores) + " cores are asked for and " +
                                                     std::to_string(topology.cores.size()) + " are there"}
            .on_device("cpu");
    const auto chosen = cores == 0 ? std::span(topology.quota) : std::span(topology.cores).first(cores);
    return std::make_unique<CpuDevice>(describe(topology, chosen.size()), chosen,
                                       chosen.size() < topology.quota.size());
}

std::unique_ptr<Device> make_cpu_device(std::string id, std::span<const Core> cores,
                                        std::optional<NumaRange> numa) {
    return std::make_unique<CpuDevice>(describe(read_topology(), cores.size(), std::move(id)), cores, true,
                                       numa);
}

DeviceCandidates find_cpu_devices() {
    const CpuTopology topology = read_topology();
    DeviceCandidate cpu;
    cpu.info = describe(topology, topology.quota.size());
    cpu.open = [] { return make_cpu_device(); };
    cpu.open_part = [](unsigned cores) { return make_cpu_device(cores); };
    DeviceCandidates found;
    found.devices.push_back(std::move(cpu));
    return found;
}

} // namespace headrace
