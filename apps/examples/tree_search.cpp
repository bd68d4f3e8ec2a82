// apps/examples/tree_search.cpp - how many nodes have unbalanced trees, and how deep are they?
#include "example.hpp"
#include "tree_search.cl.hpp"
#include "tree_search.kernels.hpp"

#include <algorithm>

using namespace headrace;

static void serial(Node node, std::uint64_t& nodes, std::uint32_t& depth) {
    ++nodes;
    depth = std::max(depth, node.depth);
    for (std::uint64_t i = 0; i < children_of(node); ++i) serial(Child{}(i, node), nodes, depth);
}

int main(int argc, char** argv) {
    return example::run(argc, argv, 10'000, [](std::uint64_t size, Runtime& runtime) {
        Domain<std::uint64_t> nodes("nodes", {1});
        Domain<std::uint32_t> depth("depth", {1});
        nodes.fill()[0] = size, depth.fill()[0] = 1; // the roots: the job adds to what is there
        Job job("tree search", size);
        job.accumulates(nodes).reduces<Max>(depth).share_units();
        job.seeds(Trees{}).kernel([&](Task& t) { return Search{t.sum(nodes), t.reduce<Max>(depth)}; });
        OpenClKernel twin{"tree_search.cl", std::string(embedded::tree_search_cl), 2, sizeof(Range<Node>), 1};
        twin.ranges = {{1, 0}}; // those of kind 1 are of units of kind 0
        job.opencl(twin, [&](Task& t, OpenClArguments& arguments) {
            arguments.buffer(t.memory(nodes)).buffer(t.memory(depth));
        });
        const JobHandle run = runtime.submit(job);
        run.wait();

        std::uint64_t all = 0;
        std::uint32_t deepest = 0;
        for (std::uint64_t i = 0; i < size; ++i) serial(Trees{}(i), all, deepest);
        std::printf("%zu nodes, depth %u\n%s", nodes.gather()[0], depth.gather()[0],
                    run.report().table().c_str());
        return nodes.gather()[0] == all && depth.gather()[0] == deepest;
    });
}
