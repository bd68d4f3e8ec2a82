// apps/coexec/ray.kernels.hpp - a picture of spheres. A work unit is a pixel. ray.cl has it in OpenCL C.
#pragma once
#include "ray_layout.h"
#include <headrace/domains/view.hpp>

#define COEXEC_REAL float
#define COEXEC_TRACER coexec::in_floats
#include "tracer.h"
#undef COEXEC_REAL
#undef COEXEC_TRACER

namespace coexec {

struct SeeSpheres {
    headrace::View<const Sphere> spheres;
    headrace::View<std::uint32_t> picture; ///< [row, column], packed
    Scene scene;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t pixel) const {
        const auto number = static_cast<std::uint32_t>(pixel);
        picture[pixel] = in_floats::packed(
            in_floats::colour_at(spheres.origin, scene, static_cast<float>(number % scene.side) + 0.5f,
                                 static_cast<float>(number / scene.side) + 0.5f));
    }
};

} // namespace coexec
