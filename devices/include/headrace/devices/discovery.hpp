// devices/discovery.hpp - opens the devices that a device list names.
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/candidate.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace headrace {

struct DeviceSelection {
    std::vector<std::unique_ptr<Device>> devices; ///< at least one
    std::vector<ControllerOptions> controllers;   ///< one for each device: how to control it
    std::vector<LeftOut> left_out;
    std::vector<std::string> named; ///< ids that the list names: if one does not start, that is an error
    bool by_default = false;        ///< neither the request nor the environment named devices
};

/// Opens the devices of a list, in the order of the list.
///
/// Names     "cpu", "cuda:0", "opencl:1", "opencl:pocl": that device; "opencl:pocl.1", "opencl:0.1": a device
///           of a platform, by the platform's short name or number; "cuda", "opencl": all devices of a
///           technology; "all": all devices; several names are separated by commas
/// Files     "@machines.toml", or a path that ends in .toml: see docs/devices.md
/// Empty     uses the environment variable HEADRACE_DEVICES; without it, "all"
/// Twice     one name never selects the same processor or GPU twice: CUDA and HIP are preferred to OpenCL,
///           oneTBB to PoCL. Two names can ("cuda:0,opencl:0"). oneTBB and an OpenCL device on the same
///           processor divide its cores
/// Left out  found devices that are not used, and technologies that are not available; each with its reason
/// Errors    throws not_found, with the available devices, for a name that no device has; the driver's error
///           for a named device that does not start; invalid_argument, with the file, the line and the key,
///           for an error in a file
[[nodiscard]] HEADRACE_EXPORT DeviceSelection select_devices(std::string_view request = "");

/// So many streams of one device may have work at a time; for programs that make more than a Runtime does: it
/// has two for launches, three of its controller, two of the device, and some while results are collected.
/// Before the first device is opened, which then costs 29 ms for each of them (CUDA, H200). Streams beyond
/// share connections to the GPU, and may wait for each other. Has no effect if the user has set
/// CUDA_DEVICE_MAX_CONNECTIONS.
HEADRACE_EXPORT void expect_streams(unsigned streams) noexcept;

} // namespace headrace
