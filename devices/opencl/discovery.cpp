// devices/opencl/discovery.cpp - finds every platform and device that the ICD loader shows.
#include <headrace/internal/devices/opencl/opencl.hpp>

#include "opencl/device.hpp"

#include <CL/cl_ext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>

namespace headrace {
namespace {

using opencl::check;

constexpr cl_int no_platform = -1001; // CL_PLATFORM_NOT_FOUND_KHR: cl_icd.h defines it, but also much else

// The part of cl_nv_device_attribute_query that cl_ext.h omits.
constexpr cl_device_info nvidia_pci_bus = 0x4008, nvidia_pci_slot = 0x4009, nvidia_pci_domain = 0x400A;

template <class Object, class What>
std::string text_of(cl_int (*ask)(Object, What, std::size_t, void*, std::size_t*), Object object, What what) {
    std::size_t bytes = 0;
    check(ask(object, what, 0, nullptr, &bytes), "asking for the size of a text");
    std::string text(bytes, '\0');
    check(ask(object, what, bytes, text.data(), nullptr), "asking for a text");
    text.resize(text.find_last_not_of(std::string_view(" \0", 2)) + 1);
    return text;
}

/// Returns `otherwise` if the device does not know the value: most queries here are extensions.
template <class T>
T value_of(cl_device_id device, cl_device_info what, T otherwise = {}) {
    T value{};
    return clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : otherwise;
}

bool has_extension(cl_device_id device, std::string_view name) {
    std::istringstream all(text_of(clGetDeviceInfo, device, cl_device_info{CL_DEVICE_EXTENSIONS}));
    for (std::string extension; all >> extension;)
        if (extension == name) return true;
    return false;
}

std::string pci_address(unsigned domain, unsigned bus, unsigned device, unsigned function) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "pci:%04x:%02x:%02x.%x", domain, bus, device, function);
    return text.data();
}

std::string physical_id(cl_device_id device, DeviceKind kind, const std::string& id) {
    if (kind == DeviceKind::cpu) return "cpu";
    if (has_extension(device, "cl_khr_pci_bus_info")) {
        const auto pci = value_of<cl_device_pci_bus_info_khr>(device, CL_DEVICE_PCI_BUS_INFO_KHR);
        return pci_address(pci.pci_domain, pci.pci_bus, pci.pci_device, pci.pci_function);
    }
    if (has_extension(device, "cl_nv_device_attribute_query")) {
        const auto slot = value_of<cl_uint>(device, nvidia_pci_slot); // device and function in one byte
        return pci_address(value_of<cl_uint>(device, nvidia_pci_domain),
                           value_of<cl_uint>(device, nvidia_pci_bus), slot >> 3, slot & 7);
    }
    if (has_extension(device, "cl_amd_device_attribute_query")) {
        const auto pci = value_of<cl_device_topology_amd>(device, CL_DEVICE_TOPOLOGY_AMD).pcie;
        const auto byte = [](cl_char value) {
            return static_cast<unsigned>(static_cast<unsigned char>(value));
        };
        return pci_address(0, byte(pci.bus), byte(pci.device), byte(pci.function));
    }
    return id; // nothing to compare with: it counts as separate hardware
}

unsigned lane_group(cl_device_id device, DeviceKind kind) {
    if (kind == DeviceKind::cpu)
        return std::max(1u, value_of<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 1));
    if (const auto warp = value_of<cl_uint>(device, CL_DEVICE_WARP_SIZE_NV)) return warp;
    if (const auto wavefront = value_of<cl_uint>(device, CL_DEVICE_WAVEFRONT_WIDTH_AMD)) return wavefront;
    return 32;
}

/// Single-precision multiply-adds that one compute unit starts per cycle.
unsigned fused_per_cycle(cl_device_id device, DeviceKind kind, unsigned lanes) {
    if (kind == DeviceKind::cpu) return 2 * lanes; // two vector units per core
    // NVIDIA's multiprocessors: 64 lanes in 6.0, 7.x and 8.0, 128 in all others since 5.0.
    const auto major = value_of<cl_uint>(device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV);
    const auto minor = value_of<cl_uint>(device, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV);
    if (major >= 5) return major == 7 || (minor == 0 && (major == 6 || major == 8)) ? 64 : 128;
    return 64; // AMD's compute units; a plausible value for others
}

DeviceInfo describe(cl_device_id device, std::string id) {
    DeviceInfo info;
    info.name = text_of(clGetDeviceInfo, device, cl_device_info{CL_DEVICE_NAME});
    info.technology = "opencl";
    info.driver = text_of(clGetDeviceInfo, device, cl_device_info{CL_DRIVER_VERSION});
    const auto type = value_of<cl_device_type>(device, CL_DEVICE_TYPE);
    info.kind = type & CL_DEVICE_TYPE_CPU   ? DeviceKind::cpu
                : type & CL_DEVICE_TYPE_GPU ? DeviceKind::gpu
                                            : DeviceKind::accelerator;
    info.physical_id = physical_id(device, info.kind, id);
    info.id = std::move(id);
    info.has_addresses = false;
    info.memory = value_of<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    info.largest_allocation = value_of<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, info.memory);
    info.compute_units = std::max(1u, value_of<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS, 1));
    info.lane_group = lane_group(device, info.kind);
    const double gigahertz = value_of<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY) / 1000.0;
    info.peak_gflops = 2.0 * fused_per_cycle(device, info.kind, info.lane_group) * info.compute_units *
                       (gigahertz > 0 ? gigahertz : 1.0); // drivers in virtual machines may not know
    return info;
}

