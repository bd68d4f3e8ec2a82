// A group's walk by lane groups of every width, on the host: the code that warps and wavefronts run.
#include "reference_gravity.hpp"
#include "tree.hpp"
#include "walk.hpp"
#include <headrace/persistent/detail/lanes_host.hpp>
#include <headrace/persistent/group_kernel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace barnes_hut::test {
namespace {

template <unsigned Width>
using Lanes = headrace::KernelGroup<headrace::HostLanes<Width>, headrace::ConsumingLane>;

template <class Group>
class WalkBy : public testing::Test {};
using Widths = testing::Types<Lanes<8>, Lanes<16>, Lanes<32>, Lanes<64>>;
TYPED_TEST_SUITE(WalkBy, Widths);

template <class T>
headrace::View<const T> view(const std::vector<T>& elements) {
    return {elements.data(), {{elements.size(), 1, 1}}};
}

/// Forces of all bodies, each group's walk in parts of `budget`. The scratch is exactly as large as said.
template <class Group>
std::vector<Vector> walk_all(const Tree& tree, const Space& space, uint32_t budget) {
    const TreeView seen{view(tree.tests),  view(tree.links), view(tree.moments),
                        view(tree.bodies), view(tree.boxes), space};
    std::vector<Vector> forces(tree.bodies.size());
    const double scale = tree.scale.acceleration();
    for (uint32_t number = 0; number < space.groups; ++number) {
        std::vector<std::vector<uint32_t>> parts{{BARNES_HUT_ROOT}};
        while (!parts.empty()) {
            const std::vector<uint32_t> families = parts.back();
            parts.pop_back();
            // Aligned to 16 bytes, as the engine's is.
            const auto scratch = std::make_unique<NodeSource[]>((walk_words(Group::size) * 4 + 47) / 48);
            const headrace::LocalSums no_sums;
            Group group({}, headrace::ConsumingLane(no_sums), reinterpret_cast<uint32_t*>(scratch.get()));
            Walk<Group> walk(group, seen, number);
            for (const uint32_t family : families) walk.begin_with(family);
            walk.run(budget, BARNES_HUT_FAMILIES, [] { return true; });
            if (walk.left() > 0) {
                std::vector<uint32_t> rest;
                for (uint32_t i = 0; i < walk.left(); ++i) rest.push_back(walk.family(i));
                EXPECT_LE(rest.size(), BARNES_HUT_FAMILIES);
                parts.push_back(rest);
            }
            walk.each_force([&](uint32_t place, const Force& force) {
                Vector& sum = forces[tree.order[number * BARNES_HUT_GROUP + place]];
                sum = {sum.x + scale * double{force.x}, sum.y + scale * double{force.y},
                       sum.z + scale * double{force.z}};
            });
        }
    }
    return forces;
}

void expect_good(const Bodies& bodies, const std::vector<Vector>& forces, double softening, double median,
                 double worst) {
    const std::vector<double> errors = errors_of(bodies, forces, softening, 1);
    EXPECT_LT(errors[errors.size() / 2], median);
    EXPECT_LT(errors.back(), worst);
}

Space space_of(const Tree& tree, double softening) {
    const auto scaled = static_cast<float>(softening / tree.scale.length);
    return {std::max(scaled * scaled, 1e-32f),
            static_cast<uint32_t>(tree.bodies.size()),
            static_cast<uint32_t>(tree.boxes.size()),
            1,
            1,
            0,
            0};
}

TYPED_TEST(WalkBy, FindsForcesInOneGoAndInParts) {
    const Bodies bodies = plummer_sphere(2500, 1);
    TreeBuilder builder;
    const Tree& tree = builder.build(bodies, {inverse_of(0.5)});
    for (const uint32_t budget : {~0u, 1u, 300u})
        expect_good(bodies, walk_all<TypeParam>(tree, space_of(tree, 1e-2), budget), 1e-2, 2e-4, 1e-2);
}

/// Pairs of bodies, ever smaller: the deepest tree there is, every node of which is opened.
TYPED_TEST(WalkBy, HasRoomForTheDeepestTree) {
    std::vector<Vector> places;
    for (int depth = 0; depth < 24; ++depth)
        for (int corner = 0; corner < 8 * 24; ++corner)
            places.push_back({std::ldexp(corner & 1 ? 1.0 : -1.0, -depth) + 1e-9 * corner,
                              std::ldexp(corner & 2 ? 1.0 : -1.0, -depth),
                              std::ldexp(corner & 4 ? 1.0 : -1.0, -depth)});
    const Bodies bodies{places, std::vector<Vector>(places.size()), std::vector<double>(places.size(), 1.0)};
    TreeBuilder builder;
    for (const double theta : {0.0, 0.5}) {
        const Tree& tree = builder.build(bodies, {inverse_of(theta)});
        expect_good(bodies, walk_all<TypeParam>(tree, space_of(tree, 1e-3), ~0u), 1e-3, 2e-3, 1e-1);
    }
}

/// A leaf has more bodies than keys tell apart: more than the list of bodies has room for at once.
TYPED_TEST(WalkBy, ListsTheBodiesOfALeafOfAnySize) {
    Bodies bodies = plummer_sphere(2500, 1);
    for (std::size_t i = 0; i < 700; ++i) {
        const double offset = 1e-9 * static_cast<double>(i);
        bodies.places[i] = {0.3 + offset, 0.2 - offset, 0.1};
    }
    TreeBuilder builder;
    const Tree& tree = builder.build(bodies, {inverse_of(0.5)});
    const auto largest = std::ranges::max(tree.links, {}, &NodeLink::bodies);
    EXPECT_GT(largest.bodies, 4u * TypeParam::size) << "no leaf is that large";
    expect_good(bodies, walk_all<TypeParam>(tree, space_of(tree, 1e-2), ~0u), 1e-2, 2e-4, 1e-2);
}

} // namespace
} // namespace barnes_hut::test
