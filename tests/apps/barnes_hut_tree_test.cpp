// The curve and the octree: what every walk relies on.
#include "reference_gravity.hpp"
#include "tree.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

namespace barnes_hut::test {
namespace {

TEST(HilbertKey, StepsFromCellToNeighbour) {
    // The coarsest 16^3 cells, in the order of their keys.
    constexpr unsigned levels = 4, shift = BARNES_HUT_LEVELS - levels;
    std::map<std::uint64_t, std::array<int, 3>> cells;
    for (unsigned x = 0; x < 1 << levels; ++x)
        for (unsigned y = 0; y < 1 << levels; ++y)
            for (unsigned z = 0; z < 1 << levels; ++z)
                cells[hilbert_key(x << shift, y << shift, z << shift) >> (3 * shift)] = {
                    static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)};
    ASSERT_EQ(cells.size(), 4096u);
    EXPECT_EQ(cells.rbegin()->first, 4095u);
    for (auto cell = cells.begin(), next = std::next(cell); next != cells.end(); ++cell, ++next) {
        int steps = 0;
        for (unsigned i = 0; i < 3; ++i) steps += std::abs(cell->second[i] - next->second[i]);
        EXPECT_EQ(steps, 1) << cell->first;
    }
}

/// Walks over every node and checks what must hold of it. Returns how many bodies are below it.
class Checker {
public:
    explicit Checker(const Tree& tree) : tree_(tree), seen_(tree.bodies.size()) {}

    void check() {
        EXPECT_EQ(tree_.links.size(), tree_.tests.size());
        EXPECT_EQ(tree_.links.size(), tree_.moments.size());
        const double mass = visit(0, 0);
        double sum = 0;
        for (const Body& body : tree_.bodies) sum += double{body.mass};
        EXPECT_NEAR(mass, sum, 1e-6 * sum);
        for (const unsigned count : seen_) EXPECT_EQ(count, 1u);
        EXPECT_EQ(nodes_, tree_.links.size());
        std::set<std::uint32_t> bodies(tree_.order.begin(), tree_.order.end());
        EXPECT_EQ(bodies.size(), tree_.order.size());
        EXPECT_EQ(tree_.boxes.size(), (tree_.bodies.size() + 63) / 64);
    }

private:
    double visit(std::uint32_t node, unsigned depth) {
        EXPECT_LE(depth, BARNES_HUT_LEVELS);
        ++nodes_;
        const NodeLink link = tree_.links[node];
        double mass = 0;
        if (link.bodies > 0) {
            for (std::uint32_t i = link.first; i < link.first + link.bodies; ++i) {
                ++seen_[i];
                mass += double{tree_.bodies[i].mass};
            }
        } else {
            const std::uint32_t first = link.first & BARNES_HUT_NODE_MASK,
                                children = (link.first >> BARNES_HUT_NODE_BITS) + 1;
            EXPECT_GE(children, 2u);
            EXPECT_GT(first, node);
            for (std::uint32_t child = first; child < first + children; ++child)
                mass += visit(child, depth + 1);
        }
        EXPECT_NEAR(double{tree_.moments[node].mass}, mass, 1e-6 * mass);
        EXPECT_GT(tree_.tests[node].radius2, 0);
        return mass;
    }

    const Tree& tree_;
    std::vector<unsigned> seen_;
    std::size_t nodes_ = 0;
};

void expect_a_tree(const Bodies& bodies) {
    TreeBuilder builder;
    Checker(builder.build(bodies, {inverse_of(0.5)})).check();
}

Bodies at(const std::vector<Vector>& places) {
    return {places, std::vector<Vector>(places.size()), std::vector<double>(places.size(), 1)};
}

TEST(Tree, HasEveryBodyOnce) {
    for (const std::size_t count : {1, 2, 16, 17, 63, 64, 65, 1000, 30000}) {
        SCOPED_TRACE(count);
        expect_a_tree(plummer_sphere(count, 1));
    }
}

TEST(Tree, TakesWhatIsInOnePlaceOrFarApart) {
    expect_a_tree(at(std::vector<Vector>(500, Vector{3, 4, 5})));
    std::vector<Vector> places;
    for (int i = 0; i < 300; ++i) // halves, finer than the finest cells
        places.push_back({std::ldexp(1.0, -i / 3), 0, 0});
    expect_a_tree(at(places));
    for (Vector& place : places) place.y = 1e90 * place.x;
    expect_a_tree(at(places));
    for (Vector& place : places) place = {1e-90 * place.x, 0, 1e-95};
    expect_a_tree(at(places));
    Bodies tracers = plummer_sphere(100, 1);
    tracers.masses.assign(100, 0);
    expect_a_tree(tracers);
}

TEST(Tree, DependsOnTheBodiesAlone) {
    const Bodies bodies = plummer_sphere(5000, 2);
    TreeBuilder once, again;
    again.build(plummer_sphere(777, 1), {inverse_of(0.3)});
    const Tree &a = once.build(bodies, {inverse_of(0.5)}), &b = again.build(bodies, {inverse_of(0.5)});
    EXPECT_EQ(a.order, b.order);
    EXPECT_EQ(std::memcmp(a.moments.data(), b.moments.data(), a.moments.size() * sizeof(Moments)), 0);
    EXPECT_EQ(std::memcmp(a.tests.data(), b.tests.data(), a.tests.size() * sizeof(NodeTest)), 0);
}

TEST(Tree, PlacesAreKeptToTwoFloats) {
    const Bodies bodies = plummer_sphere(1000, 2);
    TreeBuilder builder;
    const Tree& tree = builder.build(bodies, {inverse_of(0.5)});
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const Body& body = tree.bodies[i];
        const double x = tree.scale.centre.x + tree.scale.length * (double{body.x} + double{body.low_x});
        EXPECT_NEAR(x, bodies.places[tree.order[i]].x, tree.scale.length * 0x1p-47);
    }
}

TEST(Tree, QuadrupolesAreThoseOfTheirBodies) {
    const Bodies bodies = plummer_sphere(3000, 4);
    TreeBuilder builder;
    const Tree& tree = builder.build(bodies, {inverse_of(0.5)});
    // The root's, summed up directly.
    double mass = 0, x = 0, xx = 0, xy = 0, y = 0;
    const auto place = [&](std::size_t i, double Vector::*axis, double centre) {
        return (bodies.places[tree.order[i]].*axis - centre) / tree.scale.length;
    };
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const double m = double{tree.bodies[i].mass};
        mass += m;
        x += m * place(i, &Vector::x, tree.scale.centre.x);
        y += m * place(i, &Vector::y, tree.scale.centre.y);
    }
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const double m = double{tree.bodies[i].mass},
                     dx = place(i, &Vector::x, tree.scale.centre.x) - x / mass,
                     dy = place(i, &Vector::y, tree.scale.centre.y) - y / mass;
        xx += m * dx * dx;
        xy += m * dx * dy;
    }
    EXPECT_NEAR(double{tree.moments[0].xx}, 3 * xx, 1e-6 * xx);
    EXPECT_NEAR(double{tree.moments[0].xy}, 3 * xy, 1e-6 * xx);
    EXPECT_NEAR(double{tree.tests[0].x} + double{tree.moments[0].x}, x / mass, 1e-12);
}

} // namespace
} // namespace barnes_hut::test
