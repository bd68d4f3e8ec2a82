// apps/matrix_pow/main.cpp - headrace-matrix-pow: the powers of a matrix, each of them normalised on the
// host.
#include "controller_program/run.hpp"
#include "matrices/normalise.hpp"
#include "matrices/npy.hpp"
#include "power.hpp"
#include "program/output_file.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
    using namespace matrix_pow;
    int size = 1024, steps = 40;
    std::uint64_t seed = 1;
    std::filesystem::path file, out;
    unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
    program::CommandLine line("headrace-matrix-pow",
                              "The powers of a matrix, each of them normalised on the host.");
    line.example({"headrace-matrix-pow --size 512 --steps 5"});
    line.group("Matrix");
    line.whole("--size", size, 1, 32768, "N", "Rows and columns; its numbers are uniform in [0, 2 / N)");
    line.whole("--seed", seed, 0, UINT64_MAX, "SEED", "Of its numbers");
    line.input("--matrix", file, "A instead, as numpy.save writes it; square");
    line.output("--out", out, "The last power, normalised; numpy.load reads it");
    line.group("Work");
    line.whole("--steps", steps, 1, 1'000'000, "K", "Products: C = A, then C <- C A");
    line.whole("--host-threads", threads, 1, 1024, "N", "Threads that normalise");
    return controller_program::run(line, argc, argv, [&](controller_program::Machine& machine) {
        std::optional<matrices::NpyFile> given;
        if (!file.empty()) size = given.emplace(file).side();
        const auto plane = headrace::grid(size, size);
        matrices::HostThreads host(threads); // these first: host tasks use them as long as there are matrices
        std::vector<matrices::Normalisation> found(2);
        headrace::Array<float> a("A", plane, machine.device()), power("C", plane, machine.device()),
            next("next C", plane, machine.device()), normalised("normalised C", plane);
        if (given)
            given->read({size, size}, a.fill());
        else
            fill_uniform(a.fill(), seed, 0, 2.0f / static_cast<float>(size), host);

        // Without a clock, one step for each C: drivers allocate and compile at first use.
        raise(machine, a, {power, next, normalised}, found, host);
        machine.wait_all();
        found.resize(static_cast<std::size_t>(steps));
        machine.timed([&] { raise(machine, a, {power, next, normalised}, found, host); });

        if (!out.empty()) program::write_whole(out, matrices::npy_of(normalised.gather(), {size, size}));
        std::vector<double> norms;
        for (const matrices::Normalisation& step : found) norms.push_back(step.norm);
        machine.report("size", std::int64_t{size});
        machine.report("steps", std::int64_t{steps});
        machine.report("host_threads", std::int64_t{threads});
        machine.report("norms", norms);
        machine.report("checksum", checksum(normalised.gather(), host));
    });
}
