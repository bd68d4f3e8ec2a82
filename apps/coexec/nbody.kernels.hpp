// apps/coexec/nbody.kernels.hpp - a step of bodies under each other's gravity, all pairs. A work unit is a
// body. nbody.cl has it in OpenCL C.
#pragma once
#include <headrace/domains/view.hpp>

#include <cmath>

namespace coexec {

struct alignas(16) Float4 {
    float x, y, z, w;
};

struct Motion {
    float softening2; ///< squared; pulls by itself too, with no force
    float dt;
};

HEADRACE_HOST_DEVICE inline float inverse_root(float x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return rsqrtf(x);
#else
    return 1 / std::sqrt(x);
#endif
}

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
            for (std::uint64_t j = 0; j < strip; ++j) pull(body, others[first + j], x[j], y[j], z[j]);
        for (std::uint64_t j = whole; j < bodies; ++j)
            pull(body, others[j], x[j - whole], y[j - whole], z[j - whole]);

        Float4 acceleration{0, 0, 0, 0};
        for (std::uint64_t j = 0; j < strip; ++j) {
            acceleration.x += x[j];
            acceleration.y += y[j];
            acceleration.z += z[j];
        }
        const Float4 velocity = velocities[i];
        const float dt = motion.dt, half = 0.5f * dt * dt;
        new_places[i] = {body.x + dt * velocity.x + half * acceleration.x,
                         body.y + dt * velocity.y + half * acceleration.y,
                         body.z + dt * velocity.z + half * acceleration.z, body.w};
        new_velocities[i] = {velocity.x + dt * acceleration.x, velocity.y + dt * acceleration.y,
                             velocity.z + dt * acceleration.z, velocity.w};
    }

    HEADRACE_HOST_DEVICE void pull(const Float4& body, const Float4& other, float& x, float& y,
                                   float& z) const {
        const float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
        const float near = inverse_root(dx * dx + dy * dy + dz * dz + motion.softening2);
        const float strength = other.w * near * near * near;
        x += strength * dx;
        y += strength * dy;
        z += strength * dz;
    }
};

} // namespace coexec
