// apps/barnes_hut/motion.hpp - bodies that are moved where their forces are.
#pragma once
#include "cells.hpp"
#include <headrace/core/device.hpp>

namespace barnes_hut {

/// One kick, and one drift: velocities change by `kick` times the accelerations, then places by `drift` times
/// the velocities. All arrays are the device's, forces in the order of the tree, the others in that of the
/// input.
struct Motion {
    Vector* places;
    Vector* velocities;
    double* strengths;     ///< becomes: how large each body's acceleration is
    Extremes* extremes;    ///< becomes: the box around all places; one element
    const uint32_t* order; ///< sorted place -> body of the input
    const Force* forces;
    uint32_t count;
    double acceleration; ///< the kernels' unit of it: see Scale
    double kick, drift;

    HEADRACE_HOST_DEVICE void move(uint32_t i) const {
        const uint32_t body = order[i];
        const Vector force{forces[i].x, forces[i].y, forces[i].z};
        const Vector pull{acceleration * force.x, acceleration * force.y, acceleration * force.z};
        Vector &velocity = velocities[body], &place = places[body];
        velocity = {velocity.x + kick * pull.x, velocity.y + kick * pull.y, velocity.z + kick * pull.z};
        place = {place.x + drift * velocity.x, place.y + drift * velocity.y, place.z + drift * velocity.z};
        // Squares of floats are doubles; those of accelerations need not be.
        strengths[body] = acceleration * std::sqrt(force.x * force.x + force.y * force.y + force.z * force.z);
    }
};

/// On one thread of the host: for tests, and to be read.
void move_on_host(const Motion& motion);

#if defined(BARNES_HUT_HAS_CUDA)
/// Enqueues it.
void move_on_cuda(const Motion& motion, const headrace::NativeStream& stream);
#endif

} // namespace barnes_hut
