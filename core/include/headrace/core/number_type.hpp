// core/number_type.hpp - the types of numbers that devices can add.
#pragma once
#include <cstdint>
#include <type_traits>

namespace headrace {

enum class NumberType : std::uint8_t { none, uint32, uint64, float32, float64 };

/// A signed integer type maps to the unsigned one of its size: the addition is the same.
template <class T>
constexpr NumberType number_type() {
    if constexpr (std::is_same_v<T, float>)
        return NumberType::float32;
    else if constexpr (std::is_same_v<T, double>)
        return NumberType::float64;
    else if constexpr (std::is_same_v<T, int> || std::is_same_v<T, unsigned>)
        return NumberType::uint32;
    else if constexpr (std::is_same_v<T, long> || std::is_same_v<T, unsigned long> ||
                       std::is_same_v<T, long long> || std::is_same_v<T, unsigned long long>)
        return NumberType::uint64;
    else
        return NumberType::none;
}

static_assert(sizeof(int) == 4 && sizeof(long) == 8 && sizeof(long long) == 8);

} // namespace headrace
