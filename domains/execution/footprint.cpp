// domains/execution/footprint.cpp - see footprint.hpp.
#include "execution/footprint.hpp"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

/// Bytes of one domain. A private replica is whole on every device.
Bytes bytes_of(const Job::Use& use, const DeviceInfo& device, IndexRange units, bool in_windows) {
    if (use.joining) return use.joining->replica_bytes(*use.slice.data, device);
    if (!in_windows) return use.slice.data->bytes();
    return elements_of(use, units).size() * use.slice.data->element_size();
}

/// The smallest task at the begin of the job. Elsewhere its parts may be larger; that is detected when the
/// job gets there.
IndexRange smallest_task(const Job& job) {
    const IndexRange all = job.units();
    return {all.begin, all.empty() ? all.end : all.begin + job.split(all, 1)};
}

bool fits(const Job& job, const DeviceInfo& device, IndexRange units, bool in_windows) {
    const auto is_too_large = [&](const Job::Use& use) {
        return device.largest_allocation != 0 &&
               bytes_of(use, device, units, in_windows) > device.largest_allocation;
    };
    return std::ranges::none_of(job.uses(), is_too_large) &&
           (device.memory == 0 || footprint(job, device, units, in_windows) <= device.memory);
}

} // namespace

IndexRange elements_of(const Job::Use& use, IndexRange units) {
    const DomainData& data = *use.slice.data;
    const std::uint64_t elements = data.extent().size();
    if (units.empty()) return {};
    const std::uint64_t needed = use.access == Access::write ? elements : data.filled();
    const IndexRange part = use.slice.part ? use.slice.part(units) : IndexRange{0, needed};
    if (part.end > elements || part.begin > part.end)
        throw Error{ErrorKind::invalid_argument,
                    "the partition callback of domain '" + data.name() + "' names elements beyond its end"};
    return part;
}

std::vector<Tile> data_of(const Job& job, IndexRange units, bool in_windows) {
    std::vector<Tile> parts;
    for (const Job::Use& use : job.uses()) {
        if (use.joining) continue;
        DomainData& data = *use.slice.data;
        const Bytes size = data.element_size();
        const IndexRange part = in_windows ? elements_of(use, units) : IndexRange{0, data.extent().size()};
        parts.emplace_back(data.storage(), part.begin * size, part.end * size);
    }
    return parts;
}

Bytes footprint(const Job& job, const DeviceInfo& device, IndexRange units, bool in_windows) {
    Bytes bytes = 0;
    for (const Job::Use& use : job.uses()) bytes += bytes_of(use, device, units, in_windows);
    return bytes;
}

bool fits_whole(const Job& job, const DeviceInfo& device) { return fits(job, device, {}, false); }

// Kernels that take handles expect the first element at the begin of a memory, so they have no windows.
bool can_use_windows(const Job& job, const DeviceInfo& device) {
    return device.has_addresses &&
           std::ranges::any_of(job.uses(), [](const Job::Use& use) { return use.slice.part != nullptr; });
}

std::string why_too_large(const Job& job, const DeviceInfo& device) {
    const bool in_windows = can_use_windows(job, device);
    const IndexRange units = smallest_task(job);
    if (fits_whole(job, device) || (in_windows && fits(job, device, units, true))) return {};
    for (const Job::Use& use : job.uses())
        if (const Bytes size = bytes_of(use, device, units, in_windows);
            device.largest_allocation != 0 && size > device.largest_allocation)
            return "domain '" + use.slice.data->name() + "' needs " + std::to_string(size) +
                   " bytes at once, the device allocates at most " +
                   std::to_string(device.largest_allocation);
    return std::string(in_windows ? "the smallest task's parts of the job's domains" : "the job's domains") +
           " need " + std::to_string(footprint(job, device, units, in_windows)) + " bytes, the device has " +
           std::to_string(device.memory);
}

} // namespace headrace
