// persistent/opencl/atomics.cl - atomic operations on data that many lanes share: atomics.hpp in OpenCL C.
//
// T is int, uint, long, ulong, float, or double if the device has it. Each function returns the old value:
//     T hr_atomic_load_T(__global T* at)
//     T hr_atomic_add_T(__global T* at, T amount)
//     T hr_atomic_min_T(__global T* at, T value)
//     T hr_atomic_max_T(__global T* at, T value)
//     T hr_atomic_exchange_T(__global T* at, T value)
//     T hr_atomic_compare_exchange_T(__global T* at, T expected, T desired)
// For integers alone:
//     T hr_atomic_and_T(__global T* at, T bits), hr_atomic_or_T, hr_atomic_xor_T
//
// All are relaxed: they order no other reads or writes. Minimum and maximum ignore NaN: a NaN changes
// nothing, and any number replaces a NaN. -0 is less than +0. A compare-exchange of floating-point values
// compares their bits.
//
// A user's operation on a type of 4 or 8 bytes:
//     Nearest nearer(Nearest a, Nearest b) { return ...; }
//     HR_DEFINE_COMBINE(hr_combine_nearest, Nearest, ulong, nearer)    // uint for 4 bytes
// This defines Nearest hr_combine_nearest(__global Nearest* at, Nearest value). It stores nearer(*at, value).
// A user's operation on a type of another size (domains/detail/reduction_slots.hpp):
//     HR_DEFINE_SLOT_COMBINE(combine_summary, Summary, summarise)
// This defines void combine_summary(__global uchar* origin, ulong slots, ulong slot_bytes, ulong i, Summary
// value). Its first arguments are those of `task.reduce<Op>(x).slots`: buffer(task.memory(x)),
// value(slots.count), value(slots.bytes).
#ifdef cl_khr_int64_extended_atomics
    #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

#define HR_DEFINE_ATOMICS(T, BUILT_IN) \
    HR_FUNCTION T hr_atomic_load_##T(__global T* at) { \
        return atomic_load_explicit((volatile __global atomic_##T*)at, memory_order_relaxed, \
                                    memory_scope_device); \
    } \
    HR_FUNCTION T hr_atomic_add_##T(__global T* at, T amount) { return BUILT_IN##_add(at, amount); } \
    HR_FUNCTION T hr_atomic_exchange_##T(__global T* at, T value) { return BUILT_IN##_xchg(at, value); } \
    HR_FUNCTION T hr_atomic_compare_exchange_##T(__global T* at, T expected, T desired) { \
        return BUILT_IN##_cmpxchg(at, expected, desired); \
    }
HR_DEFINE_ATOMICS(int, atomic)
HR_DEFINE_ATOMICS(uint, atomic)
HR_DEFINE_ATOMICS(long, atom)
HR_DEFINE_ATOMICS(ulong, atom)

#define HR_DEFINE_EXTENDED_ATOMICS(T, BUILT_IN) \
    HR_FUNCTION T hr_atomic_min_##T(__global T* at, T value) { return BUILT_IN##_min(at, value); } \
    HR_FUNCTION T hr_atomic_max_##T(__global T* at, T value) { return BUILT_IN##_max(at, value); } \
    HR_FUNCTION T hr_atomic_and_##T(__global T* at, T bits) { return BUILT_IN##_and(at, bits); } \
    HR_FUNCTION T hr_atomic_or_##T(__global T* at, T bits) { return BUILT_IN##_or(at, bits); } \
    HR_FUNCTION T hr_atomic_xor_##T(__global T* at, T bits) { return BUILT_IN##_xor(at, bits); }

// WORD: the unsigned type of T's size. WANTED: an expression of `seen` and `value`, both of type T.
#define HR_DEFINE_ATOMIC(NAME, T, WORD, WANTED) \
    HR_FUNCTION T NAME(__global T* at, T value) { \
        union { \
            T value; \
            WORD word; \
        } old, wanted; \
        old.word = hr_atomic_load_##WORD((__global WORD*)at); \
        for (;;) { \
            const T seen = old.value; \
            wanted.value = WANTED; \
            if (wanted.word == old.word) return seen; \
            const WORD before = \
                hr_atomic_compare_exchange_##WORD((__global WORD*)at, old.word, wanted.word); \
            if (before == old.word) return seen; \
            old.word = before; \
        } \
    }
