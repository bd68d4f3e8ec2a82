// apps/coexec/ray_layout.h - what the host and kernels share of a picture of spheres. C++ and OpenCL C read
// this file.
#ifndef HEADRACE_COEXEC_RAY_LAYOUT_H
#define HEADRACE_COEXEC_RAY_LAYOUT_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(coexec)

typedef struct Sphere {
    float x, y, z, radius;
    float red, green, blue;
    float mirror; ///< the share of light that it reflects
} Sphere;

typedef struct Scene {
    uint32_t side;    ///< pixels
    uint32_t spheres; ///< how many there are
    uint32_t bounces; ///< of a ray, at most
} Scene;

HEADRACE_END_NAMESPACE

#endif
