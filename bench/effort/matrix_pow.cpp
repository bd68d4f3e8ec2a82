// bench/effort/matrix_pow.cpp - Matrix Pow with Headrace, on one device and without files: task for task what
// matrix_pow_cuda_async.cu does by hand.
#include "controller_program/run.hpp"
#include "matrices/multiply.hpp"
#include "matrices/normalise.hpp"

#include <utility>

int main(int argc, char** argv) {
    using namespace headrace;
    int size = 1024, steps = 40;
    unsigned host_threads = 8;
    program::CommandLine line("effort_matrix_pow", "Matrix Pow with Headrace on one device");
    line.whole("--size", size, 1, 32768, "N", "Rows and columns");
    line.whole("--steps", steps, 1, 1'000'000, "K", "Products");
    line.whole("--host-threads", host_threads, 1, 1024, "N", "Threads that normalise");
    return controller_program::run(line, argc, argv, [&](controller_program::Machine& machine) {
        const auto plane = grid(size, size);
        Array<float> a("A", plane, machine.device()), power("C", plane, machine.device()),
            spare("next C", plane, machine.device()), normalised("normalised C", plane);
        matrices::HostThreads threads(host_threads);
        matrices::fill_uniform(a.fill(), 1, 0, 2.0f / static_cast<float>(size), threads);

        const auto raise = [&](int number) {
            Array<float>*from = &a, *to = &power, *next = &spare;
            for (int i = 0; i < number; ++i) {
                matrices::multiply(machine.controller(), *from, a, *to);
                host_task(
                    machine.lane("normalise"),
                    [&](In<float> c, Write<float> n) { matrices::normalise(c, n, threads); }, *to,
                    normalised);
                from = to;
                std::swap(to, next);
            }
        };
        raise(2); // drivers allocate and compile at first use
        machine.wait_all();
        machine.timed([&] { raise(steps); });
        machine.report("checksum", matrices::checksum(normalised.gather(), threads));
    });
}
