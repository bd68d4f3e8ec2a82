// apps/barnes_hut/barnes_hut.cl - the kernels of barnes_hut.kernels.hpp in OpenCL C: change both. All open the same nodes and do the same sums, here in another order.

#include "layout.h"

#define HEADRACE_PARAMETERS                                                                                            \
    __global const NodeTest *tests, __global const NodeLink *links, __global const Moments *moments,                  \
        __global const Body *bodies, __global const GroupBox *boxes, __global Force *forces, __global ulong *counts,  \
        Space space
#define HEADRACE_ARGUMENTS tests, links, moments, bodies, boxes, forces, counts, space

// ---- interact.hpp

typedef struct Source {
    float x, y, z, mass;
} Source;

HR_FUNCTION float relative(float high, float low, float centre) { return (high - centre) + low; }

HR_FUNCTION Source source_of_body(__global const Body* body, const GroupBox* box) {
    const Source source = {relative(body->x, body->low_x, box->x), relative(body->y, body->low_y, box->y),
                           relative(body->z, body->low_z, box->z), body->mass};
    return source;
}
HR_FUNCTION Source source_of_node(const NodeTest* test, const Moments* moments, const GroupBox* box) {
    const Source source = {relative(test->x, moments->x, box->x), relative(test->y, moments->y, box->y),
                           relative(test->z, moments->z, box->z), moments->mass};
    return source;
}

HR_FUNCTION float difference(float high, float low, float tail, float from_high, float from_low, float from_tail) {
    const float part = low - from_low, back = part - low;
    const float lost = (low - (part - back)) - (from_low + back); // by rounding, when `part` was computed
    return ((high - from_high) + part) + (lost + (tail - from_tail));
}

HR_FUNCTION float3 step_between(const Body* from, const Body* to) {
    return (float3)(difference(to->x, to->low_x, to->tail_x, from->x, from->low_x, from->tail_x),
                    difference(to->y, to->low_y, to->tail_y, from->y, from->low_y, from->tail_y),
                    difference(to->z, to->low_z, to->tail_z, from->z, from->low_z, from->tail_z));
}

HR_FUNCTION float distance2(const NodeTest* test, const GroupBox* box) {
    const float x = fmax(fabs(test->x - box->x) - box->half_x, 0.0f);
    const float y = fmax(fabs(test->y - box->y) - box->half_y, 0.0f);
    const float z = fmax(fabs(test->z - box->z) - box->half_z, 0.0f);
    return x * x + y * y + z * z;
}

HR_FUNCTION bool is_near(const NodeTest* test, const NodeLink* link, const GroupBox* box) {
    return distance2(test, box) <= fmax(test->radius2, link->weight * box->reach) || (link->bodies > 0 && link->bodies <= BARNES_HUT_FEW);
}

HR_FUNCTION Force pull(float x, float y, float z, float mass, float softening2) {
    const float inverse = rsqrt(x * x + y * y + (z * z + softening2));
    const float potential = mass * inverse;
    const float factor = potential * (inverse * inverse);
    const Force force = {factor * x, factor * y, factor * z, -potential};
    return force;
}

HR_FUNCTION Force pull_quadrupole(float x, float y, float z, const Moments* node, float softening2) {
    const float inverse = rsqrt(x * x + y * y + (z * z + softening2));
    const float inverse2 = inverse * inverse, inverse3 = inverse * inverse2, inverse5 = inverse3 * inverse2;
    const float sx = node->xx * x + node->xy * y + node->xz * z;
    const float sy = node->xy * x + node->yy * y + node->yz * z;
    const float sz = node->xz * x + node->yz * y + node->zz * z;
    const float across = (sx * x + sy * y + sz * z) * inverse2;
    const float factor = node->mass * inverse3 + inverse5 * (2.5f * across - node->trace);
    const float along = -inverse5;
    const Force force = {factor * x + along * sx, factor * y + along * sy, factor * z + along * sz,
                         -(node->mass * inverse + inverse3 * (0.5f * across - node->trace / 3))};
    return force;
}

HR_FUNCTION void add(Force* sum, Force force) {
    sum->x += force.x;
    sum->y += force.y;
    sum->z += force.z;
    sum->potential += force.potential;
}

HR_FUNCTION float near_from(const GroupBox* box, float softening2) {
    const float square = box->near2 + softening2 * 1.000001f;
    return 0.99f / (square * square);
}

