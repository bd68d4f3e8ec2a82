// apps/matrices/multiply.cl - rows [first_row, last_row) of c = a b in OpenCL C, for GPUs and for processors. Plain
// OpenCL: programs with and without Headrace share it.

// GPUs: a work-group of 16 x 16 computes a tile of C, each work-item QUADS x QUADS squares of 4 x 4 of it.
#ifndef QUADS
#define QUADS 2
#endif
#define GROUP 16
#define TILE (GROUP * 4 * QUADS)
#define DEPTH 16 // of a slice of A and B in local memory

__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1))) void
multiply(__global const float* restrict a, __global const float* restrict b, __global float* restrict c,
         const int first_row, const int last_row, const int columns, const int inner, const int items_down,
         const int items_across) {
    // A's slice is transposed, so that a work-item reads four of its rows at once; the fourth more columns keep
    // those who write a row of A below each other out of one bank.
    __local float4 a_slice[DEPTH][TILE / 4 + 1], b_slice[DEPTH][TILE / 4];
    __local float* const a_floats = (__local float*)a_slice;
    __local float* const b_floats = (__local float*)b_slice;
    const int x = get_local_id(0), y = get_local_id(1), item = y * GROUP + x;
    const int row = first_row + get_group_id(1) * TILE, column = get_group_id(0) * TILE;

    float4 sum[4 * QUADS][QUADS];
    for (int i = 0; i < 4 * QUADS; ++i)
        for (int j = 0; j < QUADS; ++j) sum[i][j] = (float4)(0);

    for (int first = 0; first < inner; first += DEPTH) {
        for (int i = item; i < DEPTH * TILE; i += GROUP * GROUP) {
            const int k = i % DEPTH, at = i / DEPTH;
            a_floats[k * (TILE + 4) + at] =
                row + at < last_row && first + k < inner ? a[(long)(row + at) * inner + first + k] : 0.0f;
        }
        for (int i = item; i < DEPTH * TILE; i += GROUP * GROUP) {
            const int at = i % TILE, k = i / TILE;
            b_floats[k * TILE + at] =
                first + k < inner && column + at < columns ? b[(long)(first + k) * columns + column + at] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < DEPTH; ++k) {
            float4 right[QUADS];
            for (int j = 0; j < QUADS; ++j) right[j] = b_slice[k][x + j * GROUP];
            for (int i = 0; i < QUADS; ++i) {
                const float4 left = a_slice[k][y + i * GROUP];
                for (int j = 0; j < QUADS; ++j) {
                    sum[4 * i][j] = mad(left.x, right[j], sum[4 * i][j]);
                    sum[4 * i + 1][j] = mad(left.y, right[j], sum[4 * i + 1][j]);
                    sum[4 * i + 2][j] = mad(left.z, right[j], sum[4 * i + 2][j]);
                    sum[4 * i + 3][j] = mad(left.w, right[j], sum[4 * i + 3][j]);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    for (int i = 0; i < 4 * QUADS; ++i) {
        const int down = row + 4 * (y + i / 4 * GROUP) + i % 4;
        if (down >= last_row) break;
        for (int j = 0; j < QUADS; ++j) {
            const int across = column + 4 * (x + j * GROUP);
            __global float* const to = c + (long)down * columns + across;
            const float numbers[4] = {sum[i][j].x, sum[i][j].y, sum[i][j].z, sum[i][j].w};
            for (int n = 0; n < 4; ++n)
                if (across + n < columns) to[n] = numbers[n];
        }
    }
}

// Processors have vectors and caches of their own: a work-item computes 4 rows of 32 columns, and no work-item waits
// for another. Work-items below each other read the same columns of B.
__kernel void multiply_on_processor(__global const float* restrict a, __global const float* restrict b,
                                    __global float* restrict c, const int first_row, const int last_row,
                                    const int columns, const int inner, const int items_down,
                                    const int items_across) {
    const int row = first_row + 4 * get_global_id(1), column = 32 * get_global_id(0);
    if (row >= last_row || column >= columns) return;
    const int rows = min(4, last_row - row);
    // Rows that are not there are the last one again, and not written.
    __global const float* const a0 = a + (long)row * inner;
    __global const float* const a1 = a0 + (long)min(1, rows - 1) * inner;
    __global const float* const a2 = a0 + (long)min(2, rows - 1) * inner;
    __global const float* const a3 = a0 + (long)(rows - 1) * inner;
    __global const float* from = b + column;
    __global float* const to = c + (long)row * columns + column;
    if (column + 32 <= columns) {
        float16 sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, more0 = 0, more1 = 0, more2 = 0, more3 = 0;
        for (int k = 0; k < inner; ++k, from += columns) {
            const float16 left = vload16(0, from), right = vload16(1, from);
            sum0 += a0[k] * left;
            more0 += a0[k] * right;
            sum1 += a1[k] * left;
            more1 += a1[k] * right;
            sum2 += a2[k] * left;
            more2 += a2[k] * right;
            sum3 += a3[k] * left;
            more3 += a3[k] * right;
        }
        const float16 sums[4][2] = {{sum0, more0}, {sum1, more1}, {sum2, more2}, {sum3, more3}};
        for (int i = 0; i < rows; ++i) {
            vstore16(sums[i][0], 0, to + (long)i * columns);
            vstore16(sums[i][1], 1, to + (long)i * columns);
        }
    } else {
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns - column; ++j) {
                float sum = 0;
                for (int k = 0; k < inner; ++k) sum += a0[(long)i * inner + k] * from[(long)k * columns + j];
                to[(long)i * columns + j] = sum;
            }
    }
}
