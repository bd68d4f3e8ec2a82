// apps/barnes_hut/cells.hpp - keys on a curve through space, and the cells of the octree that they span.
// What follows is arithmetic on single bodies and nodes, for whoever builds trees in parallel.
#pragma once
#include "bodies.hpp"
#include "layout.h"
#include <headrace/devices/kernels/macros.hpp>

#include <cmath>
#include <cstring>

namespace barnes_hut {

/// Where a point of a cube with 2^21 cells along each side lies on Hilbert's curve. Each three bits, from the
/// upper ones, say in which eighth of the cube before.
/// Source  J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707, 2004
HEADRACE_HOST_DEVICE inline uint64_t hilbert_key(uint32_t x, uint32_t y, uint32_t z) {
    uint32_t axis[3] = {x, y, z};
    constexpr uint32_t top = 1u << (BARNES_HUT_LEVELS - 1);
    for (uint32_t bit = top; bit > 1; bit >>= 1) {
        const uint32_t below = bit - 1;
        for (unsigned i = 0; i < 3; ++i) {
            if ((axis[i] & bit) != 0) {
                axis[0] ^= below;
            } else {
                const uint32_t swapped = (axis[0] ^ axis[i]) & below;
                axis[0] ^= swapped;
                axis[i] ^= swapped;
            }
        }
    }
    axis[1] ^= axis[0];
    axis[2] ^= axis[1];
    uint32_t flips = 0;
    for (uint32_t bit = top; bit > 1; bit >>= 1)
        if ((axis[2] & bit) != 0) flips ^= bit - 1;
    uint64_t key = 0;
    for (uint32_t bit = top; bit > 0; bit >>= 1)
        for (unsigned i = 0; i < 3; ++i) key = key << 1 | (((axis[i] ^ flips) & bit) != 0 ? 1u : 0u);
    return key;
}

/// The box around places. Of none: low above high.
struct Extremes {
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};

    static HEADRACE_HOST_DEVICE Extremes of(const Vector& place) {
        return {{place.x, place.y, place.z}, {place.x, place.y, place.z}};
    }
    HEADRACE_HOST_DEVICE Extremes with(const Extremes& other) const {
        Extremes both = *this;
        for (unsigned i = 0; i < 3; ++i) {
            both.low[i] = other.low[i] < low[i] ? other.low[i] : low[i];
            both.high[i] = other.high[i] > high[i] ? other.high[i] : high[i];
        }
        return both;
    }
};

/// A coordinate in three floats.
struct Coordinate {
    float high, low, tail;
};

/// (place - centre) * per_length, where `per_length` is a power of two. What rounding takes from the
/// difference is in the tail: bodies may be nearer to each other than doubles are about their centre.
HEADRACE_HOST_DEVICE inline Coordinate coordinate_of(double place, double centre, double per_length) {
    const double apart = place - centre, back = apart - place;
    const double lost = (place - (apart - back)) - (centre + back);
    const double scaled = apart * per_length;
    const auto high = static_cast<float>(scaled);
    const double rest = scaled - double{high};
    const auto low = static_cast<float>(rest);
    return {high, low, static_cast<float>((rest - double{low}) + lost * per_length)};
}

/// The bits of three numbers, mixed: the same for the same numbers, with few exceptions others for others.
HEADRACE_HOST_DEVICE inline uint32_t tag_of(const Vector& place) {
    uint64_t mixed = 0;
    for (const double number : {place.x + 0.0, place.y + 0.0, place.z + 0.0}) { // so -0 becomes 0
        uint64_t bits = 0;
        memcpy(&bits, &number, sizeof bits);
        mixed = (mixed ^ bits) * 0x9e3779b97f4a7c15ull;
        mixed ^= mixed >> 32;
    }
    return static_cast<uint32_t>(mixed);
}

/// How the space that kernels see lies in the user's.
struct Placement {
    Vector centre;
    double per_length, per_mass; ///< powers of two

    /// About: doubles are too few.
    HEADRACE_HOST_DEVICE Vector place(const Vector& at) const {
        return {(at.x - centre.x) * per_length, (at.y - centre.y) * per_length,
                (at.z - centre.z) * per_length};
    }
    HEADRACE_HOST_DEVICE Body body(const Vector& at, double mass) const {
        const Coordinate x = coordinate_of(at.x, centre.x, per_length),
                         y = coordinate_of(at.y, centre.y, per_length),
                         z = coordinate_of(at.z, centre.z, per_length);
        return {x.high, y.high, z.high, static_cast<float>(mass * per_mass),
                x.low,  y.low,  z.low,  tag_of(at),
                x.tail, y.tail, z.tail, 0};
    }
};

/// The cell of the finest level in which a coordinate of this space is.
HEADRACE_HOST_DEVICE inline uint32_t cell_of(double place) {
    constexpr double cells = 1u << BARNES_HUT_LEVELS;
    const double cell = (place + 0.5) * cells;
    return cell > 0 ? static_cast<uint32_t>(cell < cells - 1 ? cell : cells - 1) : 0;
}

