// apps/examples/breadth_first.cpp - how many edges is each vertex of a graph away from the first one?
#include "breadth_first.cl.hpp"
#include "breadth_first.kernels.hpp"
#include "example.hpp"

#include <algorithm>
#include <utility>
#include <vector>

using namespace headrace;

int main(int argc, char** argv) {
    return example::run(argc, argv, 100'000, [](std::uint64_t size, Runtime& runtime) {
        // Vertex v has v % 8 edges, to vertices as good as at random.
        std::vector<std::uint32_t> offsets{0}, ends;
        for (std::uint64_t v = 0; v < size; ++v) {
            for (std::uint64_t i = 1; i <= (v + 1) % 8; ++i)
                ends.push_back(std::uint32_t(((8 * v + i) * 0x9e3779b97f4a7c15 >> 32) % size));
            offsets.push_back(std::uint32_t(ends.size()));
        }
        Domain<std::uint32_t> first("first", offsets), neighbours("neighbours", ends),
            levels("levels", {size});
        std::ranges::fill(levels.fill(), ~0u);
        levels.fill()[0] = 0;
        // Each device appends a vertex once at most.
        const std::uint64_t most = size * runtime.devices().size();
        Domain<std::uint32_t> frontier("frontier", {most}), next("next", {most});
        frontier.assign(std::vector<std::uint32_t>{0});

        std::uint32_t level = 1;
        for (; const std::uint64_t vertices = frontier.count(); ++level, std::swap(frontier, next)) {
            next.clear();
            Job job("breadth first", vertices);
            job.reads(first, neighbours, frontier).reduces<Min>(levels).appends(next);
            job.kernel([&](Task& t) {
                return Visit{t.read(first),         t.read(neighbours), t.read(frontier),
                             t.reduce<Min>(levels), t.append(next),     level};
            });
            job.opencl(
                {"breadth_first.cl", std::string(embedded::breadth_first_cl)},
                [&](Task& t, OpenClArguments& arguments) {
                    arguments.buffer(t.memory(first)).buffer(t.memory(neighbours)).buffer(t.memory(frontier));
                    arguments.buffer(t.memory(levels)).buffer(t.memory(next)).value(most).value(level);
                });
            runtime.submit(job).wait();
        }

        std::vector<std::uint32_t> serial(size, ~0u), queue{0};
        serial[0] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (std::uint32_t e = offsets[queue[i]]; e < offsets[queue[i] + 1]; ++e)
                if (serial[ends[e]] == ~0u) serial[ends[e]] = serial[queue[i]] + 1, queue.push_back(ends[e]);
        const std::span<const std::uint32_t> result = levels.gather();
        std::printf("%td of %zu vertices cannot be reached\n", std::ranges::count(result, ~0u), size);
        return std::ranges::equal(result, serial);
    });
}
