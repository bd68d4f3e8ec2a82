// tests/core/replica_numbers.hpp - names for the first controllers' replicas, as the papers have them.
#pragma once
#include <headrace/core/detail/dependencies.hpp>

namespace headrace::test {

inline constexpr ReplicaNumber a = 1, b = 2, c = 3;

} // namespace headrace::test
