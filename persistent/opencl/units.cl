// persistent/opencl/units.cl - a lane's unit and what it spawns, and units as words of queues.

// The most units that one call may put into the LIQ. With one kind, the first unit is the lane's
// continuation.
#define HR_STAGED                                                                                            \
    (HEADRACE_KINDS == 1 && HEADRACE_MAX_SPAWNS > 0 ? HEADRACE_MAX_SPAWNS - 1 : HEADRACE_MAX_SPAWNS)
#define HR_PLACES (HR_STAGED == 0 ? 1 : HR_STAGED) // arrays must not be empty
#define HR_HAS_QUEUES (HR_STAGED > 0)              // otherwise only continuations are spawned
#define HR_HAS_KINDS (HEADRACE_KINDS > 1)
#ifdef HEADRACE_GAPS
    #define HR_HAS_GAPS 1
#else
    #define HR_HAS_GAPS 0
#endif
#ifndef HEADRACE_REFILL_PERCENT
    #define HEADRACE_REFILL_PERCENT 75
#endif
#define HR_ENOUGH                                                                                            \
    max((HEADRACE_QUEUE_LANES * HEADRACE_REFILL_PERCENT + 99) / 100, 1) // unless the host says otherwise
#define HR_ALL_LANES (0xffffffffu >> (32 - HEADRACE_QUEUE_LANES))

#ifdef HEADRACE_PHASES
    #ifdef HEADRACE_BY_GROUP
        #error a group kernel has no resumable kinds: the lanes of its groups have no units of their own
    #endif
    #ifndef HEADRACE_RESUMABLE
        #define HEADRACE_RESUMABLE 0
    #endif
    #if HEADRACE_PHASES < 1 || HEADRACE_PHASES > 8 || HEADRACE_RESUMABLE >= HEADRACE_KINDS ||                \
        ((HEADRACE_RANGES >> HEADRACE_RESUMABLE) & 1)
        #error HEADRACE_RESUMABLE is a kind that is no range, of 1 to 8 HEADRACE_PHASES
    #endif
#endif
// Kinds that lanes hold.
#define HR_LANE_BIT(kind) (kind < HEADRACE_KINDS && !((HEADRACE_RANGES >> kind) & 1))
#define HR_LANE_KINDS                                                                                      \
    (HR_LANE_BIT(0) + HR_LANE_BIT(1) + HR_LANE_BIT(2) + HR_LANE_BIT(3) + HR_LANE_BIT(4) +          \
     HR_LANE_BIT(5) + HR_LANE_BIT(6) + HR_LANE_BIT(7))

// The result of the user's hr_seed and hr_expand: whether the index has a unit.
#ifdef HEADRACE_GAPS
    #define HR_MADE(call) (call)
#else
    #define HR_MADE(call) ((call), true)
#endif

typedef char hr_the_host_knows_the_units_size[sizeof(HrUnit) == 4 * HEADRACE_UNIT_WORDS ? 1 : -1];

// Whether a kind is one of ranges, and the kind that it expands to.
HR_FUNCTION bool hr_is_range(uint kind) { return ((uint)HEADRACE_RANGES >> kind & 1u) != 0; }
HR_FUNCTION uint hr_range_of(uint kind) { return (uint)HEADRACE_RANGE_OF >> 4u * kind & 15u; }

// A unit as the queues move it. This is a union, because the compiler may assume that a uint and a struct do
// not share memory.
typedef union HrWords {
    HrUnit unit;
    uint word[HEADRACE_UNIT_WORDS];
} HrWords;

#if HEADRACE_RANGES
// A range begins with two ulongs: its first index, and the index past its last.
HR_FUNCTION ulong hr_begin_of(HrUnit unit) {
    HrWords words;
    words.unit = unit;
    return words.word[0] | (ulong)words.word[1] << 32;
}
HR_FUNCTION ulong hr_end_of(HrUnit unit) {
    HrWords words;
    words.unit = unit;
    return words.word[2] | (ulong)words.word[3] << 32;
}
HR_FUNCTION HrUnit hr_with_begin(HrUnit unit, ulong begin) {
    HrWords words;
    words.unit = unit;
    words.word[0] = (uint)begin;
    words.word[1] = (uint)(begin >> 32);
    return words.unit;
}
HR_FUNCTION HrUnit hr_with_end(HrUnit unit, ulong end) {
    HrWords words;
    words.unit = unit;
    words.word[2] = (uint)end;
    words.word[3] = (uint)(end >> 32);
    return words.unit;
}
#endif

