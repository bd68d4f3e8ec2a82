// devices/kernels/shared_c.h - functions that are written once for C++, CUDA, HIP and OpenCL C, in the C that
// all four read. docs/kernel.md says how a program uses it.
//
//     #include <headrace/devices/kernels/shared_c.h>
//     HEADRACE_NAMESPACE(heat)
//     HEADRACE_FUNCTION float flow(float here, float there) { return 0.25f * (there - here); }
//     HEADRACE_END_NAMESPACE
//
// Such a function has pointers instead of references, structs without members that are functions, and no
// templates. Names of OpenCL C's built-in functions (`distance`, `step`, `half`) mean something else there.
#ifndef HEADRACE_DEVICES_KERNELS_SHARED_C_H
#define HEADRACE_DEVICES_KERNELS_SHARED_C_H

#ifdef __OPENCL_C_VERSION__

typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;

    #define HEADRACE_FUNCTION static inline
    /// Before a function that takes registers that its callers need.
    #define HEADRACE_FUNCTION_APART __attribute__((noinline))
    #define HEADRACE_NAMESPACE(name)
    #define HEADRACE_END_NAMESPACE
    #define HEADRACE_USING(name)
    /// Before the target of a pointer into the arrays of a job: their address space in OpenCL C.
    #define HEADRACE_GLOBAL __global
    /// The type of a parameter or a variable that is `T` in OpenCL C. In C++ it is whatever comes, as by
    /// `auto`: one function then serves several views of a kernel.
    #define HEADRACE_ANY(T) T
    /// The type of a parameter that is read as an array: a View<const T> in C++, a pointer in OpenCL C.
    #define HEADRACE_ELEMENTS(T) __global const T*
    /// The type of a variable that is one element of these, for functions that take a pointer to a T. In C++
    /// it is the element itself, so that only what they use is loaded; in OpenCL C a copy.
    #define HEADRACE_ELEMENT(T) const T
    /// `if constexpr` in C++. OpenCL C compiles what depends on it in any case.
    #define HEADRACE_IF_CONSTEXPR if
    /// An argument for a parameter of type HEADRACE_ANY(T): C++ compiles the function for each value, like a
    /// template.
    #define HEADRACE_CONSTANT(T, value) (value)

    // Instead of casts and of `?:`, in functions that take batches of numbers too (docs/vectors.md).
    #define float_of(number) ((float)(number))
    #define uint_of(number) ((uint32_t)(number))
    #define int_of(number) ((int32_t)(number))
    #define choose(condition, a, b) ((condition) ? (a) : (b))
    /// All 64 bits of a product of two words, and its halves.
    #define product_of(a, b) ((uint64_t)(a) * (b))
    #define upper_of(product) ((uint32_t)((product) >> 32))
    #define lower_of(product) ((uint32_t)(product))

#else

    #include <headrace/devices/kernels/macros.hpp>

    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <type_traits>

    #define HEADRACE_FUNCTION HEADRACE_HOST_DEVICE inline
    #define HEADRACE_FUNCTION_APART HEADRACE_HOST_DEVICE inline __attribute__((noinline))
    #define HEADRACE_NAMESPACE(name)                                                                         \
        namespace name {                                                                                     \
        using namespace headrace::shared_c;
    #define HEADRACE_END_NAMESPACE }
    #define HEADRACE_USING(name) using namespace name;
    #define HEADRACE_GLOBAL
    #define HEADRACE_ANY(T) auto
    #define HEADRACE_ELEMENTS(T) const auto&
    #define HEADRACE_ELEMENT(T) const T&
    #define HEADRACE_IF_CONSTEXPR if constexpr
    #define HEADRACE_CONSTANT(T, value) (std::integral_constant<T, value>{})

/// Names of OpenCL C, for functions that C++ reads too.
namespace headrace::shared_c {

using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;

using std::acos;
using std::cbrt;
using std::copysign;
using std::fabs;
using std::floor;
using std::fma;
using std::fmax;
using std::fmin;
using std::log;
using std::log2;
using std::sqrt;

// Not std::bit_cast: CUDA would need an option to call a function of the host.
HEADRACE_FUNCTION uint32_t as_uint(float number) { return __builtin_bit_cast(uint32_t, number); }
HEADRACE_FUNCTION float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// Instead of casts and of `?:`, in functions that take batches of numbers too (docs/vectors.md).
template <class T>
concept Number = std::is_arithmetic_v<T>;

HEADRACE_FUNCTION float float_of(Number auto number) { return static_cast<float>(number); }
HEADRACE_FUNCTION uint32_t uint_of(Number auto number) { return static_cast<uint32_t>(number); }
HEADRACE_FUNCTION int32_t int_of(Number auto number) { return static_cast<int32_t>(number); }
template <Number T>
HEADRACE_FUNCTION T choose(bool condition, T a, std::type_identity_t<T> b) {
    return condition ? a : b;
}

/// All 64 bits of a product of two words, and its halves.
HEADRACE_FUNCTION uint64_t product_of(uint32_t a, uint32_t b) {
    #if defined(__CUDA_ARCH__)
    uint64_t product; // one instruction, also where nvcc makes four of it because a factor is known
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
    #else
    return uint64_t{a} * b;
    #endif
}
HEADRACE_FUNCTION uint32_t upper_of(uint64_t product) { return static_cast<uint32_t>(product >> 32); }
HEADRACE_FUNCTION uint32_t lower_of(uint64_t product) { return static_cast<uint32_t>(product); }

} // namespace headrace::shared_c

#endif

#endif
