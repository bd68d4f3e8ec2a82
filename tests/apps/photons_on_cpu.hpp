// tests/apps/photons_on_cpu.hpp - what the processor makes of a problem, through the whole runtime.
#pragma once
#include "simulation.hpp"

namespace fluorescence::testing {

struct Found {
    Totals totals;
    Grids grids;
};

inline Found simulate(const Problem& problem, const Settings& settings) {
    headrace::Runtime runtime({.devices = "cpu"});
    const Simulation simulation(problem, settings);
    runtime.submit(simulation.job()).wait();
    return {simulation.totals(), simulation.grids()};
}

} // namespace fluorescence::testing
