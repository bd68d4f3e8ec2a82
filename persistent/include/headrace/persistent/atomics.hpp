// persistent/atomics.hpp - atomic operations on data that many lanes of one device share, in every
// technology.
//
// All are relaxed: they order no other reads or writes. Their scope is the device. Each returns the old
// value. A value must be aligned to its size, as the elements of a domain are.
//
// `atomic_min` and `atomic_max` ignore NaN: a NaN changes nothing, and any number replaces a NaN. -0 is less
// than +0, so the result does not depend on the order. The other operations compare floating-point values
// by their bits.
//
// On CUDA, a `float` addition treats subnormal numbers as zero. All other operations here keep them.
//
// The same operations in OpenCL C: opencl/atomics.cl.
#pragma once
#include <headrace/persistent/kernel.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    #define HEADRACE_ATOMICS_OF_GPU 1
#else
    #define HEADRACE_ATOMICS_OF_GPU 0
    #include <atomic>
#endif

namespace headrace {

/// Integers of 32 and 64 bits.
template <class T>
concept AtomicInteger = std::is_integral_v<T> &&(sizeof(T) == 4 || sizeof(T) == 8);
/// Numbers with their own atomic operations: the integers above, float and double.
template <class T>
concept AtomicNumber = AtomicInteger<T> || std::same_as<T, float> || std::same_as<T, double>;
/// Values that `atomic_load`, `atomic_compare_exchange` and `atomic_update` accept.
template <class T>
concept AtomicValue = std::is_trivially_copyable_v<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

namespace detail {

/// The bits of a T, as an integer type that the built-ins of every GPU accept.
template <class T>
using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned int>;

template <AtomicValue T>
HEADRACE_HOST_DEVICE inline Word<T> to_word(const T& value) {
    Word<T> word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
}
template <AtomicValue T>
HEADRACE_HOST_DEVICE inline T from_word(Word<T> word) {
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

// These look at bits, so compiler options for fast arithmetic cannot remove NaN, -0 or subnormal numbers.
template <class T>
HEADRACE_HOST_DEVICE inline bool is_negative(T value) {
    return static_cast<std::make_signed_t<Word<T>>>(to_word(value)) < 0;
}
template <class T>
HEADRACE_HOST_DEVICE inline bool is_nan(T value) {
    constexpr Word<T> infinity = sizeof(T) == 4 ? Word<T>{0x7f800000u} : Word<T>(0x7ffull << 52);
    return (to_word(value) & ~(Word<T>{1} << (8 * sizeof(T) - 1))) > infinity;
}
/// Maps numbers to integers that have the same order.
template <class T>
HEADRACE_HOST_DEVICE inline auto ordered(T value) {
    if constexpr (std::is_integral_v<T>) {
        return value;
    } else {
        using Signed = std::make_signed_t<Word<T>>;
        const auto word = static_cast<Signed>(to_word(value));
        // No branch: signs may be random.
        const auto sign = static_cast<Word<T>>(word >> (8 * sizeof(T) - 1));
        return static_cast<Signed>(static_cast<Word<T>>(word) ^ sign >> 1);
    }
}

} // namespace detail

/// The lesser and the greater of two numbers, with the above rules for NaN and -0.
template <AtomicNumber T>
HEADRACE_HOST_DEVICE inline T lesser_of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (detail::is_nan(a)) return b;
        if (detail::is_nan(b)) return a;
    }
    return detail::ordered(b) < detail::ordered(a) ? b : a;
}
template <AtomicNumber T>
HEADRACE_HOST_DEVICE inline T greater_of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (detail::is_nan(a)) return b;
        if (detail::is_nan(b)) return a;
    }
    return detail::ordered(a) < detail::ordered(b) ? b : a;
}

#if HEADRACE_ATOMICS_OF_GPU
namespace detail {

template <class T>
__device__ inline Word<T>* word_at(T& at) {
    return reinterpret_cast<Word<T>*>(&at);
}
__device__ inline unsigned int load_word(const unsigned int* at) {
    #if defined(__CUDA_ARCH__)
    unsigned int word;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
    #else
    return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    #endif
}
__device__ inline unsigned long long load_word(const unsigned long long* at) {
    #if defined(__CUDA_ARCH__)
    unsigned long long word;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
    #else
    return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    #endif
}

/// One or two bytes, as a part of the four-byte word that holds them.
template <class T>
struct PartOfWord {
    unsigned int* word;
    unsigned int shift, mask;

