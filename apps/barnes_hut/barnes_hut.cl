// apps/barnes_hut/barnes_hut.cl - the kernels of barnes_hut.kernels.hpp in OpenCL C. All open the same nodes and do the
// same sums, here in another order. What bodies and nodes do to a body is in files that both languages read.

#include "interact.h"

#define HEADRACE_PARAMETERS                                                                                            \
    __global const NodeTest *tests, __global const NodeLink *links, __global const Moments *moments,                  \
        __global const Body *bodies, __global const GroupBox *boxes, __global Force *forces, __global ulong *counts,  \
        Space space
#define HEADRACE_ARGUMENTS tests, links, moments, bodies, boxes, forces, counts, space

HR_FUNCTION ForceSum into(Force* force) {
    const ForceSum sum = {&force->x, &force->y, &force->z, &force->potential};
    return sum;
}

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

#ifdef HEADRACE_BY_GROUP

// ---- walk.hpp, without its lists of nodes and bodies: what a step finds pulls at once

#define BARNES_HUT_MINE (BARNES_HUT_GROUP / HEADRACE_LANES) // bodies of a lane

// The group's scratch. walk.hpp says why the stack cannot overflow.
typedef struct Shared {
    union {
        NodeSource nodes[HEADRACE_LANES];
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
        const Body body = bodies[body_of(walk, i, space)];
        const Source source = source_of_body(&body, &walk->box);
        walk->x[i] = source.x;
        walk->y[i] = source.y;
        walk->z[i] = source.z;
        walk->sums[i] = nothing;
    }
}

HR_FUNCTION void add(Force* sum, Force force) {
    sum->x += force.x;
    sum->y += force.y;
    sum->z += force.z;
    sum->potential += force.potential;
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
        const NodeSource node = walk->shared->nodes[j];
        for (uint i = 0; i < BARNES_HUT_MINE; ++i) {
            const float x = node.x - walk->x[i], y = node.y - walk->y[i], z = node.z - walk->z[i];
            if (space.quadrupole != 0)
                pull_quadrupole(true, into(sums + i), x, y, z, &node, space.softening2);
            else
                pull(true, into(sums + i), x, y, z, node.mass, space.softening2, false);
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
        const Source source = source_of_body(&body, &walk->box);
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
            nearness += pull(true, into(sums + i), x, y, z, body.mass, space.softening2, false);
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
            const Source source = source_of_body(&body, &box);
            const float x = source.x - walk->x[i], y = source.y - walk->y[i], z = source.z - walk->z[i];
            if (x * x + (y * y + z * z) > near2) {
                pull(true, into(sums + i), x, y, z, body.mass, space.softening2, false);
                continue;
            }
            const Body target = bodies[self];
            const Oddity odd = pull_precisely(into(sums + i), &target, &body, space.softening2);
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
    NodeLink link = {0, 0, 0, 0};
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
        const Moments there = moments[node];
        shared->nodes[hr_count_below(accepted, lane)] = source_of_node(&test, &there, &walk->box);
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
    if (walk->too_near > 0) hr_atomic_add_ulong(counts + BARNES_HUT_TOO_NEAR, walk->too_near);
    if (walk->together > 0) hr_atomic_add_ulong(counts + BARNES_HUT_TOGETHER, walk->together);
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

typedef __global ulong* Counts;

typedef struct TreeView {
    __global const NodeTest* tests;
    __global const NodeLink* links;
    __global const Moments* moments;
    __global const Body* bodies;
    __global const GroupBox* boxes;
    Space space;
} TreeView;

HR_FUNCTION void count_oddity(Counts counts, Oddity odd) {
    if (odd != NOT_ODD) hr_atomic_add_ulong(counts + (odd == IS_TOO_NEAR ? BARNES_HUT_TOO_NEAR : BARNES_HUT_TOGETHER), 1);
}

HR_FUNCTION void spawn_visit(HrLane* lane, uint body, uint family) {
    const HrUnit visit = {body, family};
    hr_spawn(lane, 0, &visit);
}

    #include "visit.h"

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = 0;
    unit->body = (uint)index;
    unit->family = BARNES_HUT_ROOT;
}

void hr_run(HrLane* lane, uint kind, HrUnit visit, HEADRACE_PARAMETERS) {
    const TreeView tree = {tests, links, moments, bodies, boxes, space};
    const Visited visited = visit_children(&tree, lane, counts, visit);
    const bool is_first = visit.family == BARNES_HUT_ROOT;
    if (visited.nodes + visited.bodies > 0 || is_first) put(forces + visit.body, visited.sum, is_first);
    count(counts, visit.body, visited.nodes, visited.bodies);
}
#endif
