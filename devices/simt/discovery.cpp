// devices/simt/discovery.cpp - finds the GPUs that the driver shows.
#include "simt/device.hpp"
#include "simt/simt.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace headrace {
namespace HEADRACE_ON_SIMT {
namespace {

/// The same format as in the OpenCL backend, so that two views of one GPU have equal ids.
std::string pci_address(int ordinal) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "pci:%04x:%02x:%02x.0",
                  static_cast<unsigned>(device_attribute(attribute_pci_domain, ordinal)),
                  static_cast<unsigned>(device_attribute(attribute_pci_bus, ordinal)),
                  static_cast<unsigned>(device_attribute(attribute_pci_device, ordinal)));
    return text.data();
}

DeviceInfo describe(int ordinal) {
    DeviceProperties properties{};
    HEADRACE_CALL(GetDeviceProperties, &properties, ordinal);
    DeviceInfo info;
    info.id = std::string(Technology::name) + ":" + std::to_string(ordinal);
    info.name = properties.name;
    info.technology = Technology::name;
    info.fine_grained_host_coherence = true; // pinned memory has one address for both
    info.architecture = architecture(properties);
    info.driver = driver_version();
    info.physical_id = pci_address(ordinal);
    info.kind = DeviceKind::gpu;
    info.memory = info.largest_allocation = properties.totalGlobalMem;
    info.compute_units = static_cast<unsigned>(device_attribute(attribute_multiprocessors, ordinal));
    info.lane_group = static_cast<unsigned>(device_attribute(attribute_lane_group, ordinal));
    const double gigahertz = device_attribute(attribute_clock_khz, ordinal) * 1e-6;
    info.peak_gflops = 2.0 * info.compute_units * fused_per_cycle(properties) * gigahertz;
    return info;
}

DeviceCandidates find_devices() {
    DeviceCandidates found;
    int count = 0;
    if (driver_is_installed()) {
        const Status status = HEADRACE_RUNTIME(GetDeviceCount)(&count);
        if (status == HEADRACE_RUNTIME(ErrorNoDevice)) {
            static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
            count = 0;
        } else {
            expect_success(status, HEADRACE_RUNTIME_NAME(GetDeviceCount));
        }
    }
    if (count == 0) found.left_out.push_back({Technology::name, "", why_no_device()});
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        DeviceCandidate candidate;
        candidate.info = describe(ordinal);
        candidate.open = [ordinal, info = candidate.info] {
            return std::make_unique<SimtDevice>(ordinal, info);
        };
        found.devices.push_back(std::move(candidate));
    }
    return found;
}

} // namespace
} // namespace HEADRACE_ON_SIMT

#if defined(HEADRACE_SIMT_HIP)

DeviceCandidates find_hip_devices() { return on_hip::find_devices(); }

#else

DeviceCandidates find_cuda_devices(unsigned streams) {
    constexpr int keep = 0;                            // setenv keeps what the user has set
    constexpr unsigned most_connections = 32, few = 8; // CUDA's own limit, and default
    setenv("CUDA_MODULE_LOADING", "EAGER", keep);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(std::clamp(streams, few, most_connections)).c_str(),
           keep);
    return on_cuda::find_devices();
}

#endif

} // namespace headrace
