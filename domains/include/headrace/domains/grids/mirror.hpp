// domains/grids/mirror.hpp - grids that go on beyond their edges as in a mirror. Compiled for every
// technology.
#pragma once
#include <headrace/persistent/kernel.hpp>

namespace headrace {

/// Where a place beyond an edge has its value from, along one dimension of `size`. The mirror stands at the
/// edge: what is next to it comes twice.
HEADRACE_HOST_DEVICE inline int mirrored(int i, int size) {
    while (i < 0 || i >= size) i = i < 0 ? -1 - i : 2 * size - 1 - i;
    return i;
}

} // namespace headrace
