// apps/coexec/problems.cpp - see problems.hpp.
#include "problems.hpp"

namespace coexec {

std::span<const ProblemKind> problem_kinds() {
    constexpr std::uint64_t widest = 65'535, longest = std::uint64_t{1} << 27;
    static constexpr ProblemKind kinds[] = {
        {"gaussian", 5120, 256, widest, make_gaussian},
        {"matmul", 4864, 256, widest, make_matmul},
        {"taylor", 1 << 20, 1 << 14, longest, make_taylor},
        {"rap", 1 << 19, 1 << 13, longest, make_rap},
        {"ray", 3072, 192, widest, make_ray},
        {"mandelbrot", 8384, 256, widest, make_mandelbrot},
        {"nbody", 409'600, 2048, longest, make_nbody},
    };
    return kinds;
}

} // namespace coexec
