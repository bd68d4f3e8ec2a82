// tests/persistent/bind_on_device.hpp - the kernels of trees.kernels.hpp on any device of the machine,
// through the units that headrace_add_kernels generated, or their twins in OpenCL C.
#pragma once
#include "opencl_trees.hpp"
#include "trees.kernels.hpp"

#include <headrace/persistent/launcher.hpp>

#include <memory>

namespace headrace::test {

/// Its arrivals are counted in memory of the device. Null: there is no such kernel for its technology.
template <class Kernel, class Seeds>
std::unique_ptr<BoundKernel> bind_on_device(const Device& device, Kernel kernel, const Seeds& seeds,
                                            const Memory& arrivals) {
    if (device.info().technology == "opencl") {
        if constexpr (requires { bind_twin(kernel, seeds, arrivals); })
            return bind_twin(kernel, seeds, arrivals);
        else
            return nullptr;
    }
    kernel.arrivals = {static_cast<std::uint64_t*>(arrivals.address())};
    const Launcher launcher = compiled_for<EngineKernel<Kernel, Seeds>>(device.info().technology);
    return launcher ? launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds) : nullptr;
}

} // namespace headrace::test
