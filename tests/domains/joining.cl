// tests/domains/joining.cl - kernels of joining.kernels.hpp in OpenCL C; the name of one of them is defined.
ulong term_bits(ulong i, ulong bits, int fraction, int size) {
    const ulong sign = 1ul << (size - 1), fractions = (1ul << fraction) - 1;
    if (i % 4 == 0) return (bits & 1) | 55ul << fraction | fractions >> 1 << 1;
    const ulong exponents = (sign - 1) >> fraction;
    return ((bits & (sign - 1)) >> fraction) > exponents - 32 ? bits ^ 64ul << fraction : bits;
}

#ifdef REDUCE_WORDS
typedef struct {
    float distance;
    uint name;
} Hit;
Hit nearer(Hit a, Hit b) {
    return a.distance < b.distance || (a.distance == b.distance && a.name < b.name) ? a : b;
}
HR_DEFINE_COMBINE(combine_nearest, Hit, ulong, nearer)

    #define HEADRACE_PARAMETERS \
        __global const ulong *words, ulong cells, __global float *least, __global double *greatest, \
            __global uint *all, __global ulong *any, __global ulong *odd, __global Hit *nearest
    #define HEADRACE_ARGUMENTS words, cells, least, greatest, all, any, odd, nearest
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    const ulong word = words[i], cell = i % cells;
    hr_atomic_min_float(&least[cell], as_float((uint)word));
    hr_atomic_max_double(&greatest[cell], as_double(word));
    hr_atomic_and_uint(&all[cell], ~(1u << word % 23));
    hr_atomic_or_ulong(&any[cell], 1ul << word % 61);
    hr_atomic_xor_ulong(&odd[cell], word);
    const Hit hit = {(float)(word % 1024), (uint)(word >> 32)};
    combine_nearest(&nearest[cell], hit);
}
#endif

#if defined(REDUCE_LEAST) || defined(REDUCE_GREATEST)
    #define HEADRACE_PARAMETERS __global const ulong *from, __global ulong *x, ulong cells
    #define HEADRACE_ARGUMENTS from, x, cells
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    #ifdef REDUCE_LEAST
    hr_atomic_min_ulong(&x[i % cells], from[i]);
    #else
    hr_atomic_max_ulong(&x[i % cells], from[i]);
    #endif
}
#endif

#ifdef ADD_EXACTLY
    #define HEADRACE_PARAMETERS \
        __global const ulong *words, ulong cells, ulong stride, __global ulong *full, __global ulong *floats, \
            __global ulong *declared
    #define HEADRACE_ARGUMENTS words, cells, stride, full, floats, declared
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    const ulong word = words[i], cell = i % cells;
    hr_exact_add_double(full, stride, cell, as_double(term_bits(i, word, 52, 64)));
    hr_exact_add_float(floats, stride, cell, as_float((uint)term_bits(i, word & 0xffffffffu, 23, 32)));
    const double magnitude = (double)(word % (1u << 24)) * (word >> 32 & 1 ? 0x1p+16 : 0x1p-20);
    hr_exact_add_double_range(declared, stride, cell, word >> 33 & 1 ? -magnitude : magnitude, -20, 39);
}
#endif

typedef struct {
    uint unit, number, part;
} Record;

#ifdef APPEND_SOME
    #define HEADRACE_PARAMETERS __global const ulong *words, __global Record *records, ulong capacity
    #define HEADRACE_ARGUMENTS words, records, capacity
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    for (uint number = 0; number < words[i] % 7; ++number) {
        const Record record = {(uint)i, number, (uint)(words[i] >> 32)};
        hr_append(records, capacity, record);
    }
}
#endif

#ifdef LEVEL
    #define HEADRACE_PARAMETERS \
        __global const uint *frontier, ulong frontier_count, ulong units, __global uint *next, ulong capacity, \
            uint vertices
    #define HEADRACE_ARGUMENTS frontier, frontier_count, units, next, capacity, vertices
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    if (frontier_count != units) return;
    const uint neighbours[2] = {2 * frontier[i] + 1, 3 * frontier[i] + 2};
    for (int n = 0; n < 2; ++n)
        if (neighbours[n] < vertices) hr_append(next, capacity, neighbours[n]);
}
#endif

#ifdef SUM_RECORDS
    #define HEADRACE_PARAMETERS __global const Record *records, __global ulong *sums
    #define HEADRACE_ARGUMENTS records, sums
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    hr_atomic_add_ulong(&sums[0], records[i].unit);
    hr_atomic_add_ulong(&sums[1], records[i].number);
    hr_atomic_add_ulong(&sums[2], records[i].part);
}
#endif

#ifdef COPY_RECORDS
    #define HEADRACE_PARAMETERS __global const Record *from, __global Record *to, ulong capacity
    #define HEADRACE_ARGUMENTS from, to, capacity
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) { hr_append(to, capacity, from[i]); }
#endif

#ifdef GROVE
typedef struct {
    uint seed, path;
} HrUnit;
    #define HEADRACE_PARAMETERS \
        __global ulong *greatest, ulong cells, __global ulong *sums, ulong stride, __global HrUnit *leaves, \
            ulong capacity, __global uint *paths, uint depth
    #define HEADRACE_ARGUMENTS greatest, cells, sums, stride, leaves, capacity, paths, depth
ulong word_of(ulong x) {
    x = (x + 0x9e3779b97f4a7c15ul) * 0xbf58476d1ce4e5b9ul;
    x = (x ^ x >> 27) * 0x94d049bb133111ebul;
    return x ^ x >> 31;
}
void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    unit->seed = (uint)index;
    unit->path = 1;
}
void hr_run(HrLane* lane, uint kind, HrUnit unit, HEADRACE_PARAMETERS) {
    const ulong word = word_of((ulong)unit.seed << 32 | unit.path);
    hr_atomic_max_ulong(&greatest[unit.seed % cells], word);
    hr_exact_add_double(sums, stride, unit.seed % cells, as_double(term_bits(1, word, 52, 64)));
    if (unit.path >> depth != 0) {
        paths[((ulong)unit.seed << depth) + unit.path - (1u << depth)] = unit.path;
        hr_append(leaves, capacity, unit);
        return;
    }
    HrUnit below = {unit.seed, 2 * unit.path};
    hr_spawn(lane, kind, &below);
    ++below.path;
    hr_spawn(lane, kind, &below);
}
#endif
