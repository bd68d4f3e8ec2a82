// apps/path_tracer/path_tracer.cl - the kernels of path_tracer.kernels.hpp in OpenCL C, function by function: change
// both. Same random numbers, same order of operations: pictures differ by the order of sums alone. Why things are done as they are is said there.

#pragma OPENCL FP_CONTRACT OFF

#include "layout.h"
#include "random/philox.h"
#include "random/turns.h"

#define HEADRACE_PARAMETERS                                                                                            \
    __global const BvhNode *nodes, __global const Triangle *triangles, __global const TriangleDetail *details,         \
        __global const Material *materials, __global const Light *lights, __global float *film, Frame frame
#define HEADRACE_ARGUMENTS nodes, triangles, details, materials, lights, film, frame

typedef PathVertex HrUnit;

// ---- vector_math.hpp

HR_FUNCTION Float3 vec(float x, float y, float z) {
    Float3 v = {x, y, z};
    return v;
}
HR_FUNCTION Float3 add(Float3 a, Float3 b) { return vec(a.x + b.x, a.y + b.y, a.z + b.z); }
HR_FUNCTION Float3 sub(Float3 a, Float3 b) { return vec(a.x - b.x, a.y - b.y, a.z - b.z); }
HR_FUNCTION Float3 negated(Float3 a) { return vec(-a.x, -a.y, -a.z); }
HR_FUNCTION Float3 scaled(Float3 a, float s) { return vec(a.x * s, a.y * s, a.z * s); }
HR_FUNCTION float dot_of(Float3 a, Float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HR_FUNCTION Rgb rgb(float r, float g, float b) {
    Rgb c = {r, g, b};
    return c;
}
HR_FUNCTION Rgb rgb_add(Rgb a, Rgb b) { return rgb(a.r + b.r, a.g + b.g, a.b + b.b); }
HR_FUNCTION Rgb rgb_mul(Rgb a, Rgb b) { return rgb(a.r * b.r, a.g * b.g, a.b * b.b); }
HR_FUNCTION Rgb rgb_scaled(Rgb a, float s) { return rgb(a.r * s, a.g * s, a.b * s); }
HR_FUNCTION bool is_black(Rgb c) { return c.r == 0 && c.g == 0 && c.b == 0; }
HR_FUNCTION float largest(Rgb c) { return fmax(c.r, fmax(c.g, c.b)); }

HR_FUNCTION Float3 normalised(Float3 a) { return scaled(a, 1.0f / sqrt(dot_of(a, a))); }
HR_FUNCTION void make_frame(Float3 n, Float3* tangent, Float3* bitangent) {
    const float sign = n.z < 0.0f ? -1.0f : 1.0f;
    const float a = -1.0f / (sign + n.z);
    const float b = n.x * n.y * a;
    *tangent = vec(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *bitangent = vec(b, sign + n.y * n.y * a, -n.y);
}

// ---- philox.hpp

HR_FUNCTION float4 random_block(const Frame* frame, uint key, uint sample, uint hit, uint block) {
    const Words4 words = philox4x32(words4(key, sample, hit, block), frame->seed_low, frame->seed_high);
    return (float4)(uniform_of(words.a), uniform_of(words.b), uniform_of(words.c), uniform_of(words.d));
}

// ---- image_order.hpp

HR_FUNCTION uint tiled_pixel(uint i, uint width, uint height) {
    const uint columns = 8, rows = 4;
    const uint band = i / (rows * width);
    const uint band_rows = min(height - band * rows, rows);
    const uint in_band = i - band * rows * width;
    const uint tile = in_band / (columns * band_rows);
    const uint tile_columns = min(width - tile * columns, columns);
    const uint in_tile = in_band - tile * columns * band_rows;
    const uint row = in_tile / tile_columns;
    return (band * rows + row) * width + tile * columns + (in_tile - row * tile_columns);
}

HR_FUNCTION uint shuffled_pixel(uint i, uint count) {
    uint mask = count - 1;
    mask |= mask >> 1;
    mask |= mask >> 2;
    mask |= mask >> 4;
    mask |= mask >> 8;
    mask |= mask >> 16;
    const uint bits = 32 - clz(mask);
    const uint half_bits = bits / 2 + 1;
    do {
        for (int round = 0; round < 3; ++round) {
            i ^= i >> half_bits;
            i = (i * 0x9E3779B1u + 0x85EBCA6Bu) & mask;
        }
    } while (i >= count);
    return i;
}

HR_FUNCTION void place_path(const Frame* frame, ulong index, uint* pixel, uint* key, uint* sample) {
    const uint pixels = frame->width * frame->height;
    *sample = (uint)(index / pixels);
    const uint position = (uint)(index - (ulong)*sample * pixels);
    if (frame->coherent != 0) {
        *pixel = shuffled_pixel(position, pixels);
        *key = position / 32;
    } else {
        *pixel = tiled_pixel(position, frame->width, frame->height);
        *key = *pixel;
    }
}

// ---- triangle_test.hpp

typedef struct Ray {
    Float3 origin, direction;
    uint left;
    float u, v;
    uint left_id, goal_id;
} Ray;

typedef struct Hit {
    float distance, doubt;
    uint triangle;
    float u, v;
} Hit;

typedef struct Sight {
    Float3 across, up;
} Sight;

typedef struct SeenTriangle {
    Float3 a, b, c;
    float of_a, of_b, of_c, least, most, reach;
    float depth_a, depth_b, depth_c, nearest, farthest, error;
} SeenTriangle;

#define FASTEST 0
#define SAME 1

// In one rounding where that is fast. Not mad: its error has no bound.
#ifdef FP_FAST_FMAF
#define FUSED(a, b, c) fma(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

HR_FUNCTION float rounded_dot(uint how, Float3 a, Float3 b) {
    return how == FASTEST ? FUSED(a.x, b.x, FUSED(a.y, b.y, a.z * b.z)) : dot_of(a, b);
}
HR_FUNCTION float rounded_difference(uint how, float a, float b, float c, float d) {
    return how == FASTEST ? FUSED(a, b, -(c * d)) : a * b - c * d;
}

HR_FUNCTION SeenTriangle seen_triangle(uint how, const Triangle* triangle, const Ray* ray, const Sight* sight) {
    SeenTriangle seen;
    seen.a = sub(triangle->a, ray->origin);
    seen.b = sub(triangle->b, ray->origin);
    seen.c = sub(triangle->c, ray->origin);
    const float ax = rounded_dot(how, seen.a, sight->across), bx = rounded_dot(how, seen.b, sight->across),
                cx = rounded_dot(how, seen.c, sight->across);
    const float ay = rounded_dot(how, seen.a, sight->up), by = rounded_dot(how, seen.b, sight->up),
                cy = rounded_dot(how, seen.c, sight->up);
    seen.of_a = rounded_difference(how, bx, cy, cx, by);
    seen.of_b = rounded_difference(how, cx, ay, ax, cy);
    seen.of_c = rounded_difference(how, ax, by, bx, ay);
    seen.reach = fabs(ax) + fabs(ay) + fabs(bx) + fabs(by) + fabs(cx) + fabs(cy);
    seen.least = fmin(fmin(seen.of_a, seen.of_b), seen.of_c);
    seen.most = fmax(fmax(seen.of_a, seen.of_b), seen.of_c);
    return seen;
}
HR_FUNCTION float area_error_for(const SeenTriangle* seen, float error) {
    return error * (seen->reach + 2 * error);
}
HR_FUNCTION bool is_passed_by(const SeenTriangle* seen, float error) {
    const float area_error = area_error_for(seen, error);
    return seen->least < -area_error && seen->most > area_error;
}
HR_FUNCTION void look_along(uint how, SeenTriangle* seen, Float3 along) {
    seen->depth_a = rounded_dot(how, seen->a, along);
    seen->depth_b = rounded_dot(how, seen->b, along);
    seen->depth_c = rounded_dot(how, seen->c, along);
    seen->nearest = fmin(fmin(seen->depth_a, seen->depth_b), seen->depth_c);
    seen->farthest = fmax(fmax(seen->depth_a, seen->depth_b), seen->depth_c);
    const float far = fmax(fabs(seen->nearest), fabs(seen->farthest)) + seen->reach;
    seen->error = fmin(PATH_TRACER_SIGHT_ERROR, PATH_TRACER_SIGHT_ERROR_AT(far));
}
HR_FUNCTION bool is_missed(const SeenTriangle* seen, float farthest) {
    return is_passed_by(seen, seen->error) || seen->farthest <= -2 * seen->error ||
           seen->nearest - 2 * seen->error >= farthest;
}
HR_FUNCTION float sum_of_areas(const SeenTriangle* seen) { return seen->of_a + seen->of_b + seen->of_c; }
HR_FUNCTION bool is_met(const SeenTriangle* seen) {
    const float area_error = area_error_for(seen, seen->error);
    return (seen->least > area_error || seen->most < -area_error) && 12 * area_error < fabs(sum_of_areas(seen));
}
HR_FUNCTION bool has_place(const SeenTriangle* seen) {
    return is_met(seen) && seen->error * seen->reach * (seen->reach + (seen->farthest - seen->nearest)) <
                               0x1p-10f * fabs(sum_of_areas(seen));
}
HR_FUNCTION Hit met_at(uint how, const SeenTriangle* seen, uint index) {
    const float inverse = 1 / sum_of_areas(seen);
    Hit met;
    met.distance = rounded_dot(how, vec(seen->of_a, seen->of_b, seen->of_c),
                               vec(seen->depth_a, seen->depth_b, seen->depth_c)) *
                   inverse;
    met.doubt = 4 * seen->error * (1 + seen->reach * (seen->farthest - seen->nearest) * fabs(inverse));
    met.triangle = index;
    met.u = seen->of_b * inverse;
    met.v = seen->of_c * inverse;
    return met;
}

// ---- exact_test.hpp

#ifdef cl_khr_fp64
    #pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double Wide;
#else
typedef float Wide;
#endif

typedef struct Wide3 {
    Wide x, y, z;
} Wide3;

typedef struct WideTriangle {
    Wide3 a, b, c;
} WideTriangle;

typedef struct ExactHit {
    Wide distance;
    float u, v;
} ExactHit;

HR_FUNCTION Wide3 wide_vec(Wide x, Wide y, Wide z) {
    Wide3 v = {x, y, z};
    return v;
}
HR_FUNCTION Wide3 wide_add(Wide3 a, Wide3 b) { return wide_vec(a.x + b.x, a.y + b.y, a.z + b.z); }
HR_FUNCTION Wide3 wide_sub(Wide3 a, Wide3 b) { return wide_vec(a.x - b.x, a.y - b.y, a.z - b.z); }
HR_FUNCTION Wide3 wide_scaled(Wide3 a, Wide s) { return wide_vec(a.x * s, a.y * s, a.z * s); }
HR_FUNCTION Wide wide_dot(Wide3 a, Wide3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HR_FUNCTION Wide3 widened(Float3 a) { return wide_vec(a.x, a.y, a.z); }
HR_FUNCTION Wide wide_difference(Wide a, Wide b, Wide c, Wide d) {
    const Wide second = c * d;
    return fma(a, b, -second) + fma(-c, d, second);
}
HR_FUNCTION Wide3 wide_cross(Wide3 a, Wide3 b) {
    return wide_vec(wide_difference(a.y, b.z, a.z, b.y), wide_difference(a.z, b.x, a.x, b.z),
                    wide_difference(a.x, b.y, a.y, b.x));
}
HR_FUNCTION WideTriangle widened_triangle(__global const Triangle* triangles,
                                          __global const TriangleDetail* details, uint index) {
    WideTriangle wide = {wide_add(widened(triangles[index].a), widened(details[index].low_a)),
                         wide_add(widened(triangles[index].b), widened(details[index].low_b)),
                         wide_add(widened(triangles[index].c), widened(details[index].low_c))};
    return wide;
}

typedef struct WideSight {
    Wide3 from, across, up, along;
} WideSight;

HR_FUNCTION ExactHit exact_hit(const WideSight* sight, const WideTriangle* triangle) {
    const ExactHit none = {0, 0, 0};
    const Wide3 a = wide_sub(triangle->a, sight->from), b = wide_sub(triangle->b, sight->from),
                c = wide_sub(triangle->c, sight->from);
    const Wide ax = wide_dot(a, sight->across), bx = wide_dot(b, sight->across), cx = wide_dot(c, sight->across);
    const Wide ay = wide_dot(a, sight->up), by = wide_dot(b, sight->up), cy = wide_dot(c, sight->up);
    const Wide bc = bx * cy, ca = cx * ay, ab = ax * by;
    const Wide cb = cx * by, ac = ax * cy, ba = bx * ay;
    const bool left_turn = bc >= cb && ca >= ac && ab >= ba, right_turn = bc <= cb && ca <= ac && ab <= ba;
    const Wide of_a = bc - cb, of_b = ca - ac, of_c = ab - ba;
    const Wide sum = of_a + of_b + of_c;
    const Wide3 normal = wide_cross(wide_sub(triangle->b, triangle->a), wide_sub(triangle->c, triangle->a));
    const Wide distance_to = wide_dot(normal, a) / wide_dot(normal, sight->along);
    if (!(left_turn || right_turn) || sum == 0 || !(distance_to > 0)) return none;
    const ExactHit hit = {distance_to, (float)(of_b / sum), (float)(of_c / sum)};
    return hit;
}

__attribute__((noinline)) ExactHit exact_hit_before(__global const Triangle* triangles,
                                                    __global const TriangleDetail* details, uint left, float u,
                                                    float v, Float3 origin, Float3 direction, uint index,
                                                    uint other) {
    WideSight sight;
    sight.from = widened(origin);
    if (left != PATH_TRACER_NO_TRIANGLE) {
        const WideTriangle ground = widened_triangle(triangles, details, left);
        sight.from = wide_add(wide_add(ground.a, wide_scaled(wide_sub(ground.b, ground.a), u)),
                              wide_scaled(wide_sub(ground.c, ground.a), v));
    }
    Float3 float_across, float_up;
    make_frame(direction, &float_across, &float_up);
    sight.across = widened(float_across);
    sight.up = widened(float_up);
    sight.along = wide_cross(sight.across, sight.up);
    WideTriangle triangle = widened_triangle(triangles, details, index);
    ExactHit hit = exact_hit(&sight, &triangle);
    if (!(hit.distance > 0) || other == PATH_TRACER_NO_TRIANGLE) return hit;
    triangle = widened_triangle(triangles, details, other);
    const Wide before = exact_hit(&sight, &triangle).distance;
    if (before > 0 && (before < hit.distance || (before == hit.distance && other < index))) hit.distance = 0;
    return hit;
}

// ---- intersect.hpp

#define MET_NO 0
#define MET_YES 1
#define FLOATS_CANNOT_TELL 2

HR_FUNCTION bool is_same_point(Float3 a, Float3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
HR_FUNCTION bool is_again(__global const Triangle* triangles, const Triangle* triangle, const Hit* hit) {
    if (hit->triangle == PATH_TRACER_NO_TRIANGLE) return false;
    __global const Triangle* other = triangles + hit->triangle;
    return triangle->id == other->id && is_same_point(triangle->a, other->a) &&
           is_same_point(triangle->b, other->b);
}

HR_FUNCTION uint meet(uint how, __global const Triangle* triangles, const Triangle* triangle, uint index,
                      const Ray* ray, const Sight* sight, bool any_hit, Hit* hit) {
    SeenTriangle seen = seen_triangle(how, triangle, ray, sight);
    if (is_passed_by(&seen, PATH_TRACER_SIGHT_ERROR)) return MET_NO;
    if (triangle->id == ray->left_id || (any_hit && triangle->id == ray->goal_id)) return MET_NO;
    look_along(how, &seen, ray->direction);
    const float farthest = hit->distance + hit->doubt;
    if (is_missed(&seen, farthest)) return MET_NO;
    if (!(how == FASTEST ? is_met(&seen) : has_place(&seen))) return FLOATS_CANNOT_TELL;
    const Hit met = met_at(how, &seen, index);
    const float earliest = met.distance - met.doubt, latest = met.distance + met.doubt;
    if (latest <= 0 || earliest >= farthest) return MET_NO;
    if (earliest > 0 && latest < hit->distance - hit->doubt) {
        *hit = met;
        return MET_YES;
    }
    if (any_hit || met.distance != hit->distance || !is_again(triangles, triangle, hit))
        return FLOATS_CANNOT_TELL;
    hit->triangle = min(index, hit->triangle);
    return MET_NO;
}

HR_FUNCTION bool decide(__global const Triangle* triangles, __global const TriangleDetail* details, uint index,
                        const Ray* ray, const Sight* sight, bool any_hit, Hit* hit) {
    const Triangle triangle = triangles[index];
    const uint met = meet(SAME, triangles, &triangle, index, ray, sight, any_hit, hit);
    if (met != FLOATS_CANNOT_TELL) return met == MET_YES;
    const ExactHit exact =
        exact_hit_before(triangles, details, ray->left, ray->u, ray->v, ray->origin, ray->direction, index,
                         any_hit ? PATH_TRACER_NO_TRIANGLE : hit->triangle);
    if (!(exact.distance > 0) || (any_hit && !(exact.distance < (Wide)hit->distance))) return false;
    SeenTriangle seen = seen_triangle(SAME, &triangle, ray, sight);
    look_along(SAME, &seen, ray->direction);
    if (has_place(&seen)) {
        *hit = met_at(SAME, &seen, index);
    } else {
        const float distance = (float)exact.distance;
        const Hit exactly = {distance, distance * 0x1p-23f, index, exact.u, exact.v};
        *hit = exactly;
    }
    return true;
}

#define MOST_DOUBTS 8

typedef struct Waiting {
    uint triangles[MOST_DOUBTS];
    uint count;
} Waiting;

HR_FUNCTION float inverse_slope(float slope) {
    const float least = 1e-20f;
    return 1.0f / (fabs(slope) > least ? slope : slope < 0 ? -least : least);
}

// ---- box_test.hpp

HR_FUNCTION float enter(float x, float y, float z, float half_x, float half_y, float half_z, Float3 origin,
                        Float3 inverse, Float3 size, float limit) {
    x = (x - origin.x) * inverse.x;
    y = (y - origin.y) * inverse.y;
    z = (z - origin.z) * inverse.z;
    const float enters = fmax(fmax(mad(-half_x, size.x, x), mad(-half_y, size.y, y)),
                              fmax(mad(-half_z, size.z, z), 0.0f));
    const float leaves =
        fmin(fmin(mad(half_x, size.x, x), mad(half_y, size.y, y)), fmin(mad(half_z, size.z, z), limit));
    return enters <= leaves * 1.000002f ? enters : PATH_TRACER_MISSES;
}

HR_FUNCTION bool is_inner(uint child) { return (child & 15) == 0; }
HR_FUNCTION bool is_leaf(uint child) { return !is_inner(child) && child != PATH_TRACER_WALK_ENDS; }

/// `waiting` null: exact tests decide at once.
HR_FUNCTION Hit walk(__global const BvhNode* nodes, __global const Triangle* triangles,
                     __global const TriangleDetail* details, const Ray* ray, float limit, bool any_hit,
                     Waiting* waiting) {
    Hit hit = {limit, 0, PATH_TRACER_NO_TRIANGLE, 0, 0};
    const Float3 origin = ray->origin, direction = ray->direction;
    Sight sight;
    make_frame(direction, &sight.across, &sight.up);
    const Float3 inverse =
        vec(inverse_slope(direction.x), inverse_slope(direction.y), inverse_slope(direction.z));
    const Float3 size = vec(fabs(inverse.x), fabs(inverse.y), fabs(inverse.z));
    const uint none = 0;
    uint stack[PATH_TRACER_STACK + 1];
    stack[0] = PATH_TRACER_WALK_ENDS;
    uint on_stack = 1, child = 0, leaf = none;
    while (child != PATH_TRACER_WALK_ENDS) {
        while (is_inner(child)) {
            const BvhNode node = nodes[child >> 4];
            const float near0 = enter(node.x.centre0, node.y.centre0, node.z.centre0, node.x.half0, node.y.half0,
                                      node.z.half0, origin, inverse, size, hit.distance + hit.doubt);
            const float near1 = enter(node.x.centre1, node.y.centre1, node.z.centre1, node.x.half1, node.y.half1,
                                      node.z.half1, origin, inverse, size, hit.distance + hit.doubt);
            const bool zero_first = near0 <= near1;
            const float nearer = zero_first ? near0 : near1;
            const float farther = zero_first ? near1 : near0;
            if (nearer < PATH_TRACER_MISSES) {
                if (farther < PATH_TRACER_MISSES) stack[on_stack++] = zero_first ? node.child1 : node.child0;
                child = zero_first ? node.child0 : node.child1;
            } else {
                child = stack[--on_stack];
            }
            if (leaf == none && is_leaf(child)) { // others may still look for theirs
                leaf = child;
                child = stack[--on_stack];
            }
        }
        while (leaf != none) {
            const uint first = leaf >> 4, end = first + (leaf & 15);
            for (uint i = first; i < end; ++i) {
                if (!waiting) {
                    if (decide(triangles, details, i, ray, &sight, any_hit, &hit) && any_hit) return hit;
                    continue;
                }
                const Triangle triangle = triangles[i];
                const uint met = meet(FASTEST, triangles, &triangle, i, ray, &sight, any_hit, &hit);
                if (any_hit && met == MET_YES) return hit;
                if (met == FLOATS_CANNOT_TELL) {
                    if (waiting->count >= MOST_DOUBTS) {
                        waiting->count = MOST_DOUBTS + 1;
                        return hit;
                    }
                    waiting->triangles[waiting->count++] = i;
                }
            }
            leaf = none;
            if (is_leaf(child)) {
                leaf = child;
                child = stack[--on_stack];
            }
        }
    }
    return hit;
}

__attribute__((noinline)) Hit decided(__global const BvhNode* nodes, __global const Triangle* triangles,
                                      __global const TriangleDetail* details, const Ray* ray, float limit,
                                      bool any_hit, uint found, const Waiting* waiting) {
    if (waiting->count > MOST_DOUBTS) return walk(nodes, triangles, details, ray, limit, any_hit, 0);
    Sight sight;
    make_frame(ray->direction, &sight.across, &sight.up);
    Hit hit = {limit, 0, PATH_TRACER_NO_TRIANGLE, 0, 0};
    if (found != PATH_TRACER_NO_TRIANGLE) decide(triangles, details, found, ray, &sight, any_hit, &hit);
    for (uint i = 0; i < waiting->count; ++i)
        if (decide(triangles, details, waiting->triangles[i], ray, &sight, any_hit, &hit) && any_hit) break;
    return hit;
}

HR_FUNCTION Hit nearest_hit(__global const BvhNode* nodes, __global const Triangle* triangles,
                            __global const TriangleDetail* details, const Ray* ray) {
    const float limit = PATH_TRACER_FAR_AWAY;
    Waiting waiting;
    waiting.count = 0;
    const Hit hit = walk(nodes, triangles, details, ray, limit, false, &waiting);
    if (waiting.count == 0) {
        if (hit.triangle == PATH_TRACER_NO_TRIANGLE) return hit;
        Sight sight;
        make_frame(ray->direction, &sight.across, &sight.up);
        const Triangle triangle = triangles[hit.triangle];
        SeenTriangle seen = seen_triangle(SAME, &triangle, ray, &sight);
        look_along(SAME, &seen, ray->direction);
        if (has_place(&seen)) return met_at(SAME, &seen, hit.triangle);
    }
    return decided(nodes, triangles, details, ray, limit, false, hit.triangle, &waiting);
}

HR_FUNCTION bool is_blocked(__global const BvhNode* nodes, __global const Triangle* triangles,
                            __global const TriangleDetail* details, const Ray* ray, float limit) {
    Waiting waiting;
    waiting.count = 0;
    const Hit hit = walk(nodes, triangles, details, ray, limit, true, &waiting);
    if (hit.triangle != PATH_TRACER_NO_TRIANGLE) return true;
    return waiting.count != 0 && decided(nodes, triangles, details, ray, limit, true, PATH_TRACER_NO_TRIANGLE,
                                         &waiting).triangle != PATH_TRACER_NO_TRIANGLE;
}

// ---- path.hpp

HR_FUNCTION PathVertex begin_path(const Frame* frame, ulong index) {
    PathVertex vertex;
    place_path(frame, index, &vertex.pixel, &vertex.key, &vertex.sample);
    const float4 random = random_block(frame, vertex.key, vertex.sample, 0, 0);
    const uint row = vertex.pixel / frame->width;
    const float x = (float)(vertex.pixel - row * frame->width) + random.x;
    const float y = (float)row + random.y;
    const Camera camera = frame->camera;
    vertex.left = PATH_TRACER_NO_TRIANGLE;
    vertex.u = 0;
    vertex.v = 0;
    vertex.direction = normalised(add(add(camera.corner, scaled(camera.right, x)), scaled(camera.down, y)));
    vertex.throughput = rgb(1, 1, 1);
    vertex.density = 0;
    vertex.hits = 0;
    return vertex;
}

HR_FUNCTION Float3 point_of(const Triangle* triangle, float u, float v) {
    return add(add(scaled(triangle->a, 1 - u - v), scaled(triangle->b, u)), scaled(triangle->c, v));
}

HR_FUNCTION Ray ray_of(__global const Triangle* triangles, const Frame* frame, const PathVertex* vertex) {
    Ray ray = {frame->camera.eye, vertex->direction, vertex->left,           vertex->u,
               vertex->v,         PATH_TRACER_NO_TRIANGLE, PATH_TRACER_NO_TRIANGLE};
    if (vertex->left != PATH_TRACER_NO_TRIANGLE) {
        const Triangle triangle = triangles[vertex->left];
        ray.origin = point_of(&triangle, vertex->u, vertex->v);
        ray.left_id = triangle.id;
    } else {
        const float middle = -dot_of(ray.origin, ray.direction);
        if (middle > 3) ray.origin = add(ray.origin, scaled(ray.direction, middle - 2 - middle * 0x1p-20f));
    }
    return ray;
}

HR_FUNCTION float fresnel(float cosine, float ratio, float* cosine_in_far) {
    const float sine2 = (1 - cosine * cosine) / (ratio * ratio);
    if (sine2 >= 1) return 1;
    *cosine_in_far = sqrt(1 - sine2);
    const float across = (cosine - ratio * *cosine_in_far) / (cosine + ratio * *cosine_in_far);
    const float along = (ratio * cosine - *cosine_in_far) / (ratio * cosine + *cosine_in_far);
    return 0.5f * (across * across + along * along);
}

HR_FUNCTION float share(float own, float other) {
    const float ratio = other / own;
    return 1 / (1 + ratio * ratio);
}

HR_FUNCTION float shadow_ray_density(const Frame* frame, float inverse_density, float distance2,
                                     float light_cosine) {
    return (float)frame->shadow_rays * distance2 / (light_cosine * inverse_density);
}

HR_FUNCTION float diffuse_density(const Material* material, float cosine) {
    const float inverse_pi = 0.318309886f;
    return (1 - material->glass_chance - material->mirror_chance) * cosine * inverse_pi;
}

HR_FUNCTION Rgb direct_light(__global const BvhNode* nodes, __global const Triangle* triangles,
                             __global const TriangleDetail* details, __global const Material* materials,
                             __global const Light* lights, const Frame* frame, Ray ray, Float3 normal, const Material* material,
                             float4 random) {
    uint column = (uint)(random.x * (float)frame->lights);
    column = column < frame->lights ? column : frame->lights - 1;
    if (random.y >= lights[column].keep) column = lights[column].alias;
    const uint place = lights[column].triangle;
    const Triangle light = triangles[place];
    ray.goal_id = light.id;
    const bool folds = random.z + random.w > 1;
    const float u = folds ? 1 - random.z : random.z, v = folds ? 1 - random.w : random.w;
    const Float3 way = sub(point_of(&light, u, v), ray.origin);
    Float3 light_normal = details[place].normal;
    if (dot_of(light_normal, way) > 0) light_normal = negated(light_normal);

    const float distance2 = dot_of(way, way);
    const float distance_to = sqrt(distance2);
    ray.direction = scaled(way, 1.0f / distance_to);
    const float cosine = dot_of(normal, ray.direction);
    const float light_cosine = -dot_of(light_normal, ray.direction);
    if (!(cosine > 0 && light_cosine > 0) || ray.goal_id == ray.left_id) return rgb(0, 0, 0);
    if (is_blocked(nodes, triangles, details, &ray, distance_to * (1 - 0x1p-18f)))
        return rgb(0, 0, 0);
    const Rgb emission = materials[light.material].emission;
    const float inverse_density = materials[light.material].inverse_density;
    const float weight = share(shadow_ray_density(frame, inverse_density, distance2, light_cosine),
                               diffuse_density(material, cosine));
    const float inverse_pi = 0.318309886f;
    return rgb_scaled(rgb_mul(material->albedo, emission),
                      weight * inverse_pi * cosine * light_cosine * inverse_density / distance2);
}

// What the vertex gives to its pixel goes to *radiance; true if *next goes on.
HR_FUNCTION bool trace_vertex(__global const BvhNode* nodes, __global const Triangle* triangles,
                              __global const TriangleDetail* details, __global const Material* materials,
                              __global const Light* lights, const Frame* frame, const PathVertex* vertex,
                              Rgb* radiance, PathVertex* next) {
    *radiance = rgb(0, 0, 0);
    const Ray ray = ray_of(triangles, frame, vertex);
    const Hit hit = nearest_hit(nodes, triangles, details, &ray);
    if (hit.triangle == PATH_TRACER_NO_TRIANGLE) {
        *radiance = rgb_mul(vertex->throughput, frame->sky);
        return false;
    }
    const Triangle triangle = triangles[hit.triangle];
    const Material material = materials[triangle.material];
    Float3 normal = details[hit.triangle].normal;
    const bool from_outside = dot_of(normal, vertex->direction) < 0;
    if (!from_outside) normal = negated(normal);
    const float cosine = -dot_of(normal, vertex->direction);
    if (material.is_emitter != 0) {
        const float weight = vertex->density > 0
                                 ? share(vertex->density, shadow_ray_density(frame, material.inverse_density,
                                                                             hit.distance * hit.distance, cosine))
                                 : 1.0f;
        *radiance = rgb_scaled(rgb_mul(vertex->throughput, material.emission), weight);
    }
    const uint hits = vertex->hits + 1;
    if (hits >= frame->max_depth) return false;

    *next = *vertex;
    next->density = 0;
    next->hits = hits;
    next->left = hit.triangle;
    const float keep = 0.999999f, third = (1 - keep) / 3;
    next->u = hit.u * keep + third;
    next->v = hit.v * keep + third;
    const bool casts_shadow_rays = frame->shadow_rays != 0 && frame->lights != 0;
    if (casts_shadow_rays && !is_black(material.albedo)) {
        const Ray shadow = {point_of(&triangle, next->u, next->v), vertex->direction, next->left, next->u,
                            next->v, triangle.id, PATH_TRACER_NO_TRIANGLE};
        Rgb sum = rgb(0, 0, 0);
        for (uint ray = 0; ray < frame->shadow_rays; ++ray)
            sum = rgb_add(sum, direct_light(nodes, triangles, details, materials, lights, frame, shadow, normal,
                                            &material,
                                            random_block(frame, vertex->key, vertex->sample, hits, 1 + ray)));
        *radiance =
            rgb_add(*radiance, rgb_scaled(rgb_mul(vertex->throughput, sum), 1.0f / (float)frame->shadow_rays));
    }

    const float4 random = random_block(frame, vertex->key, vertex->sample, hits, 0);
    const Float3 mirrored = add(vertex->direction, scaled(normal, 2 * fmax(cosine, 0x1p-20f)));
    if (random.x < material.glass_chance) {
        const float ratio = from_outside ? material.ior : 1 / material.ior;
        float cosine_in_far = 0;
        next->throughput = rgb_mul(vertex->throughput, material.glass);
        if (random.y < fresnel(cosine, ratio, &cosine_in_far)) {
            next->direction = normalised(mirrored);
        } else {
            next->direction = normalised(
                add(scaled(vertex->direction, 1 / ratio), scaled(normal, cosine / ratio - cosine_in_far)));
        }
    } else if (random.x < material.glass_chance + material.mirror_chance) {
        next->throughput = rgb_mul(vertex->throughput, material.mirror);
        next->direction = normalised(mirrored);
    } else {
        next->throughput = rgb_mul(vertex->throughput, material.diffuse);
        float sine, cosine_around;
        sin_cos_of_turns(random.z, &sine, &cosine_around);
        const float radius = sqrt(random.y);
        Float3 tangent, bitangent;
        make_frame(normal, &tangent, &bitangent);
        next->direction = normalised(
            add(add(scaled(tangent, radius * cosine_around), scaled(bitangent, radius * sine)),
                scaled(normal, sqrt(1 - random.y))));
        if (casts_shadow_rays) next->density = diffuse_density(&material, dot_of(normal, next->direction));
    }

    if (frame->roulette_from != 0 && hits >= frame->roulette_from) {
        const float survival = fmin(largest(next->throughput), 0.95f);
        if (random.w >= survival) return false;
        next->throughput = rgb_scaled(next->throughput, 1 / survival);
    }
    return !is_black(next->throughput);
}

// ---- path_tracer.kernels.hpp

HR_FUNCTION void add_to_film(__global float* film, uint pixel, Rgb radiance) {
    if (is_black(radiance)) return;
    __global float* to = film + 3 * (ulong)pixel;
    hr_atomic_add_float(to, radiance.r);
    hr_atomic_add_float(to + 1, radiance.g);
    hr_atomic_add_float(to + 2, radiance.b);
}

#ifdef HEADRACE_CONSUMER
void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
    PathVertex vertex = begin_path(&frame, index);
    PathVertex next;
    Rgb sum = rgb(0, 0, 0), radiance;
    for (;;) {
        const bool goes_on =
            trace_vertex(nodes, triangles, details, materials, lights, &frame, &vertex, &radiance, &next);
        sum = rgb_add(sum, radiance);
        if (!goes_on) break;
        vertex = next;
    }
    add_to_film(film, vertex.pixel, sum);
}
#else
void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = 0;
    *unit = begin_path(&frame, index);
}

void hr_run(HrLane* lane, uint kind, HrUnit vertex, HEADRACE_PARAMETERS) {
    PathVertex next;
    Rgb radiance;
    const bool goes_on = trace_vertex(nodes, triangles, details, materials, lights, &frame, &vertex, &radiance, &next);
    add_to_film(film, vertex.pixel, radiance);
    if (goes_on) hr_spawn(lane, 0, &next);
}
#endif
