// apps/path_tracer/triangle_pairs.cpp - see wide_tree.hpp.
#include "parallel_array.hpp"
#include "wide_tree.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
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

/// An edge of a triangle. Those with the same ends have the same hash, others hardly ever do.
struct Edge {
    std::uint64_t hash;
    uint32_t triangle;
    uint32_t first_corner; ///< 0, 1 or 2

    bool operator<(const Edge& other) const {
        return std::tie(hash, triangle, first_corner) <
               std::tie(other.hash, other.triangle, other.first_corner);
    }
};
/// The hash of what is no edge.
constexpr std::uint64_t no_edge = ~std::uint64_t{0};

std::uint64_t mixed(std::uint64_t hash, const Corner& corner) {
    for (const uint32_t part : corner) {
        hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/// The lower one first.
using Corners = std::pair<Corner, Corner>;
Corners ends_of(const Triangle& triangle, uint32_t first_corner) {
    const Float3 corners[3] = {triangle.a, triangle.b, triangle.c};
    return std::minmax({corner_of(corners[first_corner]), corner_of(corners[(first_corner + 1) % 3])});
}

Edge edge_of(std::span<const Triangle> triangles, std::size_t number) {
    const Triangle& triangle = triangles[number / 3];
    const auto index = static_cast<uint32_t>(number / 3), first_corner = static_cast<uint32_t>(number % 3);
    // Of a needle that floats see as a line, no edge is the common one of two triangles.
    if (is_same_point(triangle.a, triangle.b) || is_same_point(triangle.b, triangle.c) ||
        is_same_point(triangle.c, triangle.a))
        return {no_edge, index, first_corner};
    const auto [low, high] = ends_of(triangle, first_corner);
    return {mixed(mixed(0, low), high), index, first_corner};
}

/// For each edge of each triangle the next triangle with an edge of the same hash, by number; or
/// PATH_TRACER_NO_TRIANGLE.
std::vector<std::array<uint32_t, 3>> next_at_edges(std::span<const Triangle> triangles) {
    const ParallelArray<Edge> edges(3 * triangles.size(),
                                    [&](std::size_t i) { return edge_of(triangles, i); });
    tbb::parallel_sort(edges.elements().begin(), edges.elements().end());
    std::vector<std::array<uint32_t, 3>> next(triangles.size());
    tbb::parallel_for(std::size_t{0}, edges.size(), [&](std::size_t i) {
        const Edge& edge = edges[i];
        const bool is_shared = i + 1 < edges.size() && edges[i + 1].hash == edge.hash && edge.hash != no_edge;
        next[edge.triangle][edge.first_corner] = is_shared ? edges[i + 1].triangle : PATH_TRACER_NO_TRIANGLE;
    });
    return next;
}

/// Whether the second has that edge of the first, too.
bool are_at_edge(const Triangle& first, uint32_t first_corner, const Triangle& second) {
    const Corners ends = ends_of(first, first_corner);
    return ends == ends_of(second, 0) || ends == ends_of(second, 1) || ends == ends_of(second, 2);
}

/// Two triangles that could be a pair.
struct Candidate {
    float share; ///< of the sum of their boxes' areas
    uint32_t first, second;

    bool operator<(const Candidate& other) const {
        return std::tie(share, first, second) < std::tie(other.share, other.first, other.second);
    }
};

/// Sorted, the best one first.
std::vector<Candidate> candidates_among(std::span<const Triangle> triangles) {
    const auto next = next_at_edges(triangles);
    tbb::enumerable_thread_specific<std::vector<Candidate>> of_threads;
    tbb::parallel_for(std::size_t{0}, triangles.size(), [&](std::size_t i) { // neighbours are near in memory
        const Triangle& triangle = triangles[i];
        for (uint32_t k = 0; k < 3; ++k) {
            const uint32_t other = next[i][k];
            if (other == PATH_TRACER_NO_TRIANGLE || other == i || !are_at_edge(triangle, k, triangles[other]))
                continue;
            const Box box = box_of(triangle), other_box = box_of(triangles[other]);
            const float apart = box.half_area() + other_box.half_area();
            const float share = apart > 0 ? united(box, other_box).half_area() / apart : 1;
            if (share <= worth_a_pair) of_threads.local().push_back({share, static_cast<uint32_t>(i), other});
        }
    });
    std::vector<Candidate> candidates;
    for (const auto& some : of_threads) candidates.insert(candidates.end(), some.begin(), some.end());
    tbb::parallel_sort(candidates.begin(), candidates.end());
    return candidates;
}

} // namespace

std::vector<PairOfTriangles> paired(std::span<const Triangle> triangles) {
    std::vector<bool> is_taken(triangles.size());
    std::vector<PairOfTriangles> pairs;
    pairs.reserve(triangles.size());
    for (const Candidate& candidate : candidates_among(triangles)) {
        if (is_taken[candidate.first] || is_taken[candidate.second]) continue;
        is_taken[candidate.first] = is_taken[candidate.second] = true;
        pairs.push_back({candidate.first, candidate.second});
    }
    for (uint32_t i = 0; i < triangles.size(); ++i)
        if (!is_taken[i]) pairs.push_back({i, PATH_TRACER_NO_TRIANGLE});
    return pairs;
}

} // namespace path_tracer
