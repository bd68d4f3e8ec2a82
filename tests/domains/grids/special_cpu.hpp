// tests/domains/grids/special_cpu.hpp - implementations for the CPU: functions that use its threads as they
// like.
#pragma once
#include <headrace/devices/cpu/arena.hpp>

namespace headrace::test {

inline void specialise(technology::Cpu, Implementations<Transpose>& all) {
    all.on("cpu", [](const Transpose& k, Grid<2> grid, const NativeStream& stream) {
        static_cast<CpuArena*>(stream.stream)->run(static_cast<unsigned>(grid.size(0)), [&](unsigned y) {
            for (int x = 0; x < grid.end[1]; ++x)
                k.out(x, static_cast<int>(y)) = k.in(static_cast<int>(y), x);
        });
    });
}

inline void specialise(technology::Cpu, Implementations<Who>& all) {
    all.on("cpu", [](const Who& k, Grid<1> grid, const NativeStream&) {
        for (std::int64_t i = 0; i < grid.end[0]; ++i) k.out(i) = 2;
    });
}

} // namespace headrace::test
