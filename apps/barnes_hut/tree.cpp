// apps/barnes_hut/tree.cpp - see tree.hpp.
#include "tree.hpp"
#include <headrace/core/error.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>

namespace barnes_hut {
namespace {

constexpr std::size_t most_bodies = std::size_t{1} << 28; // then nodes are fewer than 2^29

/// The least power of two that is not below `value`; 1 for 0.
double power_of_two(double value) {
    if (!(value > 0)) return 1;
    int exponent = 0;
    const double part = std::frexp(value, &exponent); // in [1/2, 1)
    return std::ldexp(1, part == 0.5 ? exponent - 1 : exponent);
}

} // namespace

Whole whole_of(const Bodies& bodies) {
    // In blocks of a fixed size and a fixed order: the same sum on any number of cores.
    return tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(0, bodies.size(), 10'000), Whole{},
        [&](const auto& range, Whole part) {
            for (std::size_t i = range.begin(); i < range.end(); ++i) {
                part.places = part.places.with(Extremes::of(bodies.places[i]));
                const double mass = bodies.masses[i];
                part.mass += mass;
                if (mass > 0) part.least_mass = std::min(part.least_mass, mass);
            }
            return part;
        },
        [](const Whole& a, const Whole& b) {
            return Whole{a.places.with(b.places), a.mass + b.mass, std::min(a.least_mass, b.least_mass)};
        });
}

namespace {

[[noreturn]] void refuse_range(const std::string& what) {
    throw headrace::Error{headrace::ErrorKind::invalid_argument, what};
}

std::string text_of(double number) {
    std::ostringstream text;
    text << number;
    return text.str();
}

/// What all masses together become. The pull of the least is then 2^-70 at the distance of 1, or of the
/// softening: second moments of its nodes are floats too.
double scaled_mass(const Whole& whole, double softening, double length) {
    constexpr double usual = 0x1p-33, least_pull = 0x1p-70, largest = 0x1p100, softest = 1e12;
    const double distance = std::max(1.0, softening / length);
    if (!(distance <= softest))
        refuse_range("--softening " + text_of(softening) + ": is more than 1e12 times the " +
                     text_of(length) + " within which all bodies are; use less");
    if (!(whole.mass > 0)) return usual;
    const double ratio = whole.mass / whole.least_mass;
    const double mass = distance * distance * distance * std::max(usual, least_pull * ratio);
    if (!(ratio <= 0x1p133) || !(mass <= largest))
        refuse_range("masses from " + text_of(whole.least_mass) + " to " + text_of(whole.mass) +
                     " of all: forces are computed for ratios of up to 1e40, and less where --softening is "
                     "larger than the space that bodies are in; give the lightest a mass of 0");
    return power_of_two(mass);
}

} // namespace

Scale scale_of(const Whole& whole, double softening, double gravity) {
    constexpr double farthest = 1e150; // squares are doubles
    const Extremes& places = whole.places;
    const auto middle = [&](unsigned i) { return places.low[i] / 2 + places.high[i] / 2; };
    double side = 0;
    for (unsigned i = 0; i < 3; ++i) {
        if (!(places.low[i] >= -farthest && places.high[i] <= farthest))
            refuse_range("bodies are more than 1e150 from the origin; choose other units, or a shorter --dt");
        side = std::max(side, places.high[i] - places.low[i]);
    }
    const double length = power_of_two(side);
    const Scale scale{{middle(0), middle(1), middle(2)},
                      length,
                      power_of_two(whole.mass) / scaled_mass(whole, softening, length),
                      gravity};
    // What is a float there is a double here.
    constexpr double least = 1e-270, most = 1e300;
    for (const double unit : {1 / scale.length, 1 / scale.mass, scale.acceleration(), scale.potential()})
        if (!(unit >= least && unit <= most))
            refuse_range("bodies of mass " + text_of(whole.mass) + " together within a space of " +
                         text_of(side) + (gravity == 1 ? "" : " with --G " + text_of(gravity)) +
                         ": what they do to each other is beyond 1e-300 to 1e300; choose other units");
    return scale;
}

namespace {

template <class F>
void each(std::size_t count, F&& f) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 64), [&](const auto& range) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) f(i);
    });
}

} // namespace

void check_size(const Bodies& bodies) {
    if (bodies.size() >= most_bodies)
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              std::to_string(bodies.size()) + " bodies: a tree has room for fewer than 2^28"};
}

float inverse_of(double theta) {
    return theta > 0 ? static_cast<float>(1 / theta) : std::numeric_limits<float>::infinity();
}