#define NOT_ODD 0u
#define IS_TOO_NEAR 1u
#define IS_TOGETHER 2u

// However near the other body is. One at the same place has a potential, if there is softening, and no force.
HR_FUNCTION uint pull_precisely(Force* sum, const Body* target, const Body* source, float softening2) {
    const float3 step = step_between(target, source);
    const float square = step.x * step.x + (step.y * step.y + step.z * step.z), softened = square + softening2;
    if (square > 0)
        add(sum, pull(step.x, step.y, step.z, source->mass, softening2));
    else if (softening2 > 0)
        sum->potential -= source->mass * rsqrt(softening2);
    if (!(source->mass > 0) || softened >= BARNES_HUT_NEAREST * BARNES_HUT_NEAREST) return NOT_ODD;
    return square > 0 || target->tag != source->tag ? IS_TOO_NEAR : IS_TOGETHER;
}

HR_FUNCTION uint fibonacci(uint up_to) {
    uint a = 0, b = 1;
    for (uint i = 0; i < up_to; ++i) {
        const uint next = a + b;
        a = b;
        b = next;
    }
    return a;
}
HR_FUNCTION float as_nothing(uint load) { return load == ~0u ? 1e-38f : 0.0f; }

// barnes_hut.kernels.hpp says why the first may assign.
HR_FUNCTION void put(__global Force* to, Force force, bool is_first) {
    if (is_first) {
        *to = force;
        return;
    }
    __global float* sum = (__global float*)to;
    hr_atomic_add_float(sum, force.x);
    hr_atomic_add_float(sum + 1, force.y);
    hr_atomic_add_float(sum + 2, force.z);
    hr_atomic_add_float(sum + 3, force.potential);
}

HR_FUNCTION void count_oddities(__global ulong* counts, uint too_near, uint together) {
    if (too_near > 0) hr_atomic_add_ulong(counts + BARNES_HUT_TOO_NEAR, too_near);
    if (together > 0) hr_atomic_add_ulong(counts + BARNES_HUT_TOGETHER, together);
}

HR_FUNCTION void count(__global ulong* counts, uint number, ulong nodes, ulong pairs) {
    __global ulong* slot = counts + number % BARNES_HUT_COUNTS * 2;
    if (nodes > 0) hr_atomic_add_ulong(slot, nodes);
    if (pairs > 0) hr_atomic_add_ulong(slot + 1, pairs);
}

#ifdef HEADRACE_BY_GROUP

// ---- walk.hpp, without its lists of nodes and bodies: what a step finds pulls at once

#define BARNES_HUT_MINE (BARNES_HUT_GROUP / HEADRACE_LANES) // bodies of a lane

// The group's scratch. walk.hpp says why the stack cannot overflow.
typedef struct Shared {
    union {
        Moments nodes[HEADRACE_LANES]; // with places relative to the box
        Body bodies[HEADRACE_LANES];   // relative to the box, unless some are near
    };
    NodeLink leaves[HEADRACE_LANES];
    uint stack[HEADRACE_LANES * (BARNES_HUT_LEVELS + 1) + 16];
} Shared;
typedef char the_host_knows_the_scratch[sizeof(Shared) <= 4 * HEADRACE_SCRATCH_WORDS ? 1 : -1];

typedef struct Walk {
    __local Shared* shared;
    uint number, first; // of the group, of its bodies
    GroupBox box;
    uint depth, load;
    uint nodes, pairs; // done, for each body
    uint too_near, together;
    float x[BARNES_HUT_MINE], y[BARNES_HUT_MINE], z[BARNES_HUT_MINE];
    Force sums[BARNES_HUT_MINE];
} Walk;

// Beyond the last body of all it is the last one again.
HR_FUNCTION uint body_of(const Walk* walk, uint i, Space space) {
    return min(walk->first + (uint)get_local_id(0) + i * HEADRACE_LANES, space.bodies - 1);
}

HR_FUNCTION void begin_walk(Walk* walk, HrKernelGroup* group, uint number, HEADRACE_PARAMETERS) {
    walk->shared = (__local Shared*)hr_scratch(group);
    walk->number = number;
    walk->first = number * BARNES_HUT_GROUP;
    walk->box = boxes[number];
    walk->depth = walk->load = walk->nodes = walk->pairs = walk->too_near = walk->together = 0;
    const Force nothing = {0, 0, 0, 0};
    for (uint i = 0; i < BARNES_HUT_MINE; ++i) {
        const Source body = source_of_body(bodies + body_of(walk, i, space), &walk->box);
        walk->x[i] = body.x;
        walk->y[i] = body.y;
        walk->z[i] = body.z;
        walk->sums[i] = nothing;
    }
}

