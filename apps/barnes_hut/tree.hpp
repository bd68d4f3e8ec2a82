// apps/barnes_hut/tree.hpp - the octree over bodies, built on the host.
#pragma once
#include "bodies.hpp"
#include "cells.hpp"

#include <span>
#include <vector>

namespace barnes_hut {

/// How the space that kernels see lies in the user's: place = centre + length * theirs, mass = mass * theirs.
struct Scale {
    Vector centre;
    double length = 1, mass = 1; ///< powers of two
    double gravity = 1;          ///< G, which kernels do not see: theirs is 1

    [[nodiscard]] double acceleration() const { return gravity * (mass / length / length); }
    [[nodiscard]] double potential() const { return gravity * (mass / length); }
    [[nodiscard]] Placement placement() const { return {centre, 1 / length, 1 / mass}; }
};

/// Errors  invalid_argument for more bodies than a tree has room for, 2^28
void check_size(const Bodies& bodies);
/// 1 / theta; infinity for 0: open everything.
[[nodiscard]] float inverse_of(double theta);
/// The box around all bodies, their mass, and the least of those that have one.
struct Whole {
    Extremes places;
    double mass = 0, least_mass = HUGE_VAL;
};
[[nodiscard]] Whole whole_of(const Bodies& bodies);
/// The cube around it becomes 1. Masses become such that the pull of the least one is a float of full
/// precision, and all together 2^-33 if that is enough: then no pull of bodies at known distances is beyond
/// floats.
/// Errors  invalid_argument, which range, for what floats or doubles cannot hold
[[nodiscard]] Scale scale_of(const Whole& whole, double softening, double gravity = 1);

/// Arrays as layout.h has them, and which body is where.
struct Tree {
    Scale scale;
    std::vector<std::uint32_t> order; ///< sorted place -> body of the input
    std::vector<Body> bodies;         ///< sorted
    std::vector<GroupBox> boxes;
    std::vector<NodeTest> tests;
    std::vector<NodeLink> links;
    std::vector<Moments> moments;
};

/// Builds trees, one after the other, in the same memory, on all cores.
///
/// Nodes lie level by level, so children are contiguous; the root is node 0. The result depends on the
/// bodies alone.
class TreeBuilder {
public:
    /// At least one body, fewer than 2^28. `strengths`: how large the acceleration of each body is, about,
    /// for an accuracy; else empty. Errors  invalid_argument for too many bodies; of scale_of
    const Tree& build(const Bodies& bodies, const Opening& opening, std::span<const double> strengths = {},
                      double softening = 0, double gravity = 1);

private:
    struct Keyed {
        std::uint64_t key;
        std::uint32_t body;
    };

    void sort(const Bodies& bodies, const Opening& opening, std::span<const double> strengths);
    void grow();
    void sum_up(const Opening& opening);

    Tree tree_;
    std::vector<Keyed> keyed_;
    std::vector<std::uint64_t> keys_;
    std::vector<Range> ranges_;               ///< of nodes
    std::vector<Split> splits_;               ///< of the nodes of one level
    std::vector<std::uint32_t> level_begins_; ///< the first node of each level, and the end
    std::vector<NodeSum> sums_;
};

} // namespace barnes_hut
