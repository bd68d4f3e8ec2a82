// apps/examples/tree_search.cl - tree_search.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS __global ulong *nodes, __global uint *deepest
#define HEADRACE_ARGUMENTS nodes, deepest

enum { NODE, CHILDREN };
typedef union {
    struct {
        ulong number;
        uint depth, unused;
    } node;
    struct {
        ulong begin, end, number;
        uint depth, unused;
    } children;
} HrUnit;

static void make_child(ulong index, ulong parent, uint depth, HrUnit* unit) {
    ulong x = (parent ^ (index + 1)) * 0x9e3779b97f4a7c15ul;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93ul;
    unit->node.number = x ^ x >> 32;
    unit->node.depth = depth + 1;
    unit->node.unused = 0;
}

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = NODE;
    make_child(index, 0, 0, unit);
}

void hr_expand(ulong index, uint kind, const HrUnit* range, HrUnit* unit, HEADRACE_PARAMETERS) {
    make_child(index, range->children.number, range->children.depth, unit);
}

void hr_run(HrLane* lane, uint kind, HrUnit unit, HEADRACE_PARAMETERS) {
    if (unit.node.number % 100 >= 7) return;
    const uint children = 14, depth = unit.node.depth + 1;
    hr_atomic_add_ulong(nodes, children);
    if (depth > hr_atomic_load_uint(deepest)) hr_atomic_max_uint(deepest, depth);
    HrUnit range;
    range.children.number = unit.node.number;
    range.children.depth = unit.node.depth;
    hr_spawn_range(lane, CHILDREN, 0, children, &range);
}
