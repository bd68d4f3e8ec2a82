// bench/effort/chain_matmul.cpp - a chain of products with Headrace, on one device and without files: task
// for task what chain_matmul_cuda_async.cu does by hand.
#include "controller_program/run.hpp"
#include "matrices/multiply.hpp"
#include "matrices/normalise.hpp"

#include <deque>

int main(int argc, char** argv) {
    using namespace headrace;
    constexpr int stages = 4;
    int size = 1024, iterations = 40;
    unsigned host_threads = 8;
    program::CommandLine line("effort_chain_matmul", "A chain of products with Headrace on one device");
    line.whole("--size", size, 1, 32768, "N", "Rows and columns");
    line.whole("--iterations", iterations, 1, 1'000'000, "K", "Matrices");
    line.whole("--host-threads", host_threads, 1, 1024, "N", "Threads that make and normalise");
    return controller_program::run(line, argc, argv, [&](controller_program::Machine& machine) {
        const auto plane = grid(size, size);
        const float factor = 2.0f / static_cast<float>(size);
        matrices::HostThreads threads(host_threads);
        std::deque<Array<float>> constants, sets[2];
        for (int stage = 0; stage < stages; ++stage) {
            constants.emplace_back("constant", plane, machine.device());
            matrices::fill_uniform(constants.back().fill(), 1, stage, factor, threads);
        }
        for (auto& set : sets)
            for (int i = 0; i <= stages; ++i) set.emplace_back("product", plane, machine.device());
        Array<float> normalised("normalised B", plane);
        double checksum = 0;

        const auto chain = [&](int number) {
            for (int i = 0; i < number; ++i) {
                auto& set = sets[i % 2];
                const auto make = [&, i](Write<float> a) {
                    matrices::fill_uniform(a, 1, stages + i, factor, threads);
                };
                host_task(machine.lane("make"), make, set.front());
                for (int stage = 0; stage < stages; ++stage)
                    matrices::multiply(machine.controller(), set[stage], constants[stage], set[stage + 1]);
                const auto normalise = [&](In<float> b, Write<float> to) {
                    checksum += matrices::normalise(b, to, threads).sum;
                };
                host_task(machine.lane("normalise"), normalise, set.back(), normalised);
            }
        };
        chain(2); // drivers allocate and compile at first use
        machine.wait_all();
        checksum = 0;
        machine.timed([&] { chain(iterations); });
        machine.report("checksum", checksum);
    });
}
