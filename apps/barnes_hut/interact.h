// apps/barnes_hut/interact.h - what bodies and nodes do to a body: the innermost lines of all kernels. C++
// and OpenCL C read this file.
#ifndef HEADRACE_BARNES_HUT_INTERACT_H
#define HEADRACE_BARNES_HUT_INTERACT_H
#include "layout.h"

HEADRACE_NAMESPACE(barnes_hut)

HEADRACE_FUNCTION HEADRACE_ANY(float) inverse_root(HEADRACE_ANY(float) x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return ::rsqrtf(x);
#elif defined(__OPENCL_C_VERSION__)
    return rsqrt(x);
#else
    return 1 / sqrt(x);
#endif
}

/// A place relative to a group's centre. The first difference is exact where the two are near, so the result
/// is as precise as a float can be.
HEADRACE_FUNCTION float relative(float high, float low, float centre) { return (high - centre) + low; }

/// The difference of two coordinates of three floats each, to a float's precision of what both say.
HEADRACE_FUNCTION float difference(float high, float low, float tail, float from_high, float from_low,
                                   float from_tail) {
    const float part = low - from_low, back = part - low;
    const float lost = (low - (part - back)) - (from_low + back); // by rounding, when `part` was computed
    return ((high - from_high) + part) + (lost + (tail - from_tail));
}

/// From one body to another, as precisely as both are known.
typedef struct Step {
    float x, y, z;
} Step;
HEADRACE_FUNCTION Step step_between(const Body* from, const Body* to) {
    const Step between = {difference(to->x, to->low_x, to->tail_x, from->x, from->low_x, from->tail_x),
                          difference(to->y, to->low_y, to->tail_y, from->y, from->low_y, from->tail_y),
                          difference(to->z, to->low_z, to->tail_z, from->z, from->low_z, from->tail_z)};
    return between;
}

/// A body or a node as the group's lanes read it: relative to the group's centre.
typedef struct __attribute__((aligned(16))) Source {
    float x, y, z, mass;
} Source;
typedef struct __attribute__((aligned(16))) NodeSource {
    float x, y, z, mass;
    float xx, xy, xz, yy;
    float yz, zz, trace, unused;
} NodeSource;

HEADRACE_FUNCTION Source source_of_body(const Body* body, const GroupBox* box) {
    const Source source = {relative(body->x, body->low_x, box->x), relative(body->y, body->low_y, box->y),
                           relative(body->z, body->low_z, box->z), body->mass};
    return source;
}
HEADRACE_FUNCTION NodeSource source_of_node(const NodeTest* test, const Moments* moments,
                                            const GroupBox* box) {
    const NodeSource source = {relative(test->x, moments->x, box->x),
                               relative(test->y, moments->y, box->y),
                               relative(test->z, moments->z, box->z),
                               moments->mass,
                               moments->xx,
                               moments->xy,
                               moments->xz,
                               moments->yy,
                               moments->yz,
                               moments->zz,
                               moments->trace,
                               0};
    return source;
}

/// The square of the distance of a node's centre of mass from a group's box.
HEADRACE_FUNCTION float distance2(const NodeTest* test, const GroupBox* box) {
    const float x = fmax(fabs(test->x - box->x) - box->half_x, 0.0f);
    const float y = fmax(fabs(test->y - box->y) - box->half_y, 0.0f);
    const float z = fmax(fabs(test->z - box->z) - box->half_z, 0.0f);
    return x * x + y * y + z * z;
}

/// Whether a group opens a node, or takes its few bodies one by one.
HEADRACE_FUNCTION bool is_near(const NodeTest* test, const NodeLink* link, const GroupBox* box) {
    const bool is_opened = distance2(test, box) <= fmax(test->radius2, link->weight * box->reach);
    const bool is_few = link->bodies - 1 < BARNES_HUT_FEW; // an inner node has none
    return is_opened | is_few;                             // both are at hand: a branch would take longer
}

/// Where a force is summed up; in C++ also for a batch of bodies (pull_batches.hpp).
typedef struct ForceSum {
    float *x, *y, *z, *potential;
} ForceSum;