std::string alias_of(const std::string& platform) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> known{
        {{"Portable Computing Language", "opencl:pocl"},
         {"NVIDIA", "opencl:nvidia"},
         {"AMD", "opencl:amd"},
         {"Intel", "opencl:intel"},
         {"rusticl", "opencl:rusticl"}}};
    for (const auto& [part, alias] : known)
        if (platform.find(part) != std::string::npos) return std::string(alias);
    return {};
}

std::vector<cl_platform_id> platforms() {
    cl_uint count = 0;
    const cl_int status = clGetPlatformIDs(0, nullptr, &count);
    if (status == no_platform || (status == CL_SUCCESS && count == 0)) return {};
    check(status, "clGetPlatformIDs");
    std::vector<cl_platform_id> all(count);
    check(clGetPlatformIDs(count, all.data(), nullptr), "clGetPlatformIDs");
    return all;
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
    cl_uint count = 0;
    const cl_int status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    if (status == CL_DEVICE_NOT_FOUND || (status == CL_SUCCESS && count == 0)) return {};
    check(status, "clGetDeviceIDs");
    std::vector<cl_device_id> all(count);
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, all.data(), nullptr), "clGetDeviceIDs");
    return all;
}

/// Why the device cannot be used; empty if it can.
std::string obstacle(cl_device_id device) {
    if (!value_of<cl_bool>(device, CL_DEVICE_AVAILABLE)) return "its driver says that it is not available";
    if (!value_of<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE)) return "it has no compiler";
    const std::string version = text_of(clGetDeviceInfo, device, cl_device_info{CL_DEVICE_VERSION});
    if (version.starts_with("OpenCL 1.0") || version.starts_with("OpenCL 1.1"))
        return "it has " + version + ", and 1.2 is the least";
    return {};
}

bool can_be_divided(cl_device_id device, const DeviceInfo& info) {
    std::array<cl_device_partition_property, 8> ways{};
    if (info.kind != DeviceKind::cpu || value_of<cl_uint>(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES) < 2 ||
        clGetDeviceInfo(device, CL_DEVICE_PARTITION_PROPERTIES, sizeof ways, ways.data(), nullptr) !=
            CL_SUCCESS)
        return false;
    return std::ranges::find(ways, CL_DEVICE_PARTITION_BY_COUNTS) != ways.end();
}

/// The device's last `cores` compute units. Each part is made once and kept for ever. PoCL 3.1 frees a part
/// with its last reference, although PoCL's threads still end commands there and its contexts still exist.
cl_device_id part_of(cl_device_id whole, unsigned compute_units, unsigned cores) {
    struct Parts {
        std::mutex mutex;
        std::map<std::pair<cl_device_id, unsigned>, cl_device_id> all;
    };
    static auto* const parts = std::make_unique<Parts>().release();
    const std::scoped_lock lock(parts->mutex);
    const auto known = parts->all.find({whole, cores});
    if (known != parts->all.end()) return known->second;
    const std::array<cl_device_partition_property, 5> by_counts{CL_DEVICE_PARTITION_BY_COUNTS,
                                                                compute_units - cores, cores,
                                                                CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    std::array<cl_device_id, 2> both{};
    check(clCreateSubDevices(whole, by_counts.data(), 2, both.data(), nullptr), "clCreateSubDevices");
    clReleaseDevice(both.front()); // not used
    return parts->all.emplace(std::pair(whole, cores), both.back()).first->second;
}

std::unique_ptr<Device> open_part(cl_device_id whole, DeviceInfo info, unsigned cores) {
    if (cores == 0 || cores > info.compute_units)
        throw Error{ErrorKind::invalid_argument, std::to_string(cores) + " cores of " +
                                                     std::to_string(info.compute_units) + " are asked for"}
            .on_device(info.id);
    if (cores == info.compute_units) return std::make_unique<opencl::OpenClDevice>(whole, info);
    const cl_device_id part = part_of(whole, info.compute_units, cores);
    info.peak_gflops *= static_cast<double>(cores) / info.compute_units;
    info.compute_units = cores;
    return std::make_unique<opencl::OpenClDevice>(part, std::move(info));
}

} // namespace

DeviceCandidates find_opencl_devices() {
    DeviceCandidates found;
    const auto all = platforms();
    if (all.empty()) found.left_out.push_back({"opencl", "", "no OpenCL platform is installed"});
    unsigned index = 0; // unusable devices keep their numbers
    for (std::size_t number = 0; number < all.size(); ++number) {
        cl_platform_id platform = all[number];
        unsigned on_platform = 0;
        const std::string name = text_of(clGetPlatformInfo, platform, cl_platform_info{CL_PLATFORM_NAME});
        const auto devices = devices_of(platform);
        if (devices.empty()) found.left_out.push_back({"opencl", name, "the platform has no device"});
        for (cl_device_id device : devices) {
            DeviceInfo info = describe(device, "opencl:" + std::to_string(index++));
            const std::string among = "." + std::to_string(on_platform++);
            if (std::string why = obstacle(device); !why.empty()) {
                found.left_out.push_back({info.id, info.name, std::move(why)});
                continue;
            }
            DeviceCandidate candidate;
            candidate.aliases.push_back("opencl:" + std::to_string(number) + among);
            if (const std::string alias = alias_of(name); !alias.empty()) {
                candidate.aliases.push_back(alias);
                candidate.aliases.push_back(alias + among);
            }
            candidate.open = [device, info] { return std::make_unique<opencl::OpenClDevice>(device, info); };
            if (can_be_divided(device, info))
                candidate.open_part = [device, info](unsigned cores) {
                    return open_part(device, info, cores);
                };
            candidate.info = std::move(info);
            found.devices.push_back(std::move(candidate));
        }
    }
    return found;
}

} // namespace headrace
