// apps/hotspot/main.cpp - headrace-hotspot: how heat spreads over a chip, with every intermediate result on
// the host.
#include "chip.hpp"
#include "controller_program/run.hpp"
#include "program/output_file.hpp"
#include "saved.hpp"
#include "simulate.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <thread>

int main(int argc, char** argv) {
    using namespace hotspot;
    int size = 1024, iterations = 300;
    int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
    std::filesystem::path temperatures, power_file, out;
    program::CommandLine line("headrace-hotspot", "How heat spreads over a chip: Rodinia's Hotspot.");
    line.example({"headrace-hotspot --size 1024 --iterations 60"});
    line.group("Chip");
    line.whole("--size", size, 1, 32768, "N", "Cells on each side");
    line.input("--temperatures", temperatures,
               "N x N numbers in kelvin, as Rodinia's temp_512; default: made up");
    line.input("--power", power_file, "N x N numbers in watts, as Rodinia's power_512; default: made up");
    line.output("--out", out, "Temperatures in the end; --temperatures reads it");
    line.group("Work");
    line.whole("--iterations", iterations, 1, 1'000'000'000, "K", "Steps; four are one launch");
    line.whole("--host-threads", threads, 1, 1024, "N", "Threads that save what each launch has made");
    return controller_program::run(line, argc, argv, [&](controller_program::Machine& machine) {
        const auto plane = headrace::grid(size, size);
        // Before the arrays, whose ends wait for those who save.
        Saved saved(static_cast<std::size_t>(plane.size()), threads);
        headrace::Array<float> power("power", plane, machine.device());
        headrace::Array<float> heat("temperatures", plane, machine.device());
        headrace::Array<float> spare("temperatures of the next step", plane, machine.device());
        temperatures.empty() ? make_temperatures(heat.fill()) : read_cells(temperatures, heat.fill());
        power_file.empty() ? make_power(size, power.fill()) : read_cells(power_file, power.fill());
        const auto save = [&saved](headrace::In<float> cells) { saved.take(cells.data()); };

        // Once without a clock, and without harm to `heat`: drivers allocate and compile at first use.
        simulate(machine, power, heat, spare, 1, save);
        machine.wait_all();
        machine.timed([&] { simulate(machine, power, heat, spare, iterations, save); });

        check_finite(saved.cells(), size); // what is beyond float32 once is so for ever
        if (!out.empty()) program::write_whole(out, text_of(saved.cells()));
        machine.report("size", std::int64_t{size});
        machine.report("iterations", std::int64_t{iterations});
        machine.report("host_threads", std::int64_t{threads});
        machine.report("hottest", double{*std::ranges::max_element(saved.cells())});
        machine.report("checksum", std::reduce(saved.cells().begin(), saved.cells().end(), 0.0) /
                                       static_cast<double>(size) / size);
    });
}
