// tests/fuzz/check_problem.hpp - what must hold of every problem that a reader lets pass.
#pragma once
#include "problem.hpp"

#include <cstdlib>

namespace headrace::fuzz {

inline void check_problem(const fluorescence::Problem& problem) {
    const fluorescence::GridSpec& grid = problem.grid;
    if (problem.layers.empty() || problem.photons == 0 || !(grid.dz > 0) || !(grid.dr > 0) || grid.nz < 1 ||
        grid.nr < 1 || grid.na < 1 || fluorescence::source_complaint(problem))
        std::abort();
    for (const double n : {problem.n_above, problem.n_below})
        if (!(n >= fluorescence::least_n && n <= fluorescence::most_n)) std::abort();
    for (const fluorescence::LayerSpec& layer : problem.layers)
        if (fluorescence::complaint(layer)) std::abort();
}

} // namespace headrace::fuzz
