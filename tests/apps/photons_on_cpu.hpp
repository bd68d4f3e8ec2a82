// tests/apps/photons_on_cpu.hpp - what the processor, or another device, makes of a problem, through the
// whole runtime.
#pragma once
#include "simulation.hpp"
#include <headrace/internal/devices/cpu/cpu.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace fluorescence::test {

struct Found {
    Totals totals;
    Grids grids;
};

inline Found simulate(headrace::Runtime& runtime, const Problem& problem, const Settings& settings) {
    const Simulation simulation(problem, settings);
    runtime.submit(simulation.job()).wait();
    return {simulation.totals(), simulation.grids()};
}
inline Found simulate(const Problem& problem, const Settings& settings) {
    headrace::Runtime runtime({.devices = "cpu"});
    return simulate(runtime, problem, settings);
}

struct FoundByTwo {
    Totals totals;
    Grids grids;
    headrace::JobReport report;
};

/// By two devices of the same processors, of which one has everything at first.
inline FoundByTwo simulate_on_two(const Problem& problem, const Settings& settings) {
    std::vector<std::unique_ptr<headrace::Device>> devices;
    for (const char* id : {"cpu:a", "cpu:b"})
        devices.push_back(headrace::make_cpu_device(id, headrace::read_topology().quota, std::nullopt));
    headrace::Runtime runtime(std::move(devices), {.devices = "", .policy = "demand:1"});
    const Simulation simulation(problem, settings);
    const headrace::JobHandle handle =
        runtime.submit(simulation.job().tune({.wishes = {}, .launch_time = std::chrono::milliseconds(5)}));
    handle.wait();
    return {simulation.totals(), simulation.grids(), handle.report()};
}

} // namespace fluorescence::test
