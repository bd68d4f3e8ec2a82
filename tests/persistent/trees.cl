// tests/persistent/trees.cl - the kernels of trees.kernels.hpp in OpenCL C; one of BINARY_TREE,
// IRREGULAR_TREE, CHAIN, PLANT, VISIT, LIAR, MIXED_SEEDS, SHEDDING, GROUP_PLANT, GROUP_VISIT, FIREWORKS,
// CONIFER is defined. An IRREGULAR_TREE and FIREWORKS may be group kernels. With ONE_IN, an IRREGULAR_TREE has
// roots for some indices only; with ROCKETS, the seeds of FIREWORKS are ranges. With WALK, an IRREGULAR_TREE, a
// PLANT, FIREWORKS and a CONIFER are those of walks.kernels.hpp: WALK is the kind that walks, and WALK_ID the
// id of its `unit`.
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

#ifdef HEADRACE_BY_GROUP

// What a lane group can do together, tried out: true, for all lanes, if all of them agree with what plain
// arithmetic says. `key` varies what is computed.
static bool group_works(HrKernelGroup* group, ulong key) {
    __local uint* scratch = hr_scratch(group);
    const uint lane = (uint)get_local_id(0), next = (lane + 1) % HEADRACE_LANES;
    // Each lane's word, read by its neighbour.
    scratch[lane] = (uint)mix(key + lane);
    scratch[HEADRACE_LANES + lane] = ~0u; // the memory is ours up to the last word
    hr_sync();
    const uint seen = scratch[next];
    hr_sync(); // all have read before anyone writes again
    const bool odd = seen == (uint)mix(key + next) && next % 2 == 1;
    const uint votes = hr_ballot(group, odd);
    const ulong before_each = hr_sum_ulong(group, (ulong)hr_count_below(votes, lane) << 40);
    ulong expected = 0;
    uint odds = 0;
    for (uint i = 0; i < HEADRACE_LANES; ++i) {
        expected += (ulong)odds << 40;
        odds += (i + 1) % HEADRACE_LANES % 2;
    }
    const uint words = hr_sum_uint(group, ~0u);
    const float floats = hr_sum_float(group, 0.5f * (float)lane);
    const ulong led = hr_shuffle_ulong(group, lane == 0 ? mix(key) : 0, 0);
    const uint word = hr_shuffle_uint(group, (uint)mix(key + lane), next);
    const float real = hr_shuffle_float(group, -0.5f * (float)lane, next);
    const bool works = before_each == expected && popcount(votes) == odds && hr_has(votes, lane) == odd &&
                       words == 0u - HEADRACE_LANES && led == mix(key) &&
                       floats == 0.25f * (float)(HEADRACE_LANES * (HEADRACE_LANES - 1)) && word == seen &&
                       real == -0.5f * (float)next;
    return popcount(hr_ballot(group, works)) == HEADRACE_LANES;
}

static void arrive_once(__global ulong* arrivals, ulong id) {
    if (get_local_id(0) == 0) arrive(arrivals, id);
}

#endif

#if defined(VISIT)

void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) { arrive(arrivals, index); }

#elif defined(GROUP_VISIT)

void hr_consume(HrKernelGroup* group, ulong index, HEADRACE_PARAMETERS) {
    const bool works = group_works(group, index);
    arrive_once(arrivals, works ? index : ~index);
}

#elif defined(CHAIN)

typedef struct {
    ulong seed;
    uint left, unused;
} HrUnit;

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    if (index >> 63) arrive(arrivals, 0); // there is no such seed
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

#elif defined(PLANT) || defined(MIXED_SEEDS) || defined(GROUP_PLANT)

    #ifdef WALK
enum { BUD, BRANCH, LEAF };
    #else
enum { BRANCH, BUD, LEAF };
    #endif
typedef struct {
    ulong id;
    uint depth;
    uint ballast[5];
} HrUnit;

static void spawn(HR_HANDLE* lane, uint kind, ulong id, uint depth) {
    const HrUnit unit = {id, depth, {1, 2, 3, 4, 5}};
    hr_spawn(lane, kind, &unit);
}

// A ballast that did not survive the queues shows as an id that is not expected. Shorter kinds have none where
// they come from a device that knows each kind's own size.
static bool is_whole(uint kind, const HrUnit* unit) {
    const uint* ballast = unit->ballast;
    if (ballast[0] == 1 && ballast[2] == 3 && ballast[4] == 5) return true;
    return kind != BUD && ballast[0] == 0 && ballast[2] == 0 && ballast[4] == 0;
}

