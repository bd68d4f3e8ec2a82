__kernel void Grid(__global float* all, long size) {
    const long x = get_global_id(0);
    if (x < size) all[x] += 1;
}
