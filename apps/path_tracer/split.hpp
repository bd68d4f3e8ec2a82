// apps/path_tracer/split.hpp - where to cut a node of the BVH in two.
#pragma once
#include "build_reference.hpp"

#include <cstddef>

#include <span>
#include <vector>

namespace path_tracer {

/// References from which on a split is given to several threads.
constexpr std::size_t references_worth_a_thread = 4096;

/// What surrounds the references of a node, and their centres.
struct Bounds {
    Box box, centres;
};
[[nodiscard]] Bounds bounds_of(std::span<const Reference> references);

/// A cut and what it costs: the sum over both sides of half the area times the references.
struct Split {
    float cost = std::numeric_limits<float>::max();
    int axis = -1; ///< -1: there is none
    float plane = 0;
    bool cuts_references = false;   ///< else those with their centre below the plane go left
    float overlap = 0;              ///< half the area of what both sides share
    float cost_without_overlap = 0; ///< if each side ended in the middle of what they share
};

/// The cheapest cut between references, by their centres.
[[nodiscard]] Split object_split(std::span<const Reference> references, const Bounds& bounds);

/// The cheapest cut through space: references that lie on both sides are themselves cut. Across the longest
/// axis, or `axis_between`, which is that of object_split: the third one is hardly ever better.
[[nodiscard]] Split spatial_split(std::span<const Reference> references, const Bounds& bounds,
                                  const Shapes& shapes, int axis_between);

/// Both sides of a cut: parts of what was cut, or, if references are cut, of `below_cut` and `above_cut`.
struct Sides {
    std::span<Reference> below, above;
    std::vector<Reference> below_cut, above_cut;
};

/// Divides by `split`, and moves the references for it. `most` references may result.
[[nodiscard]] Sides divide(std::span<Reference> references, const Split& split, const Shapes& shapes,
                           std::size_t most);

} // namespace path_tracer
