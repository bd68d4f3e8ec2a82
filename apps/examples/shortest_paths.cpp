// apps/examples/shortest_paths.cpp - the shortest paths from a corner of a map to all of its fields.
#include "example.hpp"
#include "shortest_paths.cl.hpp"
#include "shortest_paths.kernels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

using namespace headrace;

static std::vector<std::uint32_t> serial(std::span<const std::uint32_t> costs, std::uint32_t side) {
    std::vector<std::uint32_t> distances(costs.size(), ~0u), open{distances[0] = 0};
    for (std::size_t i = 0; i < open.size(); ++i)
        for_neighbours(open[i], side, [&, reached = distances[open[i]]](std::uint32_t f) {
            if (reached + costs[f] < distances[f]) distances[f] = reached + costs[f], open.push_back(f);
        });
    return distances;
}

int main(int argc, char** argv) {
    return example::run(argc, argv, 100, [](std::uint64_t size, Runtime& runtime) {
        if (size > 10'000) throw std::invalid_argument("SIZE is at most 10000");
        const std::uint32_t n = std::uint32_t(size), band = 16;
        Domain<std::uint32_t> costs("costs", {n, n}), before("before", {n, n}), after("after", {n, n});
        std::ranges::generate(costs.fill(), [i = 0u]() mutable { return 1 + (i++ * 2'654'435'769u >> 29); });
        std::ranges::generate(before.fill(), [i = 0u]() mutable { return i++ == 0 ? 0 : ~0u; });
        for (std::uint32_t from = 0, most = ~0u; most >= from; from += band, std::swap(before, after)) {
            Job job("shortest paths", costs.size());
            job.reads(costs, before).reduces<Min>(after).share_units();
            job.seeds(Fields{}).kernel([&](Task& t) {
                return Walk{t.read(costs), t.read(before), t.reduce<Min>(after), n, from, from + band};
            });
            job.opencl({"shortest_paths.cl", std::string(embedded::shortest_paths_cl), 1, sizeof(Step), 4},
                       [&](Task& t, OpenClArguments& arguments) {
                           arguments.buffer(t.memory(costs)).buffer(t.memory(before)).buffer(t.memory(after));
                           arguments.value(n).value(from).value(from + band);
                       });
            runtime.submit(job).wait();
            most = std::ranges::max(after.gather());
        }
        std::printf("the farthest field is at a distance of %u\n", std::ranges::max(before.gather()));
        return std::ranges::equal(before.gather(), serial(costs.gather(), n));
    });
}
