// apps/coexec/nbody.h - a step of bodies under each other's gravity. C++ and OpenCL C read this file.
#ifndef HEADRACE_COEXEC_NBODY_H
#define HEADRACE_COEXEC_NBODY_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(coexec)

typedef struct __attribute__((aligned(16))) Float4 {
    float x, y, z, w;
} Float4;

typedef struct Motion {
    float softening2; ///< squared; pulls by itself too, with no force
    float dt;
} Motion;

HEADRACE_FUNCTION float inverse_root(float x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return rsqrtf(x);
#elif defined(__OPENCL_C_VERSION__)
    return rsqrt(x);
#else
    return 1 / sqrt(x);
#endif
}

/// Adds to x, y and z how another body pulls.
HEADRACE_FUNCTION void pull(Float4 body, Float4 other, float softening2, float* x, float* y, float* z) {
    const float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
    const float near_by = inverse_root(dx * dx + dy * dy + dz * dz + softening2);
    const float strength = other.w * near_by * near_by * near_by;
    *x += strength * dx;
    *y += strength * dy;
    *z += strength * dz;
}

HEADRACE_FUNCTION Float4 moved(Float4 body, Float4 velocity, Float4 acceleration, float dt) {
    const float half_square = 0.5f * dt * dt;
    const Float4 place = {body.x + dt * velocity.x + half_square * acceleration.x,
                          body.y + dt * velocity.y + half_square * acceleration.y,
                          body.z + dt * velocity.z + half_square * acceleration.z, body.w};
    return place;
}
HEADRACE_FUNCTION Float4 accelerated(Float4 velocity, Float4 acceleration, float dt) {
    const Float4 faster = {velocity.x + dt * acceleration.x, velocity.y + dt * acceleration.y,
                           velocity.z + dt * acceleration.z, velocity.w};
    return faster;
}

HEADRACE_END_NAMESPACE

#endif
