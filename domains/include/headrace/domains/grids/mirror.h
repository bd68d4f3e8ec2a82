// domains/grids/mirror.h - indices of grids that continue mirrored beyond their edges. C++ and OpenCL C read
// this file.
#ifndef HEADRACE_DOMAINS_GRIDS_MIRROR_H
#define HEADRACE_DOMAINS_GRIDS_MIRROR_H
#include <headrace/devices/kernels/shared_c.h>

#ifndef __OPENCL_C_VERSION__
namespace headrace {
#endif

/// The index of the value that a point beyond an edge shows, in one dimension of `size`. The mirror is at the
/// edge: the element next to it comes twice.
HEADRACE_FUNCTION int mirrored(int i, int size) {
    while (i < 0 || i >= size) i = i < 0 ? -1 - i : 2 * size - 1 - i;
    return i;
}

#ifndef __OPENCL_C_VERSION__
} // namespace headrace
#endif

#endif
