__kernel void Index(__global float* all, long size) {
    const long x = get_global_id(0);
    if (x < size) all[x] *= 10;
}
__kernel void Shape(__global float* all, long size) {
    const long x = get_global_id(0);
    if (x < size) all[x] -= 2;
}
