// apps/coexec/nbody.kernels.hpp - a step of bodies under each other's gravity, all pairs. A work unit is a
// body. nbody.cl has it in OpenCL C.
#pragma once
#include "nbody.h"
#include <headrace/domains/view.hpp>

namespace coexec {

struct MoveBodies {
    headrace::View<const Float4> places;     ///< w: mass
    headrace::View<const Float4> velocities; ///< w: nothing
    headrace::View<Float4> new_places, new_velocities;
    Motion motion;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        constexpr std::uint64_t strip = 8; // sums beside each other: a vector's worth on processors
        const Float4* const others = places.origin;
        const Float4 body = others[i];
        float x[strip] = {}, y[strip] = {}, z[strip] = {};
        const std::uint64_t bodies = places.size(), whole = bodies / strip * strip;
        for (std::uint64_t first = 0; first < whole; first += strip)
            for (std::uint64_t j = 0; j < strip; ++j)
                pull(body, others[first + j], motion.softening2, &x[j], &y[j], &z[j]);
        for (std::uint64_t j = whole; j < bodies; ++j)
            pull(body, others[j], motion.softening2, &x[j - whole], &y[j - whole], &z[j - whole]);

        Float4 acceleration{0, 0, 0, 0};
        for (std::uint64_t j = 0; j < strip; ++j) {
            acceleration.x += x[j];
            acceleration.y += y[j];
            acceleration.z += z[j];
        }
        const Float4 velocity = velocities[i];
        new_places[i] = moved(body, velocity, acceleration, motion.dt);
        new_velocities[i] = accelerated(velocity, acceleration, motion.dt);
    }
};

} // namespace coexec
