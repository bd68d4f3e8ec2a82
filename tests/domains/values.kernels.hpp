// tests/domains/values.kernels.hpp - every atomic operation, reductions and exact sums, by all lanes on few
// values. For all technologies; values.cl is the same in OpenCL C.
#pragma once
#include <headrace/domains/exact_sum.hpp>
#include <headrace/domains/reduction.hpp>
#include <headrace/persistent/kernel.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace headrace::test {

/// What all lanes did to one value of each operation.
template <class T>
struct Slots {
    T sum = 0;
    T least = Min::identity<T>(), greatest = Max::identity<T>();
    T held = 0, passed = 0; ///< exchanged, and the sum of what came back
    T count = 0;            ///< by compare-exchange
    T reduced_least = least, reduced_greatest = greatest;
};
template <class T>
struct Bits {
    T all = static_cast<T>(~T{0}), any = 0, odd = 0;
    T reduced_all = all, reduced_any = 0, reduced_odd = 0;
};

struct Hit {
    float distance;
    std::uint32_t name;
    bool operator==(const Hit&) const = default;
};
struct Nearest {
    static constexpr Hit identity() { return {std::numeric_limits<float>::infinity(), ~0u}; }
    HEADRACE_KERNEL Hit operator()(Hit a, Hit b) const {
        return a.distance < b.distance || (a.distance == b.distance && a.name < b.name) ? a : b;
    }
};

/// In one device's memory; for each kind of value a few, which many lanes want at once.
struct ValueTable {
    static constexpr std::uint64_t cells = 4;
    using DeclaredRange = ExponentRange<-20, 39>;

    Slots<std::int64_t> longs[cells];
    Slots<std::uint64_t> ulongs[cells];
    Slots<double> doubles[cells];
    Slots<std::int32_t> ints[cells];
    Slots<std::uint32_t> uints[cells];
    Slots<float> floats[cells];
    Bits<std::int64_t> long_bits[cells];
    Bits<std::uint32_t> uint_bits[cells];
    Hit nearest[cells] = {Nearest::identity(), Nearest::identity(), Nearest::identity(), Nearest::identity()};
    // Planes of words.
    std::uint64_t exact_doubles[ExactWords<double, FullRange>::words * cells] = {};
    std::uint64_t exact_floats[ExactWords<float, FullRange>::words * cells] = {};
    std::uint64_t declared_doubles[2 * cells] = {}, declared_floats[2 * cells] = {};
    std::uint16_t any_of_halves[cells] = {}; ///< not in OpenCL C
};
static_assert(std::is_trivially_copyable_v<ValueTable>);

/// Index -> word, without a pattern.
HEADRACE_HOST_DEVICE inline std::uint64_t word_of(std::uint64_t x) {
    x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}
/// What is compared: for floating point anything, NaN and subnormal numbers too.
template <class T>
HEADRACE_HOST_DEVICE T compared(std::uint64_t word) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(word);
    else
        return __builtin_bit_cast(
            T, static_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(word));
}
/// What is added: for floating point such that nothing is rounded.
template <class T>
HEADRACE_HOST_DEVICE T added(std::uint64_t word) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(word);
    else
        return static_cast<T>(word % 64) * T{0.25};
}
/// A term of an exact sum: any number that is not so large that the sum is infinite; in one of the cells all
/// much alike, such that both of their words wrap.
template <class T>
HEADRACE_HOST_DEVICE T term(std::uint64_t i, std::uint64_t word) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr int fraction = sizeof(T) == 4 ? 23 : 52;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1), fractions = (Bits{1} << fraction) - 1;
    auto bits = static_cast<Bits>(word);
    if (i % ValueTable::cells == 0)
        bits = (bits & 1) | Bits{55} << fraction | fractions >> 1 << 1;
    else if ((bits & ~sign) >> fraction > (~sign >> fraction) - 32)
        bits ^= Bits{64} << fraction; // by 2^64 less
    return __builtin_bit_cast(T, bits);
}
/// A term of DeclaredRange, which has 60 bits: a multiple of 2^-20 below 2^20, or of 2^16 below 2^40.
template <class T>
HEADRACE_HOST_DEVICE T declared_term(std::uint64_t word) {
    const T magnitude =
        static_cast<T>(word % (1u << 24)) * (word >> 32 & 1 ? T{65536} : T{0.00000095367431640625});
    return word >> 33 & 1 ? -magnitude : magnitude;
}

struct Values {
    ValueTable* table;

    template <class T>
    HEADRACE_HOST_DEVICE static void use(Slots<T>& slots, std::uint64_t word) {
        atomic_add(slots.sum, added<T>(word));
        atomic_min(slots.least, compared<T>(word));
        atomic_max(slots.greatest, compared<T>(word));
        atomic_add(slots.passed, atomic_exchange(slots.held, added<T>(word)));
        Reduction<T, Min>{&slots.reduced_least, {}}.combine(0, compared<T>(word));
        Reduction<T, Max>{&slots.reduced_greatest, {}}.combine(0, compared<T>(word));
        T seen = atomic_load(slots.count);
        for (;;) {
            const T before = atomic_compare_exchange(slots.count, seen, seen + 1);
            if (before == seen) break;
            seen = before;
        }
    }
    template <class T>
    HEADRACE_HOST_DEVICE static void use(Bits<T>& bits, std::uint64_t word) {
        const T one = static_cast<T>(T{1} << word % (8 * sizeof(T) - 1)), some = static_cast<T>(word);
        atomic_and(bits.all, static_cast<T>(~one));
        atomic_or(bits.any, one);
        atomic_xor(bits.odd, some);
        Reduction<T, BitAnd>{&bits.reduced_all, {}}.combine(0, static_cast<T>(~one));
        Reduction<T, BitOr>{&bits.reduced_any, {}}.combine(0, one);
        Reduction<T, BitXor>{&bits.reduced_odd, {}}.combine(0, some);
    }
    HEADRACE_HOST_DEVICE static Hit hit(std::uint64_t word) {
        return {static_cast<float>(word % 1024), static_cast<std::uint32_t>(word >> 32)};
    }

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const std::uint64_t word = word_of(i), cell = i % ValueTable::cells;
        constexpr Extent extent{{ValueTable::cells, 1, 1}};
        constexpr std::uint64_t stride = ValueTable::cells;
        use(table->longs[cell], word);
        use(table->ulongs[cell], word);
        use(table->doubles[cell], word);
        use(table->ints[cell], word);
        use(table->uints[cell], word);
        use(table->floats[cell], word);
        use(table->long_bits[cell], word);
        use(table->uint_bits[cell], word);
        Reduction<Hit, Nearest>{table->nearest, extent}.combine(cell, hit(word));
        Sum<ExactSum<double>>{table->exact_doubles, extent, stride}.add(cell, term<double>(i, word));
        Sum<ExactSum<float>>{table->exact_floats, extent, stride}.add(cell, term<float>(i, word));
        Sum<ExactSum<double, ValueTable::DeclaredRange>>{table->declared_doubles, extent, stride}.add(
            cell, declared_term<double>(word));
        Sum<ExactSum<float, ValueTable::DeclaredRange>>{table->declared_floats, extent, stride}.add(
            cell, declared_term<float>(word));
        Reduction<std::uint16_t, BitOr>{table->any_of_halves, extent}.combine(
            cell, static_cast<std::uint16_t>(1u << word % 16 & (cell % 2 != 0 ? 0xff0fu : 0x0fffu)));
    }
};

} // namespace headrace::test
