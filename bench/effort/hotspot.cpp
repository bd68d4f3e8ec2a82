// bench/effort/hotspot.cpp - Hotspot with Headrace, on one device and without files: task for task what
// hotspot_cuda_async.cu does by hand.
#include "controller_program/run.hpp"
#include "hotspot/chip.hpp"
#include "hotspot/hotspot.kernels.hpp"
#include "hotspot/saved.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

int main(int argc, char** argv) {
    using namespace headrace;
    int size = 1024, iterations = 300, threads = 8;
    program::CommandLine line("effort_hotspot", "Hotspot with Headrace on one device");
    line.whole("--size", size, 1, 32768, "N", "Cells on each side");
    line.whole("--iterations", iterations, 1, 1'000'000'000, "K", "Steps");
    line.whole("--host-threads", threads, 1, 1024, "N", "Threads that save");
    return controller_program::run(line, argc, argv, [&](controller_program::Machine& machine) {
        const auto plane = grid(size, size);
        Array<float> power("power", plane, machine.device());
        Array<float> heat("heat", plane, machine.device()), spare("next heat", plane, machine.device());
        hotspot::make_power(size, power.fill());
        hotspot::make_temperatures(heat.fill());
        hotspot::Saved saved(heat.fill().size(), threads);

        const auto simulate = [&](int steps) {
            Array<float>*from = &heat, *to = &spare;
            for (int done = 0; done < steps; done += hotspot::fused) {
                launch<hotspot::Hotspot>(machine.controller(), plane, power, *from, *to, size,
                                         std::min(hotspot::fused, steps - done), hotspot::factors_of(size));
                host_task(
                    machine.lane("save"), [&](In<float> made) { saved.take(made.data()); }, *to);
                std::swap(from, to);
            }
        };
        simulate(1); // drivers allocate and compile at first use; `heat` stays as it is
        machine.wait_all();
        machine.timed([&] { simulate(iterations); });
        const double sum = std::reduce(saved.cells().begin(), saved.cells().end(), 0.0);
        machine.report("checksum", sum / static_cast<double>(heat.size()));
    });
}
