// apps/matrices/multiply_launch.cuh - enqueues multiply_tiles.cuh in the shape that fits the matrices.
#pragma once
#include "multiply_tiles.cuh"

namespace matrices {

/// As many tiles of this shape as cover C.
template <class Shape>
int tiles(const Product& product) {
    return ((product.rows + Shape::rows - 1) / Shape::rows) *
           ((product.columns + Shape::columns - 1) / Shape::columns);
}

template <int ThreadRows, int ThreadColumns, class Stream>
void multiply_shaped(const Product& product, Stream stream) {
    using Shape = TileShape<ThreadRows, ThreadColumns>;
    const unsigned blocks = static_cast<unsigned>(tiles<Shape>(product));
    if (product.rows % Shape::rows == 0 && product.columns % Shape::columns == 0 &&
        product.inner % Shape::depth == 0)
        multiply_tiles<ThreadRows, ThreadColumns, true><<<blocks, Shape::threads, 0, stream>>>(product);
    else
        multiply_tiles<ThreadRows, ThreadColumns, false><<<blocks, Shape::threads, 0, stream>>>(product);
}

/// Enqueues c = a b. All three begin where a float4 may; nothing is empty.
template <class Stream>
void multiply(const Product& product, Stream stream) {
    constexpr int enough = 200; // tiles, or large GPUs have multiprocessors that idle
    if (tiles<TileShape<8, 16>>(product) >= enough)
        multiply_shaped<8, 16>(product, stream);
    else
        multiply_shaped<4, 8>(product, stream);
}

} // namespace matrices
