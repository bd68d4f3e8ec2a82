// apps/path_tracer/split.hpp - where to cut a node of the BVH in two.
#pragma once
#include "build_reference.hpp"

#include <span>
#include <vector>

namespace path_tracer {

/// The references of a node, and what surrounds them and their centres.
struct Bounds {
    Box box, centres;

    void add(const Bounds& other) {
        box.add(other.box);
        centres.add(other.centres);
    }
};
[[nodiscard]] Bounds bounds_of(std::span<const Reference> references);

/// A cut and what it costs: the sum over both sides of half the area times the references.
struct Split {
    float cost = std::numeric_limits<float>::max();
    int axis = -1; ///< -1: there is none
    float plane = 0;
    bool cuts_references = false; ///< else those with their centre below the plane go left
    float overlap = 0;            ///< half the area of what both sides share
};

/// The cheapest cut between references, by their centres.
[[nodiscard]] Split object_split(std::span<const Reference> references, const Bounds& bounds);

/// The cheapest cut through space: references that lie on both sides are themselves cut.
[[nodiscard]] Split spatial_split(std::span<const Reference> references, const Bounds& bounds,
                                  const Shapes& shapes);

/// Divides by `split`. `most` references may result.
struct Sides {
    std::vector<Reference> below, above;
};
[[nodiscard]] Sides divide(std::vector<Reference> references, const Split& split, const Shapes& shapes,
                           std::size_t most);

} // namespace path_tracer
