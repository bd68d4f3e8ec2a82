// domains/reduction.hpp - reductions by operations other than addition: the operations, and the view through
// which kernels combine values. Compiled for every technology.
//
// An operation is associative and commutative, and has an identity: a value that changes no other. A user's
// own operation is a struct:
//     struct Hit { float distance; std::uint32_t triangle; };
//     struct Nearest {
//         static constexpr Hit identity() { return {std::numeric_limits<float>::infinity(), ~0u}; }
//         HEADRACE_KERNEL Hit operator()(Hit a, Hit b) const {
//             if (a.distance != b.distance) return a.distance < b.distance ? a : b;
//             return a.triangle < b.triangle ? a : b;
//         }
//     };
// If the operation is exactly associative and commutative, every run has the same result. Nearest is, because
// it also decides between equal distances.
//
// Atomic operations replace values of 1, 2, 4 and 8 bytes. Other sizes are for small domains of at
// most 4096 bytes: each device keeps many partial results of each element there
// (reduction_slots.hpp).
//
// In OpenCL C: hr_atomic_min_float and similar, HR_DEFINE_COMBINE for a user's operations, and
// HR_DEFINE_SLOT_COMBINE for values of other sizes (persistent/opencl/atomics.cl).
#pragma once
#include <headrace/domains/detail/reduction_slots.hpp>
#include <headrace/domains/view.hpp>
#include <headrace/persistent/atomics.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace headrace {

/// The smallest value. Ignores NaN; -0 is less than +0.
struct Min {
    template <AtomicNumber T>
    static constexpr T identity() {
        if constexpr (std::is_floating_point_v<T>)
            return std::numeric_limits<T>::infinity();
        else
            return std::numeric_limits<T>::max();
    }
    template <AtomicNumber T>
    HEADRACE_HOST_DEVICE T operator()(T a, T b) const {
        return lesser_of(a, b);
    }
};

/// The greatest value. Ignores NaN; +0 is greater than -0.
struct Max {
    template <AtomicNumber T>
    static constexpr T identity() {
        if constexpr (std::is_floating_point_v<T>)
            return -std::numeric_limits<T>::infinity();
        else
            return std::numeric_limits<T>::lowest();
    }
    template <AtomicNumber T>
    HEADRACE_HOST_DEVICE T operator()(T a, T b) const {
        return greater_of(a, b);
    }
};

/// Bits that are set in every value.
struct BitAnd {
    template <std::integral T>
    static constexpr T identity() {
        return static_cast<T>(~T{0});
    }
    template <std::integral T>
    HEADRACE_HOST_DEVICE T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};

/// Bits that are set in any value.
struct BitOr {
    template <std::integral T>
    static constexpr T identity() {
        return 0;
    }
    template <std::integral T>
    HEADRACE_HOST_DEVICE T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};

/// Bits that are set in an odd number of values.
struct BitXor {
    template <std::integral T>
    static constexpr T identity() {
        return 0;
    }
    template <std::integral T>
    HEADRACE_HOST_DEVICE T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};

/// True for operations that combine values of type T.
template <class Op, class T>
concept ReductionOperation = std::is_trivially_copyable_v<T> && std::is_empty_v<Op> && requires(T a, T b) {
    { Op{}(a, b) } -> std::same_as<T>;
} &&(
    requires {
        { Op::template identity<T>() } -> std::same_as<T>;
    } ||
    requires {
        { Op::identity() } -> std::same_as<T>;
    });

/// The identity of Op for values of type T.
template <class T, ReductionOperation<T> Op>
constexpr T identity_of() {
    if constexpr (requires { Op::template identity<T>(); })
        return Op::template identity<T>();
    else
        return Op::identity();
}

/// False for operations by which, after some values, most others change nothing. Lanes then only read the
/// element. With other operations (BitXor, a user's own) they would wait for each other, so that in small
/// domains they have slots of their own.
template <class Op>
inline constexpr bool changes_often =
    !(std::same_as<Op, Min> || std::same_as<Op, Max> || std::same_as<Op, BitAnd> || std::same_as<Op, BitOr>);

/// A domain under reduce access: this device's private replica. It begins as identities; any lane combines
/// values into it at any time.
template <class T, ReductionOperation<T> Op>
struct Reduction {
    T* origin = nullptr;
    Extent extent;
    detail::LaneSlots slots = {};
    HEADRACE_BOUNDS

    /// Element i becomes Op{}(element i, value).
    HEADRACE_HOST_DEVICE void combine(std::uint64_t i, T value) const {
        T& at = *slots.own(origin + detail::index_in(*this, i));
        if constexpr (std::same_as<Op, BitXor> && AtomicInteger<T>) {
            atomic_xor(at, value);
        } else if constexpr (AtomicNumber<T> && !changes_often<Op>) {
            // A load costs less than an operation, and after the first values most values change nothing.
            const T seen = atomic_load(at);
            if (detail::to_word(Op{}(seen, value)) == detail::to_word(seen)) return;
            if constexpr (std::same_as<Op, Min>)
                atomic_min(at, value);
            else if constexpr (std::same_as<Op, Max>)
                atomic_max(at, value);
            else if constexpr (std::same_as<Op, BitAnd>)
                atomic_and(at, value);
            else
                atomic_or(at, value);
        } else {
            atomic_update(at, [&](const T& seen) { return Op{}(seen, value); });
        }
    }
    HEADRACE_HOST_DEVICE std::uint64_t size() const { return extent.size(); }
};

/// The same for values that no atomic operation can replace.
///
/// Cost: two atomic operations and two fences for each value, on memory that other lanes rarely use.
template <class T, ReductionOperation<T> Op>
requires(!AtomicValue<T>) struct Reduction<T, Op> {
    detail::ReductionSlots<T> slots;
    Extent extent;
    HEADRACE_BOUNDS

    /// Element i becomes Op{}(element i, value).
    HEADRACE_HOST_DEVICE void combine(std::uint64_t i, const T& value) const {
        slots.combine(detail::index_in(*this, i), value, Op{});
    }
    HEADRACE_HOST_DEVICE std::uint64_t size() const { return extent.size(); }
};

} // namespace headrace