void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    if (index >> 63) arrive(arrivals, 0); // there is no such seed
    #ifdef MIXED_SEEDS
    *kind = (uint)(mix(index) % 3);
    #else
    *kind = BRANCH;
    #endif
    const HrUnit seed = {mix(index), 0, {1, 2, 3, 4, 5}};
    *unit = seed;
}
    #ifdef GROUP_PLANT
void hr_run(HrKernelGroup* group, uint kind, HrUnit unit, HEADRACE_PARAMETERS) {
    arrive_once(arrivals, is_whole(kind, &unit) ? unit.id : 0);
    if (kind == BRANCH) {
        spawn(group, LEAF, mix(unit.id + 1), 0);
        if (unit.depth < bound) spawn(group, BUD, mix(unit.id + 2), unit.depth + 1);
    } else if (kind == BUD) {
        spawn(group, BRANCH, mix(unit.id + 3), unit.depth);
        if (mix(unit.id) % 3 != 0) spawn(group, BRANCH, mix(unit.id + 4), unit.depth);
    }
}
    #else
void hr_run(HrLane* lane, uint kind, HrUnit unit, HEADRACE_PARAMETERS) {
    arrive(arrivals, is_whole(kind, &unit) ? unit.id : 0);
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
    #endif

#elif defined(FIREWORKS)

// `bound`: the depth; in its upper half, how many follow the first ones, or the most that a rocket has.
enum { SPARK, BURST };
typedef struct {
    ulong id;
    uint level, unused;
} Spark;
typedef union {
    Spark spark;
    struct {
        ulong begin, end;
        Spark from;
    } burst;
} HrUnit;

    #ifdef ROCKETS
void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    if (index >> 63) arrive(arrivals, 0); // there is no such seed
    *kind = BURST;
    unit->burst.begin = index;
    unit->burst.end = index + mix(index) % (bound >> 32);
    unit->burst.from.id = mix(index);
    unit->burst.from.level = 1;
}
    #else
void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    if (index >> 63) arrive(arrivals, 0); // there is no such seed
    *kind = SPARK;
    unit->spark.id = mix(index);
    unit->spark.level = 0;
}
    #endif
void hr_expand(ulong index, uint kind, const HrUnit* range, HrUnit* unit, HEADRACE_PARAMETERS) {
    unit->spark.id = mix(range->burst.from.id + index);
    unit->spark.level = range->burst.from.level;
}
void hr_run(HR_HANDLE* lane, uint kind, HrUnit unit, HEADRACE_PARAMETERS) {
    #ifdef HEADRACE_BY_GROUP
    arrive_once(arrivals, kind == SPARK ? unit.spark.id : 0);
    #else
    arrive(arrivals, kind == SPARK ? unit.spark.id : 0);
    #endif
    const Spark spark = unit.spark;
    if (spark.level >= (uint)bound) return;
    const ulong count = spark.level == 0 ? bound >> 32 : mix(spark.id + 7) % 4;
    const ulong first = (1ul << 32) - 3; // indices go beyond 32 bits
    HrUnit next;
    next.burst.from.id = spark.id;
    next.burst.from.level = spark.level + 1;
    hr_spawn_range(lane, BURST, first, first + count, &next);
    if (spark.level == 0 || mix(spark.id) % 4 != 0) return;
    next.spark.id = ~spark.id;
    next.spark.level = spark.level + 1;
    hr_spawn(lane, SPARK, &next);
}

#elif defined(CONIFER)

    #define HEADRACE_GAPS
enum { TWIG, STEM, SHOOT, WHORL, NEEDLE };
typedef union {
    struct {
        ulong id;
        uint depth;
        uint ballast[5];
    } own; // of kinds that are no ranges; a needle has an id alone
    struct {
        ulong begin, end;
        ulong id;
        uint depth;
        uint ballast[3];
    } range;
} HrUnit;

