// tests/persistent/trees.cl - the kernels of trees.kernels.hpp in OpenCL C; one of BINARY_TREE,
// IRREGULAR_TREE, CHAIN, PLANT, VISIT, LIAR, MIXED_SEEDS, SHEDDING is defined.
#define HEADRACE_PARAMETERS __global ulong *arrivals, ulong bound
#define HEADRACE_ARGUMENTS arrivals, bound

#define CELLS 1024u

static inline ulong mix(ulong x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ul;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebul;
    return x ^ (x >> 31);
}

static inline void arrive(__global ulong* arrivals, ulong id) {
    const ulong mixed = mix(id);
    const ulong cell = mixed % CELLS;
    hr_atomic_add_ulong(&arrivals[cell], 1);
    hr_atomic_add_ulong(&arrivals[CELLS + cell], mixed);
}

#if defined(VISIT)

void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) { arrive(arrivals, index); }

#elif defined(CHAIN)

typedef struct {
    ulong seed;
    uint left, unused;
} HrUnit;

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = 0;
    unit->seed = index;
    unit->left = (uint)(mix(index) % bound);
    unit->unused = 0;
}
void hr_run(HrLane* lane, uint kind, HrUnit link, HEADRACE_PARAMETERS) {
    arrive(arrivals, mix(link.seed) + link.left);
    if (link.left == 0) return;
    --link.left;
    hr_spawn(lane, 0, &link);
}

#elif defined(PLANT) || defined(MIXED_SEEDS)

enum { BRANCH, BUD, LEAF };
typedef struct {
    ulong id;
    uint depth;
    uint ballast[5];
} HrUnit;

static void spawn(HrLane* lane, uint kind, ulong id, uint depth) {
    HrUnit unit = {id, depth, {1, 2, 3, 4, 5}};
    hr_spawn(lane, kind, &unit);
}

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    #ifdef MIXED_SEEDS
    *kind = (uint)(mix(index) % 3);
    #else
    *kind = BRANCH;
    #endif
    const HrUnit seed = {mix(index), 0, {1, 2, 3, 4, 5}};
    *unit = seed;
}
void hr_run(HrLane* lane, uint kind, HrUnit unit, HEADRACE_PARAMETERS) {
    // A ballast that did not survive the queues shows as an id that nobody expects.
    const bool whole = unit.ballast[0] == 1 && unit.ballast[2] == 3 && unit.ballast[4] == 5;
    arrive(arrivals, whole ? unit.id : 0);
    if (kind == BRANCH) {
        spawn(lane, LEAF, mix(unit.id + 1), 0);
        if (unit.depth >= bound) return;
        spawn(lane, BUD, mix(unit.id + 2), unit.depth + 1);
        if (mix(unit.id) % 3 != 0) spawn(lane, BUD, mix(unit.id + 3), unit.depth + 1);
    } else if (kind == BUD) {
        if (unit.depth < bound) spawn(lane, BRANCH, mix(unit.id + 4), unit.depth + 1);
        spawn(lane, LEAF, mix(unit.id + 5), 0);
        spawn(lane, LEAF, mix(unit.id + 6), 0);
    }
}

#elif defined(SHEDDING)

// A chain that sheds a unit of another kind at every link: lanes that go on all want to, while the others
// pile up.
enum { LINK, SHED };
typedef struct {
    ulong seed;
    ulong left;
} HrUnit;

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = LINK;
    unit->seed = index;
    unit->left = bound;
}
void hr_run(HrLane* lane, uint kind, HrUnit unit, HEADRACE_PARAMETERS) {
    arrive(arrivals, mix(unit.seed) + 2 * unit.left + kind);
    if (kind == SHED) return;
    hr_spawn(lane, SHED, &unit);
    if (unit.left == 0) return;
    --unit.left;
    hr_spawn(lane, LINK, &unit);
}

#else

typedef struct {
    ulong seed, heap;
} HrUnit;

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = 0;
    unit->seed = index;
    unit->heap = 1;
}
static void spawn(HrLane* lane, ulong seed, ulong heap) {
    const HrUnit node = {seed, heap};
    hr_spawn(lane, 0, &node);
}
void hr_run(HrLane* lane, uint kind, HrUnit node, HEADRACE_PARAMETERS) {
    const ulong id = mix(node.seed) ^ node.heap;
    #ifdef LIAR
    if (node.heap == 1 && node.seed % 1000 == 999)
        for (uint i = 0; i < 3; ++i) spawn(lane, node.seed, 2 + i);
    #else
    arrive(arrivals, id);
    if (node.heap >= bound) return;
        #ifdef BINARY_TREE
    spawn(lane, node.seed, 2 * node.heap);
    spawn(lane, node.seed, 2 * node.heap + 1);
        #else
    const ulong chance = mix(id) % 16;
    const uint children = chance < 7 ? 0 : chance < 11 ? 1 : chance < 14 ? 2 : chance < 15 ? 3 : 4;
    for (uint child = 0; child < children; ++child) spawn(lane, node.seed, 4 * node.heap + child);
        #endif
    #endif
}

#endif
