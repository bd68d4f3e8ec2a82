// devices/discovery.hpp - from a device list, as people write it, to opened devices.
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
    std::vector<ControllerOptions> controllers;   ///< of each: how it is to be controlled
    std::vector<LeftOut> left_out;
    std::vector<std::string> named; ///< ids of those whose names the list has: not starting is an error
    bool by_default = false;        ///< neither the request nor the environment said which
};

/// Opens the devices of a list, in its order.
///
/// Names     "cpu", "cuda:0", "opencl:1", "opencl:pocl": that device; "opencl:pocl.1", "opencl:0.1": of a
///           platform, by its short name or its number; "cuda", "opencl": all of a technology; "all":
///           everything there is; several, with commas between
/// Files     "@machines.toml", or a path that ends in .toml: see docs/devices.md
/// Empty     what the environment variable HEADRACE_DEVICES says, else "all"
/// Twice     one name never means the same processor or GPU twice: CUDA and HIP are preferred to OpenCL,
///           oneTBB to PoCL. Two names do ("cuda:0,opencl:0"). oneTBB and an OpenCL device on the processor
///           divide its cores
/// Left out  what "all" found and could not start, and technologies that are not there: in words
/// Errors    throws not_found for a name that nothing here has, and lists what is there; what its driver says
///           for a device that was named and does not start; invalid_argument for what a file says wrongly,
///           with the file, the line and the key
[[nodiscard]] HEADRACE_EXPORT DeviceSelection select_devices(std::string_view request = "");

} // namespace headrace
