// apps/barnes_hut/barnes_hut.cl - the kernels of barnes_hut.kernels.hpp in OpenCL C: change both. layout.h comes before
// this text. OpenCL C has no group kernels, so here a single lane walks for all 64 bodies of a group. It opens the same
// nodes and does the same sums, in another order.

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

HR_FUNCTION float3 step_between(const Body* from, __global const Body* to) {
    return (float3)(relative(to->x, to->low_x - from->low_x, from->x),
                    relative(to->y, to->low_y - from->low_y, from->y),
                    relative(to->z, to->low_z - from->low_z, from->z));
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

HR_FUNCTION void count(__global ulong* counts, uint number, ulong nodes, ulong pairs) {
    __global ulong* slot = counts + number % BARNES_HUT_COUNTS * 2;
    if (nodes > 0) hr_atomic_add_ulong(slot, nodes);
    if (pairs > 0) hr_atomic_add_ulong(slot + 1, pairs);
}

#ifndef BARNES_HUT_PRODUCER_NODE

// ---- walk.hpp, by one lane

typedef struct Walk {
    uint group, first, size; // bodies
    GroupBox box;
    uint depth, load;
    ulong nodes, pairs;
    uint stack[8 * (BARNES_HUT_LEVELS + 1) + 16];
    float x[BARNES_HUT_GROUP], y[BARNES_HUT_GROUP], z[BARNES_HUT_GROUP];
    Force sums[BARNES_HUT_GROUP];
} Walk;

HR_FUNCTION void begin_walk(Walk* walk, uint group, HEADRACE_PARAMETERS) {
    walk->group = group;
    walk->first = group * BARNES_HUT_GROUP;
    walk->size = min(BARNES_HUT_GROUP, space.bodies - walk->first);
    walk->box = boxes[group];
    walk->depth = walk->load = 0;
    walk->nodes = walk->pairs = 0;
    const Force nothing = {0, 0, 0, 0};
    for (uint i = 0; i < walk->size; ++i) {
        const Source body = source_of_body(bodies + walk->first + i, &walk->box);
        walk->x[i] = body.x;
        walk->y[i] = body.y;
        walk->z[i] = body.z;
        walk->sums[i] = nothing;
    }
}

HR_FUNCTION void meet_node(Walk* walk, uint node, const NodeTest* test, __global const Moments* all, Space space) {
    const Moments moments = all[node];
    const Source source = source_of_node(test, &moments, &walk->box);
    for (uint i = 0; i < walk->size; ++i) {
        const float x = source.x - walk->x[i], y = source.y - walk->y[i], z = source.z - walk->z[i];
        add(walk->sums + i, space.quadrupole != 0 ? pull_quadrupole(x, y, z, &moments, space.softening2)
                                                  : pull(x, y, z, source.mass, space.softening2));
    }
    ++walk->nodes;
}

// Where places relative to the box's centre say too little of how far bodies are apart.
HR_FUNCTION void meet_near_bodies(Walk* walk, const NodeLink* leaf, __global const Body* bodies, Space space) {
    for (uint i = 0; i < walk->size; ++i) {
        const Body body = bodies[walk->first + i];
        for (uint j = leaf->first; j < leaf->first + leaf->bodies; ++j) {
            const float3 step = step_between(&body, bodies + j);
            if (walk->first + i != j)
                add(walk->sums + i, pull(step.x, step.y, step.z, bodies[j].mass, space.softening2));
        }
    }
    walk->pairs += leaf->bodies;
}

HR_FUNCTION void meet_bodies(Walk* walk, const NodeLink* leaf, __global const Body* bodies, Space space) {
    if (walk->box.is_wide != 0) {
        meet_near_bodies(walk, leaf, bodies, space);
        return;
    }
    for (uint j = leaf->first; j < leaf->first + leaf->bodies; ++j) {
        const Source source = source_of_body(bodies + j, &walk->box);
        for (uint i = 0; i < walk->size; ++i)
            if (walk->first + i != j)
                add(walk->sums + i, pull(source.x - walk->x[i], source.y - walk->y[i], source.z - walk->z[i],
                                         source.mass, space.softening2));
    }
    walk->pairs += leaf->bodies;
}

HR_FUNCTION void run_walk(Walk* walk, uint budget, uint most, HEADRACE_PARAMETERS) {
    while (walk->depth > 0 && (walk->nodes + walk->pairs < budget || walk->depth > most)) {
        const uint family = walk->stack[--walk->depth];
        const uint first = family & BARNES_HUT_NODE_MASK, last = first + (family >> BARNES_HUT_NODE_BITS);
        for (uint node = first; node <= last; ++node) {
            const NodeTest test = tests[node];
            const NodeLink link = links[node];
            walk->load += fibonacci(space.load);
            if (!is_near(&test, &link, &walk->box))
                meet_node(walk, node, &test, moments, space);
            else if (link.bodies > 0)
                meet_bodies(walk, &link, bodies, space);
            else
                walk->stack[walk->depth++] = link.first;
        }
    }
    walk->sums[0].potential += as_nothing(walk->load);
    count(counts, walk->group, walk->nodes * walk->size, walk->pairs * walk->size);
}

#endif

// ---- barnes_hut.kernels.hpp

#if defined(HEADRACE_CONSUMER)
void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
    Walk walk;
    begin_walk(&walk, (uint)index, HEADRACE_ARGUMENTS);
    walk.stack[walk.depth++] = BARNES_HUT_ROOT;
    run_walk(&walk, ~0u, 0, HEADRACE_ARGUMENTS);
    for (uint i = 0; i < walk.size; ++i) forces[walk.first + i] = walk.sums[i];
}
#elif defined(BARNES_HUT_PRODUCER)
typedef WalkPart HrUnit;

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = 0;
    unit->group = (uint)index;
    unit->count = 1;
    unit->families[0] = BARNES_HUT_ROOT;
    for (uint i = 1; i < BARNES_HUT_FAMILIES; ++i) unit->families[i] = 0;
}

void hr_run(HrLane* lane, uint kind, HrUnit part, HEADRACE_PARAMETERS) {
    Walk walk;
    begin_walk(&walk, part.group, HEADRACE_ARGUMENTS);
    for (uint i = 0; i < part.count; ++i) walk.stack[walk.depth++] = part.families[i];
    run_walk(&walk, space.budget, BARNES_HUT_FAMILIES * BARNES_HUT_PARTS, HEADRACE_ARGUMENTS);
    const uint parts = min(walk.depth, BARNES_HUT_PARTS);
    for (uint i = 0; i < parts; ++i) {
        HrUnit next;
        next.group = part.group;
        next.count = (walk.depth - i + parts - 1) / parts;
        for (uint j = 0; j < BARNES_HUT_FAMILIES; ++j)
            next.families[j] = j < next.count ? walk.stack[i + j * parts] : 0;
        hr_spawn(lane, 0, &next);
    }
    const bool is_first = part.families[0] == BARNES_HUT_ROOT;
    for (uint i = 0; i < walk.size; ++i) put(forces + walk.first + i, walk.sums[i], is_first);
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
    uint load = 0;
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
                const float3 step = step_between(&body, bodies + i);
                if (i != visit.body)
                    add(&sum, pull(step.x, step.y, step.z, bodies[i].mass, space.softening2));
            }
            pairs += link.bodies;
        }
    }
    const bool is_first = visit.family == BARNES_HUT_ROOT;
    sum.potential += as_nothing(load);
    if (nodes + pairs > 0 || is_first) put(forces + visit.body, sum, is_first);
    count(counts, visit.body, nodes, pairs);
}
#endif
