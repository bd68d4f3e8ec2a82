// tests/domains/values.cl - values.kernels.hpp in OpenCL C, with one way only to combine values.
#define HEADRACE_PARAMETERS __global ValueTable* table
#define HEADRACE_ARGUMENTS table
#define CELLS 4

#define DEFINE_SLOTS(T, NAME, ADDED, COMPARED) \
    typedef struct { \
        T sum, least, greatest, held, passed, count, reduced_least, reduced_greatest; \
    } NAME; \
    void use_##T##_slots(__global NAME* slots, ulong word) { \
        const T added = ADDED, compared = COMPARED; \
        hr_atomic_add_##T(&slots->sum, added); \
        hr_atomic_min_##T(&slots->least, compared); \
        hr_atomic_max_##T(&slots->greatest, compared); \
        hr_atomic_add_##T(&slots->passed, hr_atomic_exchange_##T(&slots->held, added)); \
        T seen = hr_atomic_load_##T(&slots->count); \
        for (;;) { \
            const T before = hr_atomic_compare_exchange_##T(&slots->count, seen, seen + 1); \
            if (before == seen) break; \
            seen = before; \
        } \
        hr_atomic_min_##T(&slots->reduced_least, compared); \
        hr_atomic_max_##T(&slots->reduced_greatest, compared); \
    }
DEFINE_SLOTS(long, LongSlots, (long)word, (long)word)
DEFINE_SLOTS(ulong, UlongSlots, word, word)
DEFINE_SLOTS(double, DoubleSlots, (double)(word % 64) * 0.25, as_double(word))
DEFINE_SLOTS(int, IntSlots, (int)(uint)word, (int)(uint)word)
DEFINE_SLOTS(uint, UintSlots, (uint)word, (uint)word)
DEFINE_SLOTS(float, FloatSlots, (float)(word % 64) * 0.25f, as_float((uint)word))

#define DEFINE_BITS(T, NAME, BITS) \
    typedef struct { \
        T all, any, odd, reduced_all, reduced_any, reduced_odd; \
    } NAME; \
    void use_##T##_bits(__global NAME* bits, ulong word) { \
        const T one = (T)1 << word % (BITS - 1); \
        hr_atomic_and_##T(&bits->all, ~one); \
        hr_atomic_or_##T(&bits->any, one); \
        hr_atomic_xor_##T(&bits->odd, (T)word); \
        hr_atomic_and_##T(&bits->reduced_all, ~one); \
        hr_atomic_or_##T(&bits->reduced_any, one); \
        hr_atomic_xor_##T(&bits->reduced_odd, (T)word); \
    }
DEFINE_BITS(long, LongBits, 64)
DEFINE_BITS(uint, UintBits, 32)

typedef struct {
    float distance;
    uint name;
} Hit;
Hit nearer(Hit a, Hit b) {
    return a.distance < b.distance || (a.distance == b.distance && a.name < b.name) ? a : b;
}
HR_DEFINE_COMBINE(combine_nearest, Hit, ulong, nearer)

typedef struct {
    LongSlots longs[CELLS];
    UlongSlots ulongs[CELLS];
    DoubleSlots doubles[CELLS];
    IntSlots ints[CELLS];
    UintSlots uints[CELLS];
    FloatSlots floats[CELLS];
    LongBits long_bits[CELLS];
    UintBits uint_bits[CELLS];
    Hit nearest[CELLS];
    ulong exact_doubles[40 * CELLS], exact_floats[7 * CELLS];
    ulong declared_doubles[2 * CELLS], declared_floats[2 * CELLS];
} ValueTable;

ulong word_of(ulong x) {
    x = (x + 0x9e3779b97f4a7c15ul) * 0xbf58476d1ce4e5b9ul;
    x = (x ^ x >> 27) * 0x94d049bb133111ebul;
    return x ^ x >> 31;
}
ulong term_bits(ulong i, ulong bits, int fraction, int size) {
    const ulong sign = 1ul << (size - 1), fractions = (1ul << fraction) - 1;
    if (i % CELLS == 0)
        return (bits & 1) | 55ul << fraction | fractions >> 1 << 1;
    const ulong exponents = (sign - 1) >> fraction;
    return ((bits & (sign - 1)) >> fraction) > exponents - 32 ? bits ^ 64ul << fraction : bits;
}

void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    const ulong word = word_of(i), cell = i % CELLS;
    use_long_slots(&table->longs[cell], word);
    use_ulong_slots(&table->ulongs[cell], word);
    use_double_slots(&table->doubles[cell], word);
    use_int_slots(&table->ints[cell], word);
    use_uint_slots(&table->uints[cell], word);
    use_float_slots(&table->floats[cell], word);
    use_long_bits(&table->long_bits[cell], word);
    use_uint_bits(&table->uint_bits[cell], word);
    const Hit hit = {(float)(word % 1024), (uint)(word >> 32)};
    combine_nearest(&table->nearest[cell], hit);
    hr_exact_add_double(table->exact_doubles, CELLS, cell, as_double(term_bits(i, word, 52, 64)));
    hr_exact_add_float(table->exact_floats, CELLS, cell,
                       as_float((uint)term_bits(i, word & 0xffffffffu, 23, 32)));
    const float magnitude = (float)(word % (1u << 24)) * (word >> 32 & 1 ? 0x1p+16f : 0x1p-20f);
    const float declared = word >> 33 & 1 ? -magnitude : magnitude;
    hr_exact_add_double_range(table->declared_doubles, CELLS, cell, declared, -20, 39);
    hr_exact_add_float_range(table->declared_floats, CELLS, cell, declared, -20, 39);
}
