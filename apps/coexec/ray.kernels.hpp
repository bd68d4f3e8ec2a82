// apps/coexec/ray.kernels.hpp - a picture of spheres. A work unit is a pixel. ray.cl has it in OpenCL C.
#pragma once
#include "tracer.hpp"
#include <headrace/domains/view.hpp>

namespace coexec {

struct SeeSpheres {
    headrace::View<const Sphere> spheres;
    headrace::View<std::uint32_t> picture; ///< [row, column], packed
    Scene scene;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t pixel) const {
        const auto number = static_cast<std::uint32_t>(pixel);
        const Tracer<float> tracer{spheres.origin, scene};
        picture[pixel] = packed(tracer.colour(static_cast<float>(number % scene.side) + 0.5f,
                                              static_cast<float>(number / scene.side) + 0.5f));
    }
};

} // namespace coexec
