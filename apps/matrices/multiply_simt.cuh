// apps/matrices/multiply_simt.cuh - Multiply on CUDA and HIP.
#pragma once
#include "multiply_launch.cuh"

namespace matrices {

template <class Technology>
void specialise(Technology, headrace::Implementations<Multiply>& all) {
    all.on(Technology::name,
           [](const Multiply& k, headrace::Grid<2> grid, const headrace::NativeStream& native) {
               const int inner = k.b.rows(), columns = k.c.columns();
               multiply({k.a.data() + grid.first * inner, k.b.data(), k.c.data() + grid.first * columns,
                         static_cast<int>(grid.size(0)), columns, inner},
                        static_cast<headrace::SimtStream>(native.stream));
           });
}

} // namespace matrices