// Sync follows.
HR_FUNCTION void begin_with(Walk* walk, uint family) {
    if (get_local_id(0) == 0) walk->shared->stack[walk->depth] = family;
    ++walk->depth;
}

// Sums of one step go into the whole together: that keeps rounding errors small.
HR_FUNCTION void pull_nodes(Walk* walk, uint count, Space space) {
    Force sums[BARNES_HUT_MINE] = {{0, 0, 0, 0}};
    for (uint j = 0; j < count; ++j) {
        const Moments node = walk->shared->nodes[j];
        for (uint i = 0; i < BARNES_HUT_MINE; ++i) {
            const float x = node.x - walk->x[i], y = node.y - walk->y[i], z = node.z - walk->z[i];
            add(sums + i, space.quadrupole != 0 ? pull_quadrupole(x, y, z, &node, space.softening2)
                                                : pull(x, y, z, node.mass, space.softening2));
        }
    }
    for (uint i = 0; i < BARNES_HUT_MINE; ++i) add(walk->sums + i, sums[i]);
    walk->nodes += count;
}

// Bodies from `first` on, of which there are as many as lanes or fewer.
HR_FUNCTION void fetch_bodies(const Walk* walk, uint first, uint count, bool is_near, __global const Body* bodies) {
    const uint lane = (uint)get_local_id(0);
    if (lane >= count) return;
    Body body = bodies[first + lane];
    if (!is_near) {
        const Source source = source_of_body(bodies + first + lane, &walk->box);
        body.x = source.x;
        body.y = source.y;
        body.z = source.z;
    }
    walk->shared->bodies[lane] = body;
}

// False if some are near: then nothing has been added. A body does nothing to itself.
HR_FUNCTION bool pull_distant_bodies(Walk* walk, HrKernelGroup* group, uint first, uint count, Space space) {
    Force sums[BARNES_HUT_MINE] = {{0, 0, 0, 0}};
    float most = 0;
    for (uint i = 0; i < BARNES_HUT_MINE; ++i) {
        const uint self = body_of(walk, i, space);
        float nearness = 0;
        for (uint j = 0; j < count; ++j) {
            if (first + j == self) continue;
            const Body body = walk->shared->bodies[j];
            const float x = body.x - walk->x[i], y = body.y - walk->y[i], z = body.z - walk->z[i];
            add(sums + i, pull(x, y, z, body.mass, space.softening2));
            const float inverse = rsqrt(x * x + y * y + (z * z + space.softening2)), inverse2 = inverse * inverse;
            nearness += inverse2 * inverse2;
        }
        most = fmax(most, nearness);
    }
    if (hr_ballot(group, most >= near_from(&walk->box, space.softening2)) != 0) return false;
    for (uint i = 0; i < BARNES_HUT_MINE; ++i) add(walk->sums + i, sums[i]);
    return true;
}

// However near they are to the group's bodies: pairs that are not are computed as elsewhere.
HR_FUNCTION void pull_near_bodies(Walk* walk, HrKernelGroup* group, uint first, uint count,
                                  __global const Body* bodies, Space space) {
    Force sums[BARNES_HUT_MINE] = {{0, 0, 0, 0}};
    bool is_too_near = false, is_together = false;
    const GroupBox box = walk->box;
    const float near2 = 1.01f * box.near2; // with room for rounding
    for (uint i = 0; i < BARNES_HUT_MINE; ++i) {
        const uint self = body_of(walk, i, space);
        for (uint j = 0; j < count; ++j) {
            if (first + j == self) continue;
            const Body body = walk->shared->bodies[j];
            const float x = relative(body.x, body.low_x, box.x) - walk->x[i],
                        y = relative(body.y, body.low_y, box.y) - walk->y[i],
                        z = relative(body.z, body.low_z, box.z) - walk->z[i];
            if (x * x + (y * y + z * z) > near2) {
                add(sums + i, pull(x, y, z, body.mass, space.softening2));
                continue;
            }
            const Body target = bodies[self];
            const uint odd = pull_precisely(sums + i, &target, &body, space.softening2);
            is_too_near = is_too_near || odd == IS_TOO_NEAR;
            is_together = is_together || odd == IS_TOGETHER;
        }
    }
    for (uint i = 0; i < BARNES_HUT_MINE; ++i) add(walk->sums + i, sums[i]);
    walk->too_near += popcount(hr_ballot(group, is_too_near));
    walk->together += popcount(hr_ballot(group, is_together));
}

