// domains/grids/mirror.hpp - indices of grids that continue mirrored beyond their edges. Compiled for every
// technology.
#pragma once
#include <headrace/devices/kernels/macros.hpp>

namespace headrace {

/// The index of the value that a point beyond an edge shows, in one dimension of `size`. The mirror is at the
/// edge: the element next to it comes twice.
HEADRACE_HOST_DEVICE inline int mirrored(int i, int size) {
    while (i < 0 || i >= size) i = i < 0 ? -1 - i : 2 * size - 1 - i;
    return i;
}

} // namespace headrace