bool hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    if (index >> 63) arrive(arrivals, 0); // there is no such seed
    *kind = STEM;
    unit->own.id = mix(index);
    unit->own.depth = 0;
    return true;
}
bool hr_expand(ulong index, uint kind, const HrUnit* range, HrUnit* unit, HEADRACE_PARAMETERS) {
    if (kind == TWIG) {
        unit->own.id = mix(range->range.id ^ index);
        return unit->own.id % 3 != 0;
    }
    const bool whole = range->range.ballast[0] == 1 && range->range.ballast[2] == 3;
    unit->own.id = whole ? mix(range->range.id + index) : 0;
    unit->own.depth = range->range.depth;
    for (uint i = 0; i < 5; ++i) unit->own.ballast[i] = i + 1;
    return true;
}
static void spawn_range(HrLane* lane, uint kind, ulong begin, ulong count, ulong id, uint depth) {
    HrUnit range;
    range.range.id = id;
    range.range.depth = depth;
    for (uint i = 0; i < 3; ++i) range.range.ballast[i] = i + 1;
    hr_spawn_range(lane, kind, begin, begin + count, &range);
}
void hr_run(HrLane* lane, uint kind, HrUnit unit, HEADRACE_PARAMETERS) {
    const uint* ballast = unit.own.ballast;
    const bool whole = kind != SHOOT || (ballast[0] == 1 && ballast[2] == 3 && ballast[4] == 5);
    const ulong id = whole ? unit.own.id : 0;
    arrive(arrivals, id);
    if (kind == STEM) {
        spawn_range(lane, TWIG, 0, mix(id + 1) % 50, id, 0);
        if (unit.own.depth < bound) spawn_range(lane, WHORL, 5, mix(id + 2) % 4, id, unit.own.depth + 1);
    } else if (kind == SHOOT) {
        HrUnit stem;
        stem.own.id = mix(id + 3);
        stem.own.depth = unit.own.depth;
        hr_spawn(lane, STEM, &stem);
        if (id % 2 == 0) spawn_range(lane, TWIG, 0, 3, id, 0);
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
    if (index >> 63) arrive(arrivals, 0); // there is no such seed
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

    #ifdef ONE_IN
        #define HEADRACE_GAPS
bool hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    if (index >> 63) arrive(arrivals, 0); // there is no such seed
    *kind = 0;
    unit->seed = index;
    unit->heap = 1;
    return mix(index) % ONE_IN == 0;
}
    #else
void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    if (index >> 63) arrive(arrivals, 0); // there is no such seed
    *kind = 0;
    unit->seed = index;
    unit->heap = 1;
}
    #endif
static void spawn(HR_HANDLE* lane, ulong seed, ulong heap) {
    const HrUnit node = {seed, heap};
    hr_spawn(lane, 0, &node);
}
void hr_run(HR_HANDLE* lane, uint kind, HrUnit node, HEADRACE_PARAMETERS) {
    const ulong id = mix(node.seed) ^ node.heap;
    #ifdef LIAR
    if (node.heap == 1 && node.seed % 1000 == 999)
        for (uint i = 0; i < 3; ++i) spawn(lane, node.seed, 2 + i);
    #else
        #ifdef HEADRACE_BY_GROUP
    const bool works = group_works(lane, id);
    arrive_once(arrivals, works ? id : 0); // 0: an id that is not expected
        #else
    arrive(arrivals, id);
        #endif
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

#ifdef WALK

    #define HEADRACE_RESUMABLE WALK
    #define HEADRACE_PHASES 3

typedef struct {
    ulong id;
    uint step, length, is_broken;
} HrState;
typedef struct {
    uint met[16];
} HrScratch;

static uint word_of(ulong id, uint step) { return (uint)mix(id + step); }
static uint phase_of(ulong id, uint step) {
    return step == 0 ? 0 : word_of(id, step) % 16 < 10 ? 0 : word_of(id, step) % 16 < 14 ? 1 : 2;
}

void hr_begin(HrState* walk, HrUnit unit, HEADRACE_PARAMETERS) {
    walk->id = WALK_ID;
    walk->step = walk->is_broken = 0;
    const ulong chance = mix(walk->id + 17);
    walk->length = (uint)(chance % 128 == 0 ? 1 + chance / 128 % 300 : 1 + chance / 128 % 12);
}
uint hr_step(uint phase, HrState* walk, HrScratch* scratch, HEADRACE_PARAMETERS) {
    walk->is_broken |= phase != phase_of(walk->id, walk->step);
    scratch->met[walk->step % 16] = word_of(walk->id, walk->step);
    ++walk->step;
    #ifdef NO_SUCH_PHASE
    if (walk->step == 2) return 3;
    #endif
    if (walk->step < walk->length) return phase_of(walk->id, walk->step);
    for (uint back = 1; back <= walk->step && back <= 16; ++back) {
        const uint at = walk->step - back;
        walk->is_broken |= scratch->met[at % 16] != word_of(walk->id, at);
    }
    return HR_DONE;
}
void hr_finish(HrLane* lane, HrState* walk, HrUnit unit, HEADRACE_PARAMETERS) {
    if (walk->is_broken || walk->step != walk->length)
        arrive(arrivals, 0); // an id that is not expected
    else
        hr_run(lane, WALK, unit, HEADRACE_ARGUMENTS);
}

#endif
