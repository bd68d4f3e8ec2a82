// tests/domains/access.cl - kernels of access.kernels.hpp in OpenCL C; the name of one of them is defined.
#ifdef PERMUTE
    #define HEADRACE_PARAMETERS __global const uint *to, __global ulong *x, ulong base
    #define HEADRACE_ARGUMENTS to, x, base
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) { x[to[i]] = base + i; }
#endif

#ifdef PERMUTE_INTO
    #define HEADRACE_PARAMETERS __global const uint *to, __global ulong *x, ulong base, ulong keep
    #define HEADRACE_ARGUMENTS to, x, base, keep
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    x[to[i]] = (keep != 0 ? x[to[i]] : 0) + base + i;
}
#endif

#ifdef ADD_BACKWARDS
    #define HEADRACE_PARAMETERS __global uint *x, ulong size
    #define HEADRACE_ARGUMENTS x, size
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) { x[size - 1 - i] += (uint)i; }
#endif

#ifdef WRITE_BACKWARDS
    #define HEADRACE_PARAMETERS __global uint *x, ulong size
    #define HEADRACE_ARGUMENTS x, size
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) { x[size - 1 - i] = (uint)(7 * i); }
#endif

#ifdef WRITE_BYTES
    #define HEADRACE_PARAMETERS __global uchar *x, ulong size, __global ulong *sums, ulong end, ulong shift
    #define HEADRACE_ARGUMENTS x, size, sums, end, shift
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    hr_atomic_add_ulong(&sums[0], 1);
    const ulong at = i + shift < size ? i + shift : i;
    if (i < end) x[at] = (uchar)i;
}
#endif

#ifdef TAKE_AND_ADD
    #define HEADRACE_PARAMETERS __global uchar *to, __global uchar *from, uchar more
    #define HEADRACE_ARGUMENTS to, from, more
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    to[i] = from[i];
    from[i] = (uchar)(from[i] + more);
}
#endif

#ifdef SCATTER_BYTES
    #define HEADRACE_PARAMETERS __global uchar *x, ulong size, uchar other
    #define HEADRACE_ARGUMENTS x, size, other
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    x[i] = (uchar)i;
    if (i + 1 == size) x[5] = other;
}
#endif

#ifdef SCATTER_ODD
    #define HEADRACE_PARAMETERS __global uchar *odd, __global uchar *bytes, ulong size
    #define HEADRACE_ARGUMENTS odd, bytes, size
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    if (i % 3 == 0) return;
    __global uchar* const part = odd + 3 * (size - 1 - i); // no packed struct: its alignment is that of bytes
    part[0] = (uchar)i;
    part[1] = (uchar)(i >> 8);
    part[2] = 7;
    bytes[size - 1 - i] = (uchar)i;
}
#endif