/// Sorted bodies [begin, end) that make up a node.
struct Range {
    uint32_t begin, end;
    HEADRACE_HOST_DEVICE uint32_t size() const { return end - begin; }
};

/// The children of a node: its bodies by the first three bits in which their keys differ, so that every node
/// has two or more. None if there are few bodies, or all are in one cell of the finest level.
struct Split {
    uint32_t children = 0;
    uint32_t ends[8] = {};
};

constexpr uint32_t leaf_bodies = 16; ///< at most, unless their keys are equal

/// Which bits of keys tell a node's children apart: the lowest of the three. No node but a leaf has none.
HEADRACE_HOST_DEVICE inline bool has_children(const uint64_t* keys, Range range, uint32_t& shift) {
    if (range.size() <= leaf_bodies) return false;
    const uint64_t differ = keys[range.begin] ^ keys[range.end - 1];
    if (differ == 0) return false;
    shift = 3 * (BARNES_HUT_LEVELS - 1);
    while (differ >> shift == 0) shift -= 3;
    return true;
}

/// The first body of `range` whose three bits are above `eighth`, or the range's end.
HEADRACE_HOST_DEVICE inline uint32_t end_of_eighth(const uint64_t* keys, Range range, uint32_t shift,
                                                   uint32_t eighth) {
    uint32_t low = range.begin, high = range.end;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((keys[middle] >> shift & 7) <= eighth)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

HEADRACE_HOST_DEVICE inline Split split(const uint64_t* keys, Range range) {
    Split result;
    uint32_t shift = 0;
    if (!has_children(keys, range, shift)) return result;
    for (uint32_t eighth = 0, begin = range.begin; eighth < 8; ++eighth) {
        const uint32_t end = end_of_eighth(keys, {begin, range.end}, shift, eighth);
        if (end > begin) result.ends[result.children++] = end;
        begin = end;
    }
    return result;
}

/// What a node sums up: mass, centre of mass, second moments about it, and the box around its bodies.
struct NodeSum {
    double mass;
    double x, y, z;
    double xx, xy, xz, yy, yz, zz;
    double low[3], high[3];
};

HEADRACE_HOST_DEVICE inline NodeSum sum_of(const Body& body) {
    const double place[3] = {double{body.x} + double{body.low_x} + double{body.tail_x},
                             double{body.y} + double{body.low_y} + double{body.tail_y},
                             double{body.z} + double{body.low_z} + double{body.tail_z}};
    NodeSum sum{body.mass, place[0], place[1], place[2], 0, 0, 0, 0, 0, 0, {}, {}};
    for (unsigned i = 0; i < 3; ++i) sum.low[i] = sum.high[i] = place[i];
    return sum;
}

/// Of parts `part(i)`, i < count, which are one or more.
template <class Part>
HEADRACE_HOST_DEVICE inline NodeSum sum_of(uint32_t count, const Part& part) {
    NodeSum sum = part(0);
    sum.x *= sum.mass;
    sum.y *= sum.mass;
    sum.z *= sum.mass;
    for (uint32_t i = 1; i < count; ++i) {
        const NodeSum next = part(i);
        sum.mass += next.mass;
        sum.x += next.mass * next.x;
        sum.y += next.mass * next.y;
        sum.z += next.mass * next.z;
        for (unsigned axis = 0; axis < 3; ++axis) {
            sum.low[axis] = next.low[axis] < sum.low[axis] ? next.low[axis] : sum.low[axis];
            sum.high[axis] = next.high[axis] > sum.high[axis] ? next.high[axis] : sum.high[axis];
        }
    }
    // What has no mass pulls nowhere; its middle will do.
    sum.x = sum.mass > 0 ? sum.x / sum.mass : (sum.low[0] + sum.high[0]) / 2;
    sum.y = sum.mass > 0 ? sum.y / sum.mass : (sum.low[1] + sum.high[1]) / 2;
    sum.z = sum.mass > 0 ? sum.z / sum.mass : (sum.low[2] + sum.high[2]) / 2;
    sum.xx = sum.xy = sum.xz = sum.yy = sum.yz = sum.zz = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const NodeSum next = part(i);
        const double x = next.x - sum.x, y = next.y - sum.y, z = next.z - sum.z;
        sum.xx += next.xx + next.mass * x * x;
        sum.xy += next.xy + next.mass * x * y;
        sum.xz += next.xz + next.mass * x * z;
        sum.yy += next.yy + next.mass * y * y;
        sum.yz += next.yz + next.mass * y * z;
        sum.zz += next.zz + next.mass * z * z;
    }
    return sum;
}

/// Which nodes groups open.
struct Opening {
    float inverse_theta; ///< within size / theta + offset of the centre of mass: see test_of
    /// And where a node's error may be more than so much of a body's acceleration; 0: not.
    float accuracy = 0;
    bool quadrupole = true;
};