// Takes some families off the stack; each lane tests a node.
HR_FUNCTION void walk_on(Walk* walk, HrKernelGroup* group, HEADRACE_PARAMETERS) {
    __local Shared* shared = walk->shared;
    const uint lane = (uint)get_local_id(0);
    const uint taken = min(walk->depth, (uint)HEADRACE_LANES / 8);
    walk->depth -= taken;
    const uint family = lane / 8 < taken ? shared->stack[walk->depth + lane / 8] : 0;
    const bool is_there = lane / 8 < taken && lane % 8 <= family >> BARNES_HUT_NODE_BITS;
    bool opens = false;
    uint node = 0;
    NodeTest test = {0, 0, 0, 0};
    NodeLink link = {0, 0};
    if (is_there) {
        node = (family & BARNES_HUT_NODE_MASK) + lane % 8;
        test = tests[node];
        link = links[node];
        opens = is_near(&test, &link, &walk->box);
        walk->load += fibonacci(space.load);
    }
    const uint accepted = hr_ballot(group, is_there && !opens);
    const uint opened = hr_ballot(group, opens && link.bodies == 0);
    const uint leaves = hr_ballot(group, opens && link.bodies > 0);
    if (hr_has(accepted, lane)) {
        Moments source = moments[node];
        const Source place = source_of_node(&test, &source, &walk->box);
        source.x = place.x;
        source.y = place.y;
        source.z = place.z;
        shared->nodes[hr_count_below(accepted, lane)] = source;
    }
    if (hr_has(opened, lane)) shared->stack[walk->depth + hr_count_below(opened, lane)] = link.first;
    if (hr_has(leaves, lane)) shared->leaves[hr_count_below(leaves, lane)] = link;
    walk->depth += popcount(opened);
    hr_sync(); // fetched
    pull_nodes(walk, popcount(accepted), space);
    hr_sync(); // read, and may be written
    for (uint leaf = 0; leaf < popcount(leaves); ++leaf) {
        const NodeLink all = shared->leaves[leaf];
        for (uint done = 0; done < all.bodies; done += HEADRACE_LANES) {
            const uint count = min(all.bodies - done, (uint)HEADRACE_LANES);
            fetch_bodies(walk, all.first + done, count, false, bodies);
            hr_sync(); // fetched
            const bool are_distant = pull_distant_bodies(walk, group, all.first + done, count, space);
            hr_sync(); // read, and may be written
            if (!are_distant) {
                fetch_bodies(walk, all.first + done, count, true, bodies);
                hr_sync(); // fetched
                pull_near_bodies(walk, group, all.first + done, count, bodies, space);
                hr_sync(); // read, and may be written
            }
            walk->pairs += count;
        }
    }
}

// Until nothing is left, or others are idle: that is asked each time that about `interval` interactions more of the
// group are done and no more than `most` families are left.
HR_FUNCTION void run_walk(Walk* walk, HrKernelGroup* group, uint interval, uint most, HEADRACE_PARAMETERS) {
    hr_sync();
    bool goes_on = walk->depth > 0;
    for (uint next = interval; goes_on;) {
        walk_on(walk, group, HEADRACE_ARGUMENTS);
        goes_on = walk->depth > 0;
        if (goes_on && walk->nodes + walk->pairs >= next && walk->depth <= most) {
            goes_on = !hr_others_are_idle(group);
            next = walk->nodes + walk->pairs + interval;
        }
    }
    walk->sums[0].potential += as_nothing(walk->load);
    const ulong size = min(BARNES_HUT_GROUP, space.bodies - walk->first);
    if (get_local_id(0) != 0) return;
    count(counts, walk->number, walk->nodes * size, walk->pairs * size);
    count_oddities(counts, walk->too_near, walk->together);
}

#endif

// ---- barnes_hut.kernels.hpp

