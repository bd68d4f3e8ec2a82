// apps/coexec/nbody.cl - nbody.kernels.hpp in OpenCL C.
typedef struct {
    float softening2, dt;
} Motion;

#define HEADRACE_PARAMETERS                                                                                  \
    __global const float4* places, __global const float4* velocities, __global float4* new_places,          \
        __global float4* new_velocities, ulong bodies, Motion motion
#define HEADRACE_ARGUMENTS places, velocities, new_places, new_velocities, bodies, motion

void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS)
{
    const float4 body = places[i], velocity = velocities[i];
    float4 acceleration = (float4)(0);
    for (ulong j = 0; j < bodies; ++j) {
        const float4 other = places[j], apart = (float4)((other - body).xyz, 0);
        const float near = rsqrt(dot(apart, apart) + motion.softening2);
        acceleration += other.w * near * near * near * apart;
    }
    const float dt = motion.dt;
    new_places[i] = (float4)((body + dt * velocity + 0.5f * dt * dt * acceleration).xyz, body.w);
    new_velocities[i] = (float4)((velocity + dt * acceleration).xyz, velocity.w);
}