/// The error of a node of mass m and size s at distance r, by the first order left out, is about m s^3 / r^5
/// (of monopoles m s^2 / r^4). It is `accuracy` times the acceleration a at the r^2 of
/// (m s^3)^(2/5) * (accuracy a)^(-2/5): the weight of the node, and the reach of the group.
/// Source  V. Springel, "The cosmological simulation code GADGET-2", MNRAS 364, 2005, section 3.2
HEADRACE_HOST_DEVICE inline float weight_of(double mass, double size, const Opening& opening) {
    if (!(opening.accuracy > 0) || !(mass > 0)) return 0;
    return static_cast<float>(opening.quadrupole ? std::pow(mass * size * size * size, 0.4)
                                                 : std::sqrt(mass) * size);
}
/// `acceleration`: the least of the group's bodies, in the space that kernels see.
HEADRACE_HOST_DEVICE inline float reach_of(double acceleration, const Opening& opening) {
    constexpr double most = 1e30; // all is opened then, and products stay numbers
    const double error = opening.accuracy * acceleration;
    const double reach = opening.quadrupole ? std::pow(error, -0.4) : 1 / std::sqrt(error);
    return static_cast<float>(reach < most ? reach : most);
}

/// The least of those of sorted bodies; not for none.
HEADRACE_HOST_DEVICE inline double least_of(const double* strengths, const uint32_t* order, Range bodies) {
    double least = strengths[order[bodies.begin]];
    for (uint32_t i = bodies.begin + 1; i < bodies.end; ++i)
        least = strengths[order[i]] < least ? strengths[order[i]] : least;
    return least;
}

/// The longest side of the box around a node's bodies.
HEADRACE_HOST_DEVICE inline double size_of(const NodeSum& sum) {
    double size = 0;
    for (unsigned i = 0; i < 3; ++i) {
        const double side = sum.high[i] - sum.low[i];
        size = side > size ? side : size;
    }
    return size;
}

/// A node is opened within size / theta + offset of its centre of mass: size is the longest side of the box
/// around its bodies, offset how far the centre of mass is from the middle of that box.
HEADRACE_HOST_DEVICE inline NodeTest test_of(const NodeSum& sum, float inverse_theta) {
    const double size = size_of(sum);
    double offset2 = 0;
    const double centre[3] = {sum.x, sum.y, sum.z};
    for (unsigned i = 0; i < 3; ++i) {
        const double off = centre[i] - (sum.low[i] + sum.high[i]) / 2;
        offset2 += off * off;
    }
    // A little more than that, so that rounding opens a node too many rather than one too few; and never so
    // near that powers of the distance leave the range of floats.
    constexpr float nearest = 4e-8f, margin = 1.00001f;
    float radius = margin * std::sqrt(static_cast<float>(offset2));
    if (size > 0)
        radius += margin * static_cast<float>(size) * inverse_theta; // 0 times infinity is no number
    if (radius < nearest) radius = nearest;
    return {static_cast<float>(sum.x), static_cast<float>(sum.y), static_cast<float>(sum.z), radius * radius};
}

HEADRACE_HOST_DEVICE inline Moments moments_of(const NodeSum& sum, const NodeTest& test) {
    const auto low = [](double place, float high) { return static_cast<float>(place - double{high}); };
    const auto three = [](double moment) { return static_cast<float>(3 * moment); };
    return {low(sum.x, test.x),
            low(sum.y, test.y),
            low(sum.z, test.z),
            static_cast<float>(sum.mass),
            three(sum.xx),
            three(sum.xy),
            three(sum.xz),
            three(sum.yy),
            three(sum.yz),
            three(sum.zz),
            three((sum.xx + sum.yy + sum.zz) / 2),
            0};
}

/// The box around bodies [begin, end), a little larger than needed: so that what is not opened is not so
/// near, compared with the box, that a float could not tell its distance from a body.
HEADRACE_HOST_DEVICE inline GroupBox box_of(const Body* bodies, Range range) {
    float low[3] = {bodies[range.begin].x, bodies[range.begin].y, bodies[range.begin].z};
    float high[3] = {low[0], low[1], low[2]};
    for (uint32_t i = range.begin + 1; i < range.end; ++i) {
        const float place[3] = {bodies[i].x, bodies[i].y, bodies[i].z};
        for (unsigned axis = 0; axis < 3; ++axis) {
            low[axis] = place[axis] < low[axis] ? place[axis] : low[axis];
            high[axis] = place[axis] > high[axis] ? place[axis] : high[axis];
        }
    }
    float centre[3], half[3], longest = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
        centre[axis] = (low[axis] + high[axis]) / 2;
        half[axis] = (high[axis] - low[axis]) / 2 + 1e-7f; // coordinates are below 1
        longest = half[axis] > longest ? half[axis] : longest;
    }
    for (float& side : half) side += longest / 64;
    // Coordinates relative to the centre have errors of 2^-25 of the box, which is 1e-6 of so short a
    // distance.
    const float near = longest / 16;
    return {centre[0], centre[1], centre[2], half[0], half[1], half[2], near * near, 0.0f};
}

} // namespace barnes_hut
