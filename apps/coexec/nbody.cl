// apps/coexec/nbody.cl - nbody.kernels.hpp in OpenCL C, with one sum for all bodies.
#include "nbody.h"

#define HEADRACE_PARAMETERS                                                                                  \
    __global const Float4* places, __global const Float4* velocities, __global Float4* new_places,          \
        __global Float4* new_velocities, ulong bodies, Motion motion
#define HEADRACE_ARGUMENTS places, velocities, new_places, new_velocities, bodies, motion

void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS)
{
    const Float4 body = places[i], velocity = velocities[i];
    Float4 acceleration = {0, 0, 0, 0};
    for (ulong j = 0; j < bodies; ++j)
        pull(body, places[j], motion.softening2, &acceleration.x, &acceleration.y, &acceleration.z);
    new_places[i] = moved(body, velocity, acceleration, motion.dt);
    new_velocities[i] = accelerated(velocity, acceleration, motion.dt);
}