// What a lane holds while its group runs: its unit and the units that the kernel has spawned.
#ifdef HEADRACE_BY_GROUP
typedef struct HrLane HrLane;
#endif
struct HrLane {
    HrUnit unit; // the unit to run, or the continuation
    uint running;
    bool continues; // `unit` is a continuation
    uint staged;    // units spawned beyond the continuation; more than HR_STAGED: too many
    uint kinds[HR_PLACES];
    HrUnit units[HR_PLACES];
};

// Lanes may call this under divergence, so it only stages in the lane. The group collects when all lanes are
// back.
HR_FUNCTION void hr_stage(HrLane* lane, uint kind, const void* unit) {
    const HrUnit* spawned = (const HrUnit*)unit;
#if HEADRACE_RANGES
    if (hr_is_range(kind) && hr_begin_of(*spawned) >= hr_end_of(*spawned)) return; // no empty ranges
#endif
    const uint others = lane->staged + (lane->continues ? 1 : 0);
    if (others >= HEADRACE_MAX_SPAWNS || kind >= HEADRACE_KINDS) {
        lane->staged = HR_STAGED + 1; // the group reports it
    } else if (kind == lane->running && !lane->continues) {
        lane->unit = *spawned;
        lane->continues = true;
    } else {
        lane->kinds[lane->staged] = kind;
        lane->units[lane->staged] = *spawned;
        ++lane->staged;
    }
}
#ifndef HEADRACE_BY_GROUP
void hr_spawn(HrLane* lane, uint kind, const void* unit) { hr_stage(lane, kind, unit); }
#endif

#if HEADRACE_RANGES
void hr_spawn_range(HR_HANDLE* lane, uint kind, ulong begin, ulong end, const void* unit) {
    const HrUnit range = hr_with_begin(hr_with_end(*(const HrUnit*)unit, end), begin);
    hr_spawn(lane, kind, &range);
}
#endif

// ---- columns of words

HR_FUNCTION HrUnit hr_read_column(const __global uint* from, uint row, uint column) {
    HrWords words;
    for (uint w = 0; w < HEADRACE_UNIT_WORDS; ++w) words.word[w] = from[w * row + column];
    return words.unit;
}
HR_FUNCTION void hr_write_column(__global uint* to, uint row, uint column, HrUnit unit) {
    HrWords words;
    words.unit = unit;
    for (uint w = 0; w < HEADRACE_UNIT_WORDS; ++w) to[w * row + column] = words.word[w];
}

// The LIQ: a deque for each kind. Positions count modulo 2^32 (liq.hpp).
HR_FUNCTION __local uint* hr_liq_column(__local uint* liq, uint liq_units, uint kind, uint position) {
    return liq + kind * HEADRACE_UNIT_WORDS * liq_units + (position & (liq_units - 1u));
}
HR_FUNCTION HrUnit hr_liq_read(__local uint* liq, uint liq_units, uint kind, uint position) {
    const __local uint* column = hr_liq_column(liq, liq_units, kind, position);
    HrWords words;
    for (uint w = 0; w < HEADRACE_UNIT_WORDS; ++w) words.word[w] = column[w * liq_units];
    return words.unit;
}
HR_FUNCTION void hr_liq_write(__local uint* liq, uint liq_units, uint kind, uint position, HrUnit unit) {
    __local uint* column = hr_liq_column(liq, liq_units, kind, position);
    HrWords words;
    words.unit = unit;
    for (uint w = 0; w < HEADRACE_UNIT_WORDS; ++w) column[w * liq_units] = words.word[w];
}

HR_FUNCTION __global uint* hr_bundle(__global uint* bundles, uint bundle) {
    return bundles + hr_bundle_at(bundle, HEADRACE_QUEUE_LANES, HEADRACE_UNIT_WORDS);
}
HR_FUNCTION __global uint* hr_record_columns(__global HrRecord* record, uint liq_units, uint kind) {
    return (__global uint*)(record + 1) +
           kind * HEADRACE_UNIT_WORDS * hr_record_room(HEADRACE_QUEUE_LANES, liq_units, 0);
}
