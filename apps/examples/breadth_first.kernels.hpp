// apps/examples/breadth_first.kernels.hpp - a work unit is a vertex of the last level.
#pragma once
#include <headrace/kernel.hpp>

/// Appends the neighbours that this device has not seen. Another one may append a vertex again, which costs
/// time and changes nothing: of all levels of a vertex the least is right.
struct Visit {
    headrace::View<const std::uint32_t> first, neighbours, frontier; ///< first: of each vertex's neighbours
    headrace::Reduction<std::uint32_t, headrace::Min> levels;
    headrace::Append<std::uint32_t> next;
    std::uint32_t level;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const std::uint32_t vertex = frontier[i];
        for (std::uint32_t edge = first[vertex]; edge < first[vertex + 1]; ++edge) {
            const std::uint32_t neighbour = neighbours[edge];
            if (headrace::atomic_min(levels.origin[neighbour], level) > level) next.append(neighbour);
        }
    }
};
