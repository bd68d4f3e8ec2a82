// apps/path_tracer/triangle_pairs.cpp - see wide_tree.hpp.
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

/// An edge between two corners. Triangles that share it have the same hash for it; others hardly ever do.
struct Edge {
    std::uint64_t hash;
    uint32_t triangle;
    uint32_t first_corner; ///< 0, 1 or 2; or 3: it is none

    bool operator<(const Edge& other) const {
        return std::tie(hash, triangle, first_corner) <
               std::tie(other.hash, other.triangle, other.first_corner);
    }
};

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

/// Sorted, so that triangles that share an edge are neighbours.
std::vector<Edge> edges_of(std::span<const Triangle> triangles) {
    std::vector<Edge> edges(3 * triangles.size());
    tbb::parallel_for(std::size_t{0}, triangles.size(), [&](std::size_t i) {
        const Triangle& triangle = triangles[i];
        // Of a needle that floats see as a line, no edge is the common one of two triangles.
        const bool is_line = is_same_point(triangle.a, triangle.b) || is_same_point(triangle.b, triangle.c) ||
                             is_same_point(triangle.c, triangle.a);
        for (uint32_t k = 0; k < 3; ++k) {
            const auto [low, high] = ends_of(triangle, k);
            Edge& edge = edges[3 * i + k];
            edge = {mixed(mixed(0, low), high), static_cast<uint32_t>(i), k};
            if (is_line)
                edge = {~std::uint64_t{0}, static_cast<uint32_t>(i), 3}; // at the end, out of the way
        }
    });
    tbb::parallel_sort(edges.begin(), edges.end());
    return edges;
}

bool are_shared(std::span<const Triangle> triangles, const Edge& one, const Edge& other) {
    return one.hash == other.hash && one.triangle != other.triangle && one.first_corner < 3 &&
           other.first_corner < 3 &&
           ends_of(triangles[one.triangle], one.first_corner) ==
               ends_of(triangles[other.triangle], other.first_corner);
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
    const std::vector<Edge> edges = edges_of(triangles);
    tbb::enumerable_thread_specific<std::vector<Candidate>> of_threads;
    tbb::parallel_for(std::size_t{1}, edges.size(), [&](std::size_t i) {
        const Edge &edge = edges[i - 1], &next = edges[i]; // where many share an edge, neighbours by number
        if (!are_shared(triangles, edge, next)) return;
        const Box one = box_of(triangles[edge.triangle]), other = box_of(triangles[next.triangle]);
        const float apart = one.half_area() + other.half_area();
        const float share = apart > 0 ? united(one, other).half_area() / apart : 1;
        if (share <= worth_a_pair) of_threads.local().push_back({share, edge.triangle, next.triangle});
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
