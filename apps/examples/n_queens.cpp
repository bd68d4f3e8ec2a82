// apps/examples/n_queens.cpp - in how many ways can n queens stand so that none attacks another?
#include "example.hpp"
#include "n_queens.cl.hpp"
#include "n_queens.kernels.hpp"

using namespace headrace;

static std::uint64_t serial(std::uint32_t all, std::uint32_t columns, std::uint32_t left,
                            std::uint32_t right) {
    if (columns == all) return 1;
    std::uint64_t solutions = 0;
    for (std::uint32_t places = all & ~(columns | left | right); places != 0; places &= places - 1) {
        const std::uint32_t queen = places & (0 - places);
        solutions += serial(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return solutions;
}

int main(int argc, char** argv) {
    return example::run(argc, argv, 12, [](std::uint64_t size, Runtime& runtime) {
        if (size > 31) throw std::invalid_argument("SIZE is at most 31");
        const std::uint32_t all = (1u << size) - 1;
        Domain<std::uint64_t> solutions("solutions", {1});

        Job job("n-queens", size);
        job.accumulates(solutions).share_units(); // a board means the same on every device
        job.seeds(FirstQueens{}).kernel([&](Task& t) { return PlaceQueens{t.sum(solutions), all}; });
        job.opencl(
            {"n_queens.cl", std::string(embedded::n_queens_cl), 1, sizeof(Board), 2},
            [&](Task& t, OpenClArguments& arguments) { arguments.buffer(t.memory(solutions)).value(all); });
        const JobHandle run = runtime.submit(job);
        run.wait();

        std::printf("%zu queens: %zu solutions\n%s", size, solutions.gather()[0],
                    run.report().table().c_str());
        return solutions.gather()[0] == serial(all, 0, 0, 0);
    });
}
