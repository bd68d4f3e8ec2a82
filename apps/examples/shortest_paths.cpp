// apps/examples/shortest_paths.cpp - the shortest paths from a corner of a map to all of its fields.
#include "example.hpp"
#include "shortest_paths.cl.hpp"
#include "shortest_paths.kernels.hpp"
#include <algorithm>
using namespace headrace;

int main(int argc, char** argv) {
    return example::run(argc, argv, 100, [](std::uint64_t size, Runtime& runtime) {
        if (size > 10'000) throw std::invalid_argument("SIZE is at most 10000");
        const std::uint32_t n = std::uint32_t(size), band = 16; // a step costs 8 at most
        Domain<std::uint32_t> costs("costs", {n, n}), distances("distances", {n, n});
        std::ranges::generate(costs.fill(), [i = 0u]() mutable { return 1 + (i++ * 2'654'435'769u >> 29); });
        const std::uint64_t most = (costs.size() + 1000) * runtime.devices().size(); // more than enough
        Domain<Step> open("open", {most}), next("next", {most});
        open.assign(std::vector<Step>{{0, 0}});
        for (std::uint32_t to = band; open.count() > 0; to += band, std::swap(open, next), next.clear()) {
            Job job("shortest paths", open.count());
            job.reads(costs, open).reduces<Min>(distances).appends(next).share_units();
            job.seeds(Records{}).kernel([&](Task& t) {
                return Walk{t.read(costs), t.read(open), t.reduce<Min>(distances), t.append(next), n, to};
            });
            job.opencl({"shortest_paths.cl", std::string(embedded::shortest_paths_cl), 1, sizeof(Step), 4},
                       [&](Task& t, OpenClArguments& arguments) {
                           arguments.buffer(t.memory(costs)).buffer(t.memory(open)).value(n).value(to);
                           arguments.buffer(t.memory(distances)).buffer(t.memory(next)).value(most);
                       });
            runtime.submit(job).wait();
        }
        const std::span<const std::uint32_t> cost = costs.gather();
        std::vector<std::uint32_t> serial(costs.size(), ~0u), queue{serial[0] = 0};
        for (std::size_t i = 0; i < 4 * queue.size(); ++i) {
            const std::uint32_t at = queue[i / 4], f = neighbour(at, n, int(i % 4)), d = serial[at] + cost[f];
            if (d < serial[f]) serial[f] = d, queue.push_back(f);
        }
        std::printf("the farthest field is at a distance of %u\n", std::ranges::max(distances.gather()));
        return std::ranges::equal(distances.gather(), serial);
    });
}
