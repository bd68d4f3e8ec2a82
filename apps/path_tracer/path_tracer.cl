// apps/path_tracer/path_tracer.cl - the kernels of path_tracer.kernels.hpp in OpenCL C, function by function: change
// both. layout.h, philox.cl and turns.cl come before this text, so host and device agree on every struct. Same random
// numbers, same order of operations: pictures differ by the order of sums alone. Why things are done as they are is said there.

#pragma OPENCL FP_CONTRACT OFF

#define HEADRACE_PARAMETERS                                                                                            \
    __global const BvhNode *nodes, __global const Triangle *triangles, __global const Material *materials,             \
        __global const Light *lights, __global float *film, Frame frame
#define HEADRACE_ARGUMENTS nodes, triangles, materials, lights, film, frame

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
HR_FUNCTION Float3 cross_of(Float3 a, Float3 b) {
    return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

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
HR_FUNCTION Float3 unit_normal(Float3 a, Float3 b, Float3 c) {
    const Float3 normal = cross_of(sub(b, a), sub(c, a));
    return normalised(scaled(normal, 1.0f / fmax(fmax(fabs(normal.x), fabs(normal.y)), fabs(normal.z))));
}

HR_FUNCTION void make_frame(Float3 n, Float3* tangent, Float3* bitangent) {
    const float sign = n.z < 0.0f ? -1.0f : 1.0f;
    const float a = -1.0f / (sign + n.z);
    const float b = n.x * n.y * a;
    *tangent = vec(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *bitangent = vec(b, sign + n.y * n.y * a, -n.y);
}

// ---- philox.hpp

HR_FUNCTION float4 random_block(const Frame* frame, uint key, uint sample, uint hit, uint block) {
    const uint4 words = philox4x32((uint4)(key, sample, hit, block), frame->seed_low, frame->seed_high);
    return (float4)(uniform_of(words.x), uniform_of(words.y), uniform_of(words.z), uniform_of(words.w));
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

// ---- intersect.hpp

typedef struct Hit {
    float distance;
    uint triangle;
    float u, v;
} Hit;

typedef struct SeenCorner {
    float x, y, depth;
} SeenCorner;

typedef struct Sight {
    Float3 origin, direction, across, up;
} Sight;

HR_FUNCTION SeenCorner seen(const Sight* sight, Float3 corner) {
    const Float3 way = sub(corner, sight->origin);
    SeenCorner point = {dot_of(way, sight->across), dot_of(way, sight->up), dot_of(way, sight->direction)};
    return point;
}

HR_FUNCTION bool meet(const Triangle* triangle, uint index, const Sight* sight, Hit* hit) {
    const SeenCorner a = seen(sight, triangle->a), b = seen(sight, triangle->b), c = seen(sight, triangle->c);
    const float bc = b.x * c.y, cb = c.x * b.y;
    const float ca = c.x * a.y, ac = a.x * c.y;
    const float ab = a.x * b.y, ba = b.x * a.y;
    const bool left = bc >= cb && ca >= ac && ab >= ba;
    const bool right = bc <= cb && ca <= ac && ab <= ba;
    if (!left && !right) return false;
    const float turn = left ? 1.0f : -1.0f;
    const float of_a = fmax((bc - cb) * turn, 0.0f);
    const float of_b = fmax((ca - ac) * turn, 0.0f);
    const float of_c = fmax((ab - ba) * turn, 0.0f);
    const float sum = of_a + of_b + of_c;
    if (!(sum > 0)) return false;
    const float distance_to = (of_a * a.depth + of_b * b.depth + of_c * c.depth) / sum;
    if (!(distance_to > 0 &&
          (distance_to < hit->distance || (distance_to == hit->distance && index < hit->triangle))))
        return false;
    hit->distance = distance_to;
    hit->triangle = index;
    hit->u = of_b / sum;
    hit->v = of_c / sum;
    return true;
}

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

HR_FUNCTION Hit walk(__global const BvhNode* nodes, __global const Triangle* triangles, Float3 origin,
                     Float3 direction, float limit, bool any_hit) {
    Hit hit = {limit, PATH_TRACER_NO_TRIANGLE, 0, 0};
    Sight sight = {origin, direction};
    make_frame(direction, &sight.across, &sight.up);
    const Float3 inverse =
        vec(inverse_slope(direction.x), inverse_slope(direction.y), inverse_slope(direction.z));
    const Float3 size = vec(fabs(inverse.x), fabs(inverse.y), fabs(inverse.z));
    const uint none = 0;
    uint stack[PATH_TRACER_STACK + 1];
    stack[0] = PATH_TRACER_WALK_ENDS;
    uint waiting = 1, child = 0, leaf = none;
    while (child != PATH_TRACER_WALK_ENDS) {
        while (is_inner(child)) {
            const BvhNode node = nodes[child >> 4];
            const float near0 = enter(node.x.centre0, node.y.centre0, node.z.centre0, node.x.half0, node.y.half0,
                                      node.z.half0, origin, inverse, size, hit.distance);
            const float near1 = enter(node.x.centre1, node.y.centre1, node.z.centre1, node.x.half1, node.y.half1,
                                      node.z.half1, origin, inverse, size, hit.distance);
            const bool zero_first = near0 <= near1;
            const float nearer = zero_first ? near0 : near1;
            const float farther = zero_first ? near1 : near0;
            if (nearer < PATH_TRACER_MISSES) {
                if (farther < PATH_TRACER_MISSES) stack[waiting++] = zero_first ? node.child1 : node.child0;
                child = zero_first ? node.child0 : node.child1;
            } else {
                child = stack[--waiting];
            }
            if (leaf == none && is_leaf(child)) { // others may still look for theirs
                leaf = child;
                child = stack[--waiting];
            }
        }
        while (leaf != none) {
            const uint first = leaf >> 4, end = first + (leaf & 15);
            for (uint i = first; i < end; ++i) {
                const Triangle triangle = triangles[i];
                if (meet(&triangle, i, &sight, &hit) && any_hit) return hit;
            }
            leaf = none;
            if (is_leaf(child)) {
                leaf = child;
                child = stack[--waiting];
            }
        }
    }
    return hit;
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
    vertex.origin = camera.eye;
    vertex.direction = normalised(add(add(camera.corner, scaled(camera.right, x)), scaled(camera.down, y)));
    vertex.throughput = rgb(1, 1, 1);
    vertex.density = 0;
    vertex.hits = 0;
    return vertex;
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
                             __global const Material* materials, __global const Light* lights,
                             const Frame* frame, Float3 origin, Float3 normal, const Material* material,
                             float4 random) {
    uint column = (uint)(random.x * (float)frame->lights);
    column = column < frame->lights ? column : frame->lights - 1;
    if (random.y >= lights[column].keep) column = lights[column].alias;
    const Triangle light = triangles[lights[column].triangle];
    const bool folds = random.z + random.w > 1;
    const float u = folds ? 1 - random.z : random.z, v = folds ? 1 - random.w : random.w;
    const Float3 on_light = add(add(scaled(light.a, 1 - u - v), scaled(light.b, u)), scaled(light.c, v));
    Float3 light_normal = unit_normal(light.a, light.b, light.c);
    if (dot_of(light_normal, sub(on_light, origin)) > 0) light_normal = negated(light_normal);

    const Float3 way = sub(add(on_light, scaled(light_normal, frame->ray_offset)), origin);
    const float distance2 = dot_of(way, way);
    const float distance_to = sqrt(distance2);
    const Float3 direction = scaled(way, 1.0f / distance_to);
    const float cosine = dot_of(normal, direction);
    const float light_cosine = -dot_of(light_normal, direction);
    if (!(cosine > 0 && light_cosine > 0)) return rgb(0, 0, 0);
    if (walk(nodes, triangles, origin, direction, distance_to, true).triangle != PATH_TRACER_NO_TRIANGLE)
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
                              __global const Material* materials, __global const Light* lights,
                              const Frame* frame, const PathVertex* vertex, Rgb* radiance, PathVertex* next) {
    *radiance = rgb(0, 0, 0);
    const Hit hit = walk(nodes, triangles, vertex->origin, vertex->direction, PATH_TRACER_FAR_AWAY, false);
    if (hit.triangle == PATH_TRACER_NO_TRIANGLE) {
        *radiance = rgb_mul(vertex->throughput, frame->sky);
        return false;
    }
    const Triangle triangle = triangles[hit.triangle];
    const Material material = materials[triangle.material];
    Float3 normal = unit_normal(triangle.a, triangle.b, triangle.c);
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

    const float keep = 0.999999f, third = (1 - keep) / 3;
    const float u = hit.u * keep + third, v = hit.v * keep + third;
    const Float3 position =
        add(add(scaled(triangle.a, 1 - u - v), scaled(triangle.b, u)), scaled(triangle.c, v));
    const Float3 outside = add(position, scaled(normal, frame->ray_offset));
    const bool casts_shadow_rays = frame->shadow_rays != 0 && frame->lights != 0;
    if (casts_shadow_rays && !is_black(material.albedo)) {
        Rgb sum = rgb(0, 0, 0);
        for (uint ray = 0; ray < frame->shadow_rays; ++ray)
            sum = rgb_add(sum, direct_light(nodes, triangles, materials, lights, frame, outside, normal,
                                            &material,
                                            random_block(frame, vertex->key, vertex->sample, hits, 1 + ray)));
        *radiance =
            rgb_add(*radiance, rgb_scaled(rgb_mul(vertex->throughput, sum), 1.0f / (float)frame->shadow_rays));
    }

    *next = *vertex;
    next->density = 0;
    next->hits = hits;
    next->origin = outside;
    const float4 random = random_block(frame, vertex->key, vertex->sample, hits, 0);
    const Float3 mirrored = add(vertex->direction, scaled(normal, 2 * cosine));
    if (random.x < material.glass_chance) {
        const float ratio = from_outside ? material.ior : 1 / material.ior;
        float cosine_in_far = 0;
        next->throughput = rgb_mul(vertex->throughput, material.glass);
        if (random.y < fresnel(cosine, ratio, &cosine_in_far)) {
            next->direction = normalised(mirrored);
        } else {
            next->direction = normalised(
                add(scaled(vertex->direction, 1 / ratio), scaled(normal, cosine / ratio - cosine_in_far)));
            next->origin = sub(position, scaled(normal, frame->ray_offset));
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
            trace_vertex(nodes, triangles, materials, lights, &frame, &vertex, &radiance, &next);
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
    const bool goes_on = trace_vertex(nodes, triangles, materials, lights, &frame, &vertex, &radiance, &next);
    add_to_film(film, vertex.pixel, radiance);
    if (goes_on) hr_spawn(lane, 0, &next);
}
#endif
