// apps/matrices/multiply_cpu.hpp - Multiply on the CPU device's threads.
#pragma once
#include "matrices/host_multiply.hpp"
#include <headrace/devices/cpu/arena.hpp>

namespace matrices {

inline void specialise(headrace::technology::Cpu, headrace::Implementations<Multiply>& all) {
    all.on("cpu", [](const Multiply& k, headrace::Grid<2> grid, const headrace::NativeStream& native) {
        const int inner = k.b.rows(), columns = k.c.columns();
        const HostProduct product{
            k.a.data() + grid.first * inner, k.b.data(), k.c.data() + grid.first * columns,
            static_cast<int>(grid.size(0)),  columns,    inner};
        static_cast<headrace::CpuArena*>(native.stream)->run(product.tiles(), [&](unsigned tile) {
            product.multiply(tile);
        });
    });
}

} // namespace matrices
