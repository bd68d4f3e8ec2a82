// apps/coexec/ray.cl - ray.kernels.hpp and tracer.hpp in OpenCL C.
typedef struct {
    float x, y, z, radius;
    float red, green, blue, mirror;
} Sphere;

typedef struct {
    uint side, spheres, bounces;
} Scene;

#define HEADRACE_PARAMETERS __global const Sphere* spheres, __global uint* picture, Scene scene
#define HEADRACE_ARGUMENTS spheres, picture, scene

#define NOTHING -1.0f
#define NEAREST 1e-3f

float to_sphere(__global const Sphere* sphere, float3 origin, float3 direction)
{
    const float3 apart = (float3)(sphere->x, sphere->y, sphere->z) - origin;
    const float along = dot(apart, direction);
    const float3 beside = apart - along * direction;
    const float square = sphere->radius * sphere->radius - dot(beside, beside);
    if (square < 0) return NOTHING;
    const float half_chord = sqrt(square), first = along - half_chord, second = along + half_chord;
    return first > NEAREST ? first : second > NEAREST ? second : NOTHING;
}

float nearest_sphere(__global const Sphere* spheres, uint count, float3 origin, float3 direction, uint* which)
{
    float least = NOTHING;
    for (uint i = 0; i < count; ++i) {
        const float distance = to_sphere(spheres + i, origin, direction);
        if (distance > 0 && (least < 0 || distance < least)) {
            least = distance;
            *which = i;
        }
    }
    return least;
}

float3 sky(float3 direction)
{
    const float height = max(direction.y, 0.0f);
    return (float3)(0.8f - 0.5f * height, 0.85f - 0.35f * height, 0.95f);
}

float3 floor_colour(float3 place)
{
    return ((long)floor(place.x) + (long)floor(place.z)) % 2 == 0 ? (float3)(0.9f) : (float3)(0.2f, 0.2f, 0.25f);
}

float light_at(__global const Sphere* spheres, uint count, float3 place, float3 normal)
{
    const float ambient = 0.2f;
    const float3 sun = (float3)(0.48f, 0.8f, -0.36f);
    const float facing = dot(normal, sun);
    uint which = 0;
    if (facing <= 0 || nearest_sphere(spheres, count, place, sun, &which) > 0) return ambient;
    return ambient + 0.8f * facing;
}

void hr_consume(HrLane* lane, ulong pixel, HEADRACE_PARAMETERS)
{
    const float column = (float)((uint)pixel % scene.side) + 0.5f, row = (float)((uint)pixel / scene.side) + 0.5f;
    const float half_side = 0.5f * scene.side;
    float3 origin = (float3)(0, 1.5f, -6);
    const float3 through =
        (float3)((column - half_side) / half_side * 0.7f, (half_side - row) / half_side * 0.7f, 1.2f);
    float3 direction = 1 / sqrt(dot(through, through)) * through;
    float3 sum = (float3)(0);
    float share = 1;
    for (uint bounce = 0;; ++bounce) {
        uint which = 0;
        const float distance = nearest_sphere(spheres, scene.spheres, origin, direction, &which);
        const float to_floor = direction.y < 0 ? -origin.y / direction.y : NOTHING;
        const bool sees_floor = to_floor > NEAREST && (distance < 0 || to_floor < distance);
        if (!sees_floor && distance < 0) {
            sum += share * sky(direction);
            break;
        }
        const float3 place = origin + (sees_floor ? to_floor : distance) * direction;
        float3 normal = (float3)(0, 1, 0), own = floor_colour(place);
        float mirror = 0.2f;
        if (!sees_floor) {
            const Sphere sphere = spheres[which];
            normal = 1 / sphere.radius * (place - (float3)(sphere.x, sphere.y, sphere.z));
            own = (float3)(sphere.red, sphere.green, sphere.blue);
            mirror = sphere.mirror;
        }
        const bool is_last = bounce == scene.bounces || mirror == 0;
        sum += share * (is_last ? 1 : 1 - mirror) * light_at(spheres, scene.spheres, place, normal) * own;
        if (is_last) break;
        share *= mirror;
        const float3 reflected = direction - 2 * dot(direction, normal) * normal;
        origin = place;
        direction = 1 / sqrt(dot(reflected, reflected)) * reflected;
    }
    const float3 bytes = 255 * min(sum, (float3)(1)) + 0.5f;
    picture[pixel] = (uint)bytes.x | (uint)bytes.y << 8 | (uint)bytes.z << 16;
}