const Tree& TreeBuilder::build(const Bodies& bodies, const Opening& opening,
                               std::span<const double> strengths, double softening, double gravity) {
    check_size(bodies);
    HEADRACE_ASSERT(bodies.size() > 0);
    HEADRACE_ASSERT(strengths.empty() || strengths.size() == bodies.size());
    tree_.scale = scale_of(whole_of(bodies), softening, gravity);
    sort(bodies, opening, strengths);
    grow();
    sum_up(opening);
    return tree_;
}

void TreeBuilder::sort(const Bodies& bodies, const Opening& opening, std::span<const double> strengths) {
    const std::size_t count = bodies.size();
    const Placement placement = tree_.scale.placement();
    keyed_.resize(count);
    each(count, [&](std::size_t i) {
        const Vector place = placement.place(bodies.places[i]);
        keyed_[i] = {hilbert_key(cell_of(place.x), cell_of(place.y), cell_of(place.z)),
                     static_cast<std::uint32_t>(i)};
    });
    tbb::parallel_sort(keyed_, [](const Keyed& a, const Keyed& b) {
        return std::tie(a.key, a.body) < std::tie(b.key, b.body);
    });
    keys_.resize(count);
    tree_.order.resize(count);
    tree_.bodies.resize(count);
    each(count, [&](std::size_t i) {
        const std::uint32_t from = keyed_[i].body;
        keys_[i] = keyed_[i].key;
        tree_.order[i] = from;
        tree_.bodies[i] = placement.body(bodies.places[from], bodies.masses[from]);
    });
    tree_.boxes.resize((count + BARNES_HUT_GROUP - 1) / BARNES_HUT_GROUP);
    each(tree_.boxes.size(), [&](std::size_t i) {
        const std::size_t begin = i * BARNES_HUT_GROUP, end = std::min(begin + BARNES_HUT_GROUP, count);
        const Range range{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
        tree_.boxes[i] = box_of(tree_.bodies.data(), range);
        if (!strengths.empty())
            tree_.boxes[i].reach = reach_of(
                least_of(strengths.data(), tree_.order.data(), range) / tree_.scale.acceleration(), opening);
    });
}

/// Level by level: every node of one finds its children, which become the next.
void TreeBuilder::grow() {
    ranges_.assign(1, {0, static_cast<std::uint32_t>(keys_.size())});
    tree_.links.clear();
    level_begins_ = {0};
    for (std::size_t begin = 0; begin < ranges_.size();) {
        const std::size_t end = ranges_.size(), nodes = end - begin;
        splits_.resize(nodes);
        each(nodes, [&](std::size_t i) { splits_[i] = split(keys_.data(), ranges_[begin + i]); });
        std::uint32_t next = static_cast<std::uint32_t>(end);
        tree_.links.resize(end);
        for (std::size_t i = 0; i < nodes; ++i) {
            const std::uint32_t children = splits_[i].children;
            const Range range = ranges_[begin + i];
            tree_.links[begin + i] = children == 0
                                         ? NodeLink{range.begin, range.size(), 0, 0}
                                         : NodeLink{next | (children - 1) << BARNES_HUT_NODE_BITS, 0, 0, 0};
            next += children;
        }
        ranges_.resize(next);
        each(nodes, [&](std::size_t i) {
            std::uint32_t child = tree_.links[begin + i].first & BARNES_HUT_NODE_MASK;
            std::uint32_t from = ranges_[begin + i].begin;
            for (std::uint32_t j = 0; j < splits_[i].children; ++j) {
                ranges_[child++] = {from, splits_[i].ends[j]};
                from = splits_[i].ends[j];
            }
        });
        begin = end;
        level_begins_.push_back(static_cast<std::uint32_t>(end));
    }
}

/// From the deepest level to the root.
void TreeBuilder::sum_up(const Opening& opening) {
    const std::size_t nodes = ranges_.size();
    sums_.resize(nodes);
    tree_.tests.resize(nodes);
    tree_.moments.resize(nodes);
    for (std::size_t level = level_begins_.size() - 1; level-- > 0;) {
        const std::size_t begin = level_begins_[level];
        each(level_begins_[level + 1] - begin, [&](std::size_t i) {
            const std::size_t node = begin + i;
            const NodeLink link = tree_.links[node];
            if (link.bodies > 0)
                sums_[node] = sum_of(link.bodies,
                                     [&](std::uint32_t j) { return sum_of(tree_.bodies[link.first + j]); });
            else
                sums_[node] = sum_of((link.first >> BARNES_HUT_NODE_BITS) + 1, [&](std::uint32_t j) {
                    return sums_[(link.first & BARNES_HUT_NODE_MASK) + j];
                });
            tree_.tests[node] = test_of(sums_[node], opening.inverse_theta);
            tree_.links[node].weight = weight_of(sums_[node].mass, size_of(sums_[node]), opening);
            tree_.moments[node] = moments_of(sums_[node], tree_.tests[node]);
        });
    }
}

} // namespace barnes_hut
