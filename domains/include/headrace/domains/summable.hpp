// domains/summable.hpp - which element types can be summed up. They are the same on every technology, and
// this file is compiled for all of them.
#pragma once
#include <headrace/core/number_type.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace headrace {
namespace detail {

/// Converts to T itself, and to no type that a T could be converted to.
template <class T>
struct Exactly {
    template <std::same_as<T> U>
    constexpr operator U() const;
};

template <class T, class Scalar, std::size_t... I>
consteval bool is_made_of(std::index_sequence<I...>) {
    return requires { T{((void)I, Exactly<Scalar>{})...}; };
}

/// False if a struct is found to have members of other types than Scalar. A struct with constructors or more
/// than 64 members cannot be checked: the result is true.
template <class T, class Scalar>
consteval bool has_only() {
    constexpr std::size_t count = sizeof(T) / sizeof(Scalar);
    if constexpr (std::is_aggregate_v<T> && count <= 64)
        return is_made_of<T, Scalar>(std::make_index_sequence<count>{});
    else
        return true;
}

} // namespace detail

/// A number that every technology adds atomically.
template <class T>
concept SummableNumber = number_type<T>()
!= NumberType::none;

namespace detail {
/// A struct of such numbers, all of the type that it names Scalar.
template <class T>
consteval bool is_summable_struct() {
    using Scalar = typename T::Scalar;
    return SummableNumber<Scalar> && sizeof(T) % sizeof(Scalar) == 0 && alignof(T) == alignof(Scalar) &&
           has_only<T, Scalar>();
}
} // namespace detail

/// Always true. If T cannot be summed up, the call does not compile, and the message gives the reason.
template <class T>
consteval bool check_summable() {
    if constexpr (requires { typename T::Scalar; }) {
        static_assert(
            SummableNumber<typename T::Scalar>,
            "headrace::Sum: the struct's Scalar must be float, double, or a signed or unsigned integer "
            "of 32 or 64 bits: no backend adds others atomically");
        static_assert(
            !SummableNumber<typename T::Scalar> || detail::is_summable_struct<T>(),
            "headrace::Sum: all members of a struct must be of the type that it names Scalar, without "
            "padding between them");
    } else {
        static_assert(
            SummableNumber<T>,
            "headrace::Sum: elements must be float, double, a signed or unsigned integer of 32 or 64 "
            "bits, or a struct of one of these that names it: using Scalar = float");
    }
    return true;
}

} // namespace headrace