#define HR_DEFINE_COMBINE(NAME, T, WORD, OPERATION) HR_DEFINE_ATOMIC(NAME, T, WORD, OPERATION(seen, value))
// The states of a slot are those of C++: 0 empty, 1 taken, 2 full.
#define HR_DEFINE_SLOT_COMBINE(NAME, T, OPERATION) \
    typedef struct { \
        uint state; \
        T value; \
    } NAME##_place; \
    HR_FUNCTION void NAME(__global uchar* origin, ulong slots, ulong slot_bytes, ulong i, T value) { \
        bool is_done = false; \
        for (ulong slot = get_global_id(0) % slots; !is_done; slot = slot + 1 == slots ? 0 : slot + 1) { \
            __global NAME##_place* place = \
                (__global NAME##_place*)(origin + slot * slot_bytes) + i; \
            const uint before = hr_atomic_exchange_uint(&place->state, 1u); \
            if (before == 1u) continue; \
            mem_fence(CLK_GLOBAL_MEM_FENCE); \
            place->value = before == 2u ? OPERATION(place->value, value) : value; \
            mem_fence(CLK_GLOBAL_MEM_FENCE); \
            hr_atomic_exchange_uint(&place->state, 2u); \
            is_done = true; \
        } \
    }

HR_DEFINE_EXTENDED_ATOMICS(int, atomic)
HR_DEFINE_EXTENDED_ATOMICS(uint, atomic)
#ifdef cl_khr_int64_extended_atomics
HR_DEFINE_EXTENDED_ATOMICS(long, atom)
HR_DEFINE_EXTENDED_ATOMICS(ulong, atom)
#else
    #define HR_DEFINE_WITHOUT_BUILT_IN(T) \
        HR_DEFINE_ATOMIC(hr_atomic_min_##T, T, ulong, min(seen, value)) \
        HR_DEFINE_ATOMIC(hr_atomic_max_##T, T, ulong, max(seen, value)) \
        HR_DEFINE_ATOMIC(hr_atomic_and_##T, T, ulong, seen & value) \
        HR_DEFINE_ATOMIC(hr_atomic_or_##T, T, ulong, seen | value) \
        HR_DEFINE_ATOMIC(hr_atomic_xor_##T, T, ulong, seen ^ value)
HR_DEFINE_WITHOUT_BUILT_IN(long)
HR_DEFINE_WITHOUT_BUILT_IN(ulong)
#endif

// Floating point. SIGNED: the signed integer of T's size. The functions look at bits, so compiler options
// cannot remove NaN, -0 or subnormal numbers.
#define HR_DEFINE_FLOATING_ATOMICS(T, SIGNED, WORD, INFINITY_BITS) \
    HR_FUNCTION bool hr_is_nan_##T(T value) { return (as_##WORD(value) & ~(WORD)0 >> 1) > INFINITY_BITS; } \
    HR_FUNCTION SIGNED hr_ordered_##T(T value) { \
        const SIGNED bits = as_##SIGNED(value); \
        return bits < 0 ? bits ^ (SIGNED)(~(WORD)0 >> 1) : bits; \
    } \
    HR_FUNCTION T hr_lesser_##T(T a, T b) { \
        return hr_is_nan_##T(a)                                              ? b \
               : hr_is_nan_##T(b) || hr_ordered_##T(a) <= hr_ordered_##T(b) ? a \
                                                                            : b; \
    } \
    HR_FUNCTION T hr_greater_##T(T a, T b) { \
        return hr_is_nan_##T(a)                                              ? b \
               : hr_is_nan_##T(b) || hr_ordered_##T(a) >= hr_ordered_##T(b) ? a \
                                                                            : b; \
    } \
    HR_FUNCTION T hr_atomic_load_##T(__global T* at) { \
        return as_##T(hr_atomic_load_##WORD((__global WORD*)at)); \
    } \
    HR_FUNCTION T hr_atomic_exchange_##T(__global T* at, T value) { \
        return as_##T(hr_atomic_exchange_##WORD((__global WORD*)at, as_##WORD(value))); \
    } \
    HR_FUNCTION T hr_atomic_compare_exchange_##T(__global T* at, T expected, T desired) { \
        return as_##T(hr_atomic_compare_exchange_##WORD((__global WORD*)at, as_##WORD(expected), \
                                                        as_##WORD(desired))); \
    } \
    HR_DEFINE_ATOMIC(hr_atomic_min_##T, T, WORD, hr_lesser_##T(seen, value)) \
    HR_DEFINE_ATOMIC(hr_atomic_max_##T, T, WORD, hr_greater_##T(seen, value))
HR_DEFINE_FLOATING_ATOMICS(float, int, uint, 0x7f800000u)
#ifdef HEADRACE_PTX
HR_FUNCTION float hr_atomic_add_float(__global float* at, float amount) {
    float before;
    asm volatile("atom.global.add.f32 %0, [%1], %2;"
                 : "=f"(before)
                 : "l"((ulong)at), "f"(amount)
                 : "memory");
    return before;
}
#else
HR_DEFINE_ATOMIC(hr_atomic_add_float, float, uint, seen + value)
#endif

#if defined(cl_khr_fp64) || defined(__opencl_c_fp64)
HR_DEFINE_FLOATING_ATOMICS(double, long, ulong, 0x7ff0000000000000ul)
    #ifdef HEADRACE_PTX
HR_FUNCTION double hr_atomic_add_double(__global double* at, double amount) {
    double before;
    asm volatile("atom.global.add.f64 %0, [%1], %2;"
                 : "=d"(before)
                 : "l"((ulong)at), "d"(amount)
                 : "memory");
    return before;
}
    #else
HR_DEFINE_ATOMIC(hr_atomic_add_double, double, ulong, seen + value)
    #endif
#endif
