// apps/chain_matmul/main.cpp - headrace-chain-matmul: a stream of matrices through four constant ones, a
// pipeline of controllers on whatever devices there are.
#include "chain.hpp"
#include "controller_program/run.hpp"
#include "controller_program/stream_report.hpp"
#include "matrices/npy.hpp"
#include "program/numbers.hpp"
#include "program/output_file.hpp"
#include "program/used_files.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Adds an option that takes files with commas between them.
void add_files(program::CommandLine& line, const char* name, std::vector<std::filesystem::path>& files,
               const char* help) {
    line.option(name, "", "FILES", help, [&files](const std::string& text) {
        std::istringstream list(text);
        for (std::string file; std::getline(list, file, ',');) program::note_input(files.emplace_back(file));
    });
}

} // namespace

int main(int argc, char** argv) {
    using namespace chain_matmul;
    Problem problem;
    std::vector<std::filesystem::path> constants, stream;
    std::filesystem::path out;
    int iterations = 20, controllers = stages;
    unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
    program::CommandLine line("headrace-chain-matmul",
                              "A stream of matrices through four constant ones, stage by stage.");
    line.example({"headrace-chain-matmul --size 256 --iterations 8"});
    line.group("Matrices");
    line.whole("--size", problem.size, 1, 32768, "N",
               "Rows and columns; their numbers are uniform in [0, 2 / N)");
    line.whole("--seed", problem.seed, 0, UINT64_MAX, "SEED", "Of their numbers");
    add_files(line, "--constants", constants, "C1,C2,C3,C4 instead, as numpy.save writes them; square");
    add_files(line, "--matrices", stream, "The stream instead, as numpy.save writes them, in turns");
    line.output("--out", out, "What the last one became, normalised; numpy.load reads it");
    line.group("Work");
    line.whole("--iterations", iterations, 1, 1'000'000, "K", "Matrices in the stream");
    line.whole("--controllers", controllers, 1, stages, "N",
               "That share out the four products; several may be on one device");
    line.whole("--host-threads", threads, 1, 1024, "N", "Threads that make and normalise matrices");
    return controller_program::run(line, argc, argv, [&](controller_program::Machine& machine) {
        if (constants.size() % stages != 0)
            program::refuse("--constants: takes four files, one for each stage");
        for (const auto& file : stream) problem.stream.emplace_back(file);
        for (const auto& file : constants) problem.constants.emplace_back(file);
        for (const auto* files : {&problem.stream, &problem.constants})
            if (!files->empty()) problem.size = files->front().side();
        matrices::HostThreads host(threads); // these first: host tasks use them as long as there is a chain
        std::vector<matrices::Normalisation> found(2);
        Chain chain(machine, problem, controllers, host);

        // Without a clock, once for each set of matrices: drivers allocate and compile at first use.
        chain.submit(found);
        machine.wait_all();
        found.resize(static_cast<std::size_t>(iterations));
        machine.timed([&] { chain.submit(found); });

        if (!out.empty())
            program::write_whole(out, matrices::npy_of(chain.normalised(), {problem.size, problem.size}));
        double checksum = 0;
        std::vector<double> norms;
        for (const matrices::Normalisation& each : found) {
            norms.push_back(each.norm);
            checksum += each.sum;
        }
        machine.report("size", std::int64_t{problem.size});
        machine.report("iterations", std::int64_t{iterations});
        machine.report("stages", chain.devices());
        controller_program::report_stream(machine, chain.report());
        machine.report("host_threads", std::int64_t{threads});
        machine.report("norms", norms);
        machine.report("checksum", checksum);
    });
}
