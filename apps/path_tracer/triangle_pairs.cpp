// apps/path_tracer/triangle_pairs.cpp - see wide_tree.hpp.
#include "wide_tree.hpp"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <bit>
#include <tuple>

namespace path_tracer {
namespace {

constexpr float worth_a_pair = 0.85f;

using Corner = std::array<uint32_t, 3>;
Corner corner_of(Float3 point) { // + 0: -0 equals 0
    return {std::bit_cast<uint32_t>(point.x + 0.0f), std::bit_cast<uint32_t>(point.y + 0.0f),
            std::bit_cast<uint32_t>(point.z + 0.0f)};
}

struct Edge {
    Corner one, other; ///< the lower one first
    uint32_t triangle;

    [[nodiscard]] bool is_on(const Edge& edge) const { return one == edge.one && other == edge.other; }
    bool operator<(const Edge& edge) const {
        return std::tie(one, other, triangle) < std::tie(edge.one, edge.other, edge.triangle);
    }
};

std::vector<Edge> edges_of(std::span<const Triangle> triangles) {
    std::vector<Edge> edges;
    edges.reserve(3 * triangles.size());
    for (uint32_t i = 0; i < triangles.size(); ++i) {
        const Corner corners[3] = {corner_of(triangles[i].a), corner_of(triangles[i].b),
                                   corner_of(triangles[i].c)};
        // Of a needle that floats see as a line, no edge is the common one of two triangles.
        if (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0]) continue;
        for (int k = 0; k < 3; ++k) {
            const Corner from = corners[k], to = corners[(k + 1) % 3];
            edges.push_back({std::min(from, to), std::max(from, to), i});
        }
    }
    tbb::parallel_sort(edges.begin(), edges.end());
    return edges;
}

/// Two triangles that could be a pair.
struct Candidate {
    float share; ///< of the sum of their boxes' areas
    uint32_t first, second;

    bool operator<(const Candidate& other) const {
        return std::tie(share, first, second) < std::tie(other.share, other.first, other.second);
    }
};

} // namespace

std::vector<PairOfTriangles> paired(std::span<const Triangle> triangles) {
    const std::vector<Edge> edges = edges_of(triangles);
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) { // where many share an edge, its neighbours by number
        const Edge &edge = edges[i], &next = edges[i + 1];
        if (!edge.is_on(next) || edge.triangle == next.triangle) continue;
        const Box one = box_of(triangles[edge.triangle]), other = box_of(triangles[next.triangle]);
        const float apart = one.half_area() + other.half_area();
        const float share = apart > 0 ? united(one, other).half_area() / apart : 1;
        if (share <= worth_a_pair) candidates.push_back({share, edge.triangle, next.triangle});
    }
    tbb::parallel_sort(candidates.begin(), candidates.end());
    std::vector<bool> is_taken(triangles.size());
    std::vector<PairOfTriangles> pairs;
    pairs.reserve(triangles.size());
    for (const Candidate& candidate : candidates) {
        if (is_taken[candidate.first] || is_taken[candidate.second]) continue;
        is_taken[candidate.first] = is_taken[candidate.second] = true;
        pairs.push_back({candidate.first, candidate.second});
    }
    for (uint32_t i = 0; i < triangles.size(); ++i)
        if (!is_taken[i]) pairs.push_back({i, PATH_TRACER_NO_TRIANGLE});
    return pairs;
}

} // namespace path_tracer
