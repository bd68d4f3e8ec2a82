// apps/barnes_hut/visit.h - a body visits a node. C++ and OpenCL C read this file, after the tree as kernels
// see it.
#ifndef HEADRACE_BARNES_HUT_VISIT_H
#define HEADRACE_BARNES_HUT_VISIT_H
#include "interact.h"

HEADRACE_NAMESPACE(barnes_hut)

/// What a body has met among the children of one node.
typedef struct Visited {
    Force sum;
    uint32_t nodes, bodies; ///< that pulled at it
} Visited;

/// A body visits the children of one node: it is pulled by those that it does not open, and by the bodies of
/// leaves that it does. The others become units, by spawn_visit(lane, body, family). count_oddity(counts,
/// oddity) counts.
HEADRACE_FUNCTION Visited visit_children(HEADRACE_ANY(const TreeView*) tree, HEADRACE_ANY(HrLane*) lane,
                                         HEADRACE_ANY(Counts) counts, NodeVisit visit) {
    const Space* space = &tree->space;
    const GroupBox box = tree->boxes[visit.body / BARNES_HUT_GROUP];
    const Body body = tree->bodies[visit.body];
    const Source target = source_of_body(&body, &box);
    const uint32_t first = visit.family & BARNES_HUT_NODE_MASK,
                   children = (visit.family >> BARNES_HUT_NODE_BITS) + 1;
    Visited visited = {{0, 0, 0, 0}, 0, 0};
    const ForceSum sum = {&visited.sum.x, &visited.sum.y, &visited.sum.z, &visited.sum.potential};
    uint32_t load = 0;
    for (uint32_t node = first; node < first + children; ++node) {
        const NodeTest test = tree->tests[node];
        const NodeLink link = tree->links[node];
        load += fibonacci(space->load);
        if (!is_near(&test, &link, &box)) {
            HEADRACE_ELEMENT(Moments) moments = tree->moments[node];
            const NodeSource source = source_of_node(&test, &moments, &box);
            const float x = source.x - target.x, y = source.y - target.y, z = source.z - target.z;
            if (space->quadrupole != 0)
                pull_quadrupole(HEADRACE_CONSTANT(bool, true), sum, x, y, z, &source, space->softening2);
            else
                pull(HEADRACE_CONSTANT(bool, true), sum, x, y, z, source.mass, space->softening2, false);
            ++visited.nodes;
        } else if (link.bodies == 0) {
            spawn_visit(lane, visit.body, link.first);
        } else {
            for (uint32_t i = link.first; i < link.first + link.bodies; ++i) {
                if (i == visit.body) continue;
                HEADRACE_ELEMENT(Body) other = tree->bodies[i];
                count_oddity(counts, pull_precisely(sum, &body, &other, space->softening2));
            }
            visited.bodies += link.bodies;
        }
    }
    visited.sum.potential += as_nothing(load);
    return visited;
}

HEADRACE_END_NAMESPACE

#endif