/// Adds to a force what a point mass does. `is_self`: nothing. Returns the softened distance to the
/// power of -4; of itself 0.
HEADRACE_FUNCTION HEADRACE_ANY(float)
    pull(HEADRACE_ANY(bool) with_potential, HEADRACE_ANY(ForceSum) sum, HEADRACE_ANY(float) x,
         HEADRACE_ANY(float) y, HEADRACE_ANY(float) z, float mass, float softening2,
         HEADRACE_ANY(bool) is_self) {
    const HEADRACE_ANY(float) inverse =
        choose(is_self, 0.0f, inverse_root(x * x + (y * y + (z * z + softening2))));
    const HEADRACE_ANY(float) inverse2 = inverse * inverse;
    const HEADRACE_ANY(float) potential = mass * inverse;
    const HEADRACE_ANY(float) factor = potential * inverse2;
    *sum.x += factor * x;
    *sum.y += factor * y;
    *sum.z += factor * z;
    if (with_potential) *sum.potential -= potential;
    return inverse2 * inverse2;
}

/// The least sum over pairs of their softened distances to the power of -4 with which one of them may be
/// nearer than places relative to the box's centre are good for. (Sums are vectors where compilers make none
/// of comparisons.) Softening changes nothing: it weakens a pull and its error alike. With room for rounding.
HEADRACE_FUNCTION float near_from(const GroupBox* box, float softening2) {
    const float square = box->near2 + softening2 * 1.000001f;
    return 0.99f / (square * square);
}

/// What is odd about two bodies, and spoils a result.
typedef enum Oddity { NOT_ODD, IS_TOO_NEAR, IS_TOGETHER } Oddity;

/// Adds to a force what another body does, however near it is. One at the same place has a potential, if
/// there is softening, and no force.
HEADRACE_FUNCTION Oddity pull_precisely(ForceSum sum, const Body* target, const Body* source,
                                        float softening2) {
    const Step between = step_between(target, source);
    const float square = between.x * between.x + (between.y * between.y + between.z * between.z),
                softened = square + softening2;
    if (square > 0)
        pull(HEADRACE_CONSTANT(bool, true), sum, between.x, between.y, between.z, source->mass, softening2,
             false);
    else if (softening2 > 0)
        *sum.potential -= source->mass * inverse_root(softening2);
    if (!(source->mass > 0) || softened >= BARNES_HUT_NEAREST * BARNES_HUT_NEAREST) return NOT_ODD;
    return square > 0 || target->tag != source->tag ? IS_TOO_NEAR : IS_TOGETHER;
}

/// Adds to a force what a node does, to the second order about its centre of mass, of the softened potential:
/// with s^2 = r^2 + softening^2, second moments S and their trace t,
///     potential = -m / s - (3 rSr / s^5 - t / s^3) / 2.
/// The node has 3 S and 3 t / 2.
HEADRACE_FUNCTION void pull_quadrupole(HEADRACE_ANY(bool) with_potential, HEADRACE_ANY(ForceSum) sum,
                                       HEADRACE_ANY(float) x, HEADRACE_ANY(float) y, HEADRACE_ANY(float) z,
                                       const NodeSource* node, float softening2) {
    const HEADRACE_ANY(float) inverse = inverse_root(x * x + (y * y + (z * z + softening2)));
    const HEADRACE_ANY(float) inverse2 = inverse * inverse;
    const HEADRACE_ANY(float) inverse3 = inverse * inverse2;
    const HEADRACE_ANY(float) inverse5 = inverse3 * inverse2;
    const HEADRACE_ANY(float) sx = node->xx * x + node->xy * y + node->xz * z;
    const HEADRACE_ANY(float) sy = node->xy * x + node->yy * y + node->yz * z;
    const HEADRACE_ANY(float) sz = node->xz * x + node->yz * y + node->zz * z;
    const HEADRACE_ANY(float) across = (sx * x + sy * y + sz * z) * inverse2; // 3 rSr / s^2
    const HEADRACE_ANY(float) factor = node->mass * inverse3 + inverse5 * (2.5f * across - node->trace);
    // One after the other: each is a product and a sum in one instruction.
    *sum.x += factor * x;
    *sum.y += factor * y;
    *sum.z += factor * z;
    *sum.x -= inverse5 * sx;
    *sum.y -= inverse5 * sy;
    *sum.z -= inverse5 * sz;
    if (with_potential) *sum.potential -= node->mass * inverse + inverse3 * (0.5f * across - node->trace / 3);
}

/// Work for nothing: the synthetic load of a visited node. The caller uses the result.
HEADRACE_FUNCTION uint32_t fibonacci(uint32_t up_to) {
    uint32_t a = 0, b = 1;
    for (uint32_t i = 0; i < up_to; ++i) {
        const uint32_t next = a + b;
        a = b;
        b = next;
    }
    return a;
}
/// A use of it that compilers cannot see through, and that no result shows.
HEADRACE_FUNCTION float as_nothing(uint32_t load) { return load == ~0u ? 1e-38f : 0.0f; }

HEADRACE_END_NAMESPACE

#endif
