// apps/barnes_hut/device_build.cpp - see device_build.hpp.
#include "device_build.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

namespace barnes_hut {

void build_on_host(TreeBuild build) {
    std::vector<uint64_t> unsorted(build.count), keys(build.count);
    std::vector<Range> ranges(build.capacity);
    std::vector<NodeSum> sums(build.capacity);
    build.keys = keys.data();
    build.ranges = ranges.data();
    build.sums = sums.data();

    for (uint32_t i = 0; i < build.count; ++i) unsorted[i] = build.key_of(i);
    std::iota(build.order, build.order + build.count, 0u);
    std::sort(build.order, build.order + build.count,
              [&](uint32_t a, uint32_t b) { return std::tie(unsorted[a], a) < std::tie(unsorted[b], b); });
    for (uint32_t i = 0; i < build.count; ++i) keys[i] = unsorted[build.order[i]];
    for (uint32_t i = 0; i < build.count; ++i) build.place_body(i);
    for (uint32_t i = 0; i < build.groups(); ++i) build.box_group(i);

    std::fill(build.level_nodes, build.level_nodes + tree_levels, 0u);
    build.level_nodes[0] = 1;
    ranges[0] = {0, build.count};
    for (uint32_t level = 0; level < tree_levels; ++level) {
        const Range nodes = build.level(level);
        for (uint32_t node = nodes.begin; node < nodes.end; ++node) {
            const Split parts = split(build.keys, ranges[node]);
            if (parts.children == 0) {
                build.make_leaf(node);
                continue;
            }
            const uint32_t first = nodes.end + build.level_nodes[level + 1];
            build.level_nodes[level + 1] += parts.children;
            build.make_parent(node, first, parts.children);
            for (uint32_t j = 0, begin = ranges[node].begin; j < parts.children; begin = parts.ends[j++])
                if (first + j < build.capacity) ranges[first + j] = {begin, parts.ends[j]};
        }
    }
    if (build.level(tree_levels - 1).end == build.capacity &&
        std::accumulate(build.level_nodes, build.level_nodes + tree_levels, 0u) > build.capacity)
        return; // of no use: see `capacity`
    for (uint32_t level = tree_levels; level-- > 0;) {
        const Range nodes = build.level(level);
        for (uint32_t node = nodes.begin; node < nodes.end; ++node) build.sum_up(node);
    }
}

} // namespace barnes_hut
