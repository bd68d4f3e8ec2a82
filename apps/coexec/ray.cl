// apps/coexec/ray.cl - ray.kernels.hpp in OpenCL C.
#define COEXEC_REAL float
#include "tracer.h"

#define HEADRACE_PARAMETERS __global const Sphere* spheres, __global uint* picture, Scene scene
#define HEADRACE_ARGUMENTS spheres, picture, scene

void hr_consume(HrLane* lane, ulong pixel, HEADRACE_PARAMETERS)
{
    const uint number = (uint)pixel;
    picture[pixel] = packed(
        colour_at(spheres, scene, (float)(number % scene.side) + 0.5f, (float)(number / scene.side) + 0.5f));
}
