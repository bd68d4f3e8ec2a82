#include "half.h"

__kernel void Halve(__global float* all, long size) {
    const long x = get_global_id(0);
    if (x < size) all[x] = half_of(all[x]);
}