#if defined(HEADRACE_CONSUMER)
void hr_consume(HrKernelGroup* group, ulong index, HEADRACE_PARAMETERS) {
    Walk walk;
    begin_walk(&walk, group, (uint)index, HEADRACE_ARGUMENTS);
    begin_with(&walk, BARNES_HUT_ROOT);
    run_walk(&walk, group, ~0u, 0, HEADRACE_ARGUMENTS);
    for (uint i = 0; i < BARNES_HUT_MINE; ++i) {
        const uint body = walk.first + (uint)get_local_id(0) + i * HEADRACE_LANES;
        if (body < space.bodies) forces[body] = walk.sums[i];
    }
}
#elif defined(HEADRACE_BY_GROUP)
typedef WalkPart HrUnit;

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = 0;
    unit->group = (uint)index;
    unit->count = 1;
    unit->families[0] = BARNES_HUT_ROOT;
    for (uint i = 1; i < BARNES_HUT_FAMILIES; ++i) unit->families[i] = 0;
}

void hr_run(HrKernelGroup* group, uint kind, HrUnit part, HEADRACE_PARAMETERS) {
    Walk walk;
    begin_walk(&walk, group, part.group, HEADRACE_ARGUMENTS);
    for (uint i = 0; i < part.count; ++i) begin_with(&walk, part.families[i]);
    run_walk(&walk, group, space.budget, BARNES_HUT_FAMILIES * BARNES_HUT_STAGED_PARTS, HEADRACE_ARGUMENTS);
    const uint parts = min(walk.depth, BARNES_HUT_STAGED_PARTS);
    for (uint i = 0; i < parts; ++i) {
        HrUnit next;
        next.group = part.group;
        next.count = (walk.depth - i + parts - 1) / parts;
        for (uint j = 0; j < BARNES_HUT_FAMILIES; ++j)
            next.families[j] = j < next.count ? walk.shared->stack[i + j * parts] : 0;
        hr_spawn(group, 0, &next);
    }
    const bool is_first = part.families[0] == BARNES_HUT_ROOT;
    for (uint i = 0; i < BARNES_HUT_MINE; ++i) {
        const uint body = walk.first + (uint)get_local_id(0) + i * HEADRACE_LANES;
        if (body < space.bodies) put(forces + body, walk.sums[i], is_first);
    }
}
#else
typedef NodeVisit HrUnit;

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = 0;
    unit->body = (uint)index;
    unit->family = BARNES_HUT_ROOT;
}

void hr_run(HrLane* lane, uint kind, HrUnit visit, HEADRACE_PARAMETERS) {
    const GroupBox box = boxes[visit.body / BARNES_HUT_GROUP];
    const Body body = bodies[visit.body];
    const Source target = source_of_body(bodies + visit.body, &box);
    const uint first = visit.family & BARNES_HUT_NODE_MASK, last = first + (visit.family >> BARNES_HUT_NODE_BITS);
    Force sum = {0, 0, 0, 0};
    ulong nodes = 0, pairs = 0;
    uint load = 0, too_near = 0, together = 0;
    for (uint node = first; node <= last; ++node) {
        const NodeTest test = tests[node];
        const NodeLink link = links[node];
        load += fibonacci(space.load);
        if (!is_near(&test, &link, &box)) {
            const Moments there = moments[node];
            const Source source = source_of_node(&test, &there, &box);
            const float x = source.x - target.x, y = source.y - target.y, z = source.z - target.z;
            add(&sum, space.quadrupole != 0 ? pull_quadrupole(x, y, z, &there, space.softening2)
                                            : pull(x, y, z, source.mass, space.softening2));
            ++nodes;
        } else if (link.bodies == 0) {
            const HrUnit next = {visit.body, link.first};
            hr_spawn(lane, 0, &next);
        } else {
            for (uint i = link.first; i < link.first + link.bodies; ++i) {
                if (i == visit.body) continue;
                const Body other = bodies[i];
                const uint odd = pull_precisely(&sum, &body, &other, space.softening2);
                too_near += odd == IS_TOO_NEAR;
                together += odd == IS_TOGETHER;
            }
            pairs += link.bodies;
        }
    }
    const bool is_first = visit.family == BARNES_HUT_ROOT;
    sum.potential += as_nothing(load);
    if (nodes + pairs > 0 || is_first) put(forces + visit.body, sum, is_first);
    count(counts, visit.body, nodes, pairs);
    count_oddities(counts, too_near, together);
}
#endif