    __device__ explicit PartOfWord(const T& at) {
        const auto address = reinterpret_cast<std::uintptr_t>(&at);
        word = reinterpret_cast<unsigned int*>(address & ~std::uintptr_t{3});
        shift = static_cast<unsigned int>(address & 3) * 8;
        mask = ((1u << 8 * sizeof(T)) - 1) << shift;
    }
    __device__ unsigned int load() const { return (load_word(word) & mask) >> shift; }
    __device__ unsigned int compare_exchange(unsigned int expected, unsigned int desired) const {
        unsigned int seen = load_word(word);
        for (;;) {
            if ((seen & mask) >> shift != expected) return (seen & mask) >> shift;
            const unsigned int before = ::atomicCAS(word, seen, (seen & ~mask) | desired << shift);
            if (before == seen) return expected;
            seen = before; // a neighbour in the word may have changed: try again
        }
    }
};

/// The integer type with T's size and signedness that the built-ins for minimum and maximum accept.
template <class T>
using Ordered = std::conditional_t<std::is_signed_v<T>, std::make_signed_t<Word<T>>, Word<T>>;

template <class Integer>
__device__ inline Integer min_at(Integer* at, Integer value) {
    #if defined(__CUDA_ARCH__)
    return ::atomicMin(at, value);
    #else
    return __hip_atomic_fetch_min(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    #endif
}
template <class Integer>
__device__ inline Integer max_at(Integer* at, Integer value) {
    #if defined(__CUDA_ARCH__)
    return ::atomicMax(at, value);
    #else
    return __hip_atomic_fetch_max(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    #endif
}

} // namespace detail
#else
namespace detail {

// The integer type that a value is accessed as. std::atomic_ref of a structure of two four-byte words would
// call a library function, because the type does not say that it is aligned to eight bytes.
template <std::size_t Size>
struct HostWord;
template <>
struct HostWord<1> {
    using Type [[gnu::may_alias]] = std::uint8_t;
};
template <>
struct HostWord<2> {
    using Type [[gnu::may_alias]] = std::uint16_t;
};
template <>
struct HostWord<4> {
    using Type [[gnu::may_alias]] = std::uint32_t;
};
template <>
struct HostWord<8> {
    using Type [[gnu::may_alias]] = std::uint64_t;
};
template <class T>
auto* host_word_at(T& at) {
    using Word = typename HostWord<sizeof(T)>::Type;
    return reinterpret_cast<Word*>(&at);
}

} // namespace detail
#endif

template <AtomicValue T>
HEADRACE_HOST_DEVICE inline T atomic_load(const T& at) {
#if HEADRACE_ATOMICS_OF_GPU
    if constexpr (sizeof(T) < 4)
        return detail::from_word<T>(detail::PartOfWord<T>(at).load());
    else
        return detail::from_word<T>(detail::load_word(reinterpret_cast<const detail::Word<T>*>(&at)));
#else
    return detail::from_word<T>(__atomic_load_n(detail::host_word_at(const_cast<T&>(at)), __ATOMIC_RELAXED));
#endif
}

template <AtomicNumber T>
HEADRACE_HOST_DEVICE inline T atomic_exchange(T& at, std::type_identity_t<T> value) {
#if HEADRACE_ATOMICS_OF_GPU
    return detail::from_word<T>(::atomicExch(detail::word_at(at), detail::to_word(value)));
#else
    return std::atomic_ref<T>(at).exchange(value, std::memory_order_relaxed);
#endif
}

/// Stores `desired` if the old value has the bits of `expected`. The returned value then has them too.
template <AtomicValue T>
HEADRACE_HOST_DEVICE inline T atomic_compare_exchange(T& at, std::type_identity_t<T> expected,
                                                      std::type_identity_t<T> desired) {
#if HEADRACE_ATOMICS_OF_GPU
    const auto from = detail::to_word<T>(expected), to = detail::to_word<T>(desired);
    if constexpr (sizeof(T) < 4)
        return detail::from_word<T>(detail::PartOfWord<T>(at).compare_exchange(from, to));
    else
        return detail::from_word<T>(::atomicCAS(detail::word_at(at), from, to));
#else
    auto* const word = detail::host_word_at(at);
    auto seen = static_cast<std::remove_reference_t<decltype(*word)>>(detail::to_word<T>(expected));
    __atomic_compare_exchange_n(word, &seen, static_cast<decltype(seen)>(detail::to_word<T>(desired)), false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return detail::from_word<T>(seen);
#endif
}

/// Replaces the value by `change(value)`. May call `change` several times. Stores nothing if the new value
/// has the same bits.
template <AtomicValue T, class Change>
HEADRACE_HOST_DEVICE inline T atomic_update(T& at, const Change& change) {
    T seen = atomic_load(at);
    for (;;) {
        const T wanted = change(seen);
        if (detail::to_word(wanted) == detail::to_word(seen)) return seen;
        const T before = atomic_compare_exchange(at, seen, wanted);
        if (detail::to_word(before) == detail::to_word(seen)) return seen;
        seen = before;
    }
}

/// Adds `amount`. Integers wrap around.
template <AtomicNumber T>
HEADRACE_HOST_DEVICE inline T atomic_add(T& at, std::type_identity_t<T> amount) {
#if HEADRACE_ATOMICS_OF_GPU
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(::atomicAdd(detail::word_at(at), static_cast<detail::Word<T>>(amount)));
    else
        return ::atomicAdd(&at, amount);
#else
    return std::atomic_ref<T>(at).fetch_add(amount, std::memory_order_relaxed);
#endif
}

template <AtomicNumber T>
HEADRACE_HOST_DEVICE inline T atomic_min(T& at, std::type_identity_t<T> value) {
#if HEADRACE_ATOMICS_OF_GPU
    if constexpr (std::is_integral_v<T>) {
        using Integer = detail::Ordered<T>;
        return static_cast<T>(detail::min_at(reinterpret_cast<Integer*>(&at), static_cast<Integer>(value)));
    } else {
        using Word = detail::Word<T>;
        using Integer = std::make_signed_t<Word>;
        if (detail::is_nan(value)) return atomic_load(at);
        // If at least one number is not negative, the bits have the order of signed integers. If at least one
        // is negative, the bits have the opposite order of unsigned integers.
        const Word word = detail::to_word(value);
        const Word before = detail::is_negative(value)
                                ? detail::max_at(detail::word_at(at), word)
                                : static_cast<Word>(detail::min_at(reinterpret_cast<Integer*>(&at),
                                                                   static_cast<Integer>(word)));
        const T old = detail::from_word<T>(before);
        // The bits of some NaNs win this comparison and stay in place. The update replaces them.
        if (detail::is_nan(old)) atomic_update(at, [&](T seen) { return lesser_of(seen, value); });
        return old;
    }
#else
    return atomic_update(at, [&](T seen) { return lesser_of(seen, value); });
#endif
}

template <AtomicNumber T>
HEADRACE_HOST_DEVICE inline T atomic_max(T& at, std::type_identity_t<T> value) {
#if HEADRACE_ATOMICS_OF_GPU
    if constexpr (std::is_integral_v<T>) {
        using Integer = detail::Ordered<T>;
        return static_cast<T>(detail::max_at(reinterpret_cast<Integer*>(&at), static_cast<Integer>(value)));
    } else {
        using Word = detail::Word<T>;
        using Integer = std::make_signed_t<Word>;
        if (detail::is_nan(value)) return atomic_load(at);
        const Word word = detail::to_word(value); // as in `atomic_min`
        const Word before = detail::is_negative(value)
                                ? detail::min_at(detail::word_at(at), word)
                                : static_cast<Word>(detail::max_at(reinterpret_cast<Integer*>(&at),
                                                                   static_cast<Integer>(word)));
        const T old = detail::from_word<T>(before);
        if (detail::is_nan(old)) atomic_update(at, [&](T seen) { return greater_of(seen, value); });
        return old;
    }
#else
    return atomic_update(at, [&](T seen) { return greater_of(seen, value); });
#endif
}

template <AtomicInteger T>
HEADRACE_HOST_DEVICE inline T atomic_and(T& at, std::type_identity_t<T> bits) {
#if HEADRACE_ATOMICS_OF_GPU
    return static_cast<T>(::atomicAnd(detail::word_at(at), static_cast<detail::Word<T>>(bits)));
#else
    return std::atomic_ref<T>(at).fetch_and(bits, std::memory_order_relaxed);
#endif
}
template <AtomicInteger T>
HEADRACE_HOST_DEVICE inline T atomic_or(T& at, std::type_identity_t<T> bits) {
#if HEADRACE_ATOMICS_OF_GPU
    return static_cast<T>(::atomicOr(detail::word_at(at), static_cast<detail::Word<T>>(bits)));
#else
    return std::atomic_ref<T>(at).fetch_or(bits, std::memory_order_relaxed);
#endif
}
template <AtomicInteger T>
HEADRACE_HOST_DEVICE inline T atomic_xor(T& at, std::type_identity_t<T> bits) {
#if HEADRACE_ATOMICS_OF_GPU
    return static_cast<T>(::atomicXor(detail::word_at(at), static_cast<detail::Word<T>>(bits)));
#else
    return std::atomic_ref<T>(at).fetch_xor(bits, std::memory_order_relaxed);
#endif
}

} // namespace headrace
