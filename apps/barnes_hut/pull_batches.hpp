// apps/barnes_hut/pull_batches.hpp - a group's bodies as the lanes of vectors, for a CPU with AVX2 or
// AVX-512: what a list of nodes or bodies does to them. With the same bits as in walk.hpp, where a lane pulls
// its own bodies.
#pragma once
#include "interact.h"
#include <headrace/devices/cpu/batch.hpp>

#ifdef HEADRACE_HAS_BATCHES

namespace barnes_hut {

/// What has pulled at the bodies of a group, member by member, in their order.
struct alignas(64) ForceColumns {
    float x[BARNES_HUT_GROUP], y[BARNES_HUT_GROUP], z[BARNES_HUT_GROUP], potential[BARNES_HUT_GROUP];
};

/// The bodies of a group, in the same way.
struct alignas(64) BodyColumns {
    float x[BARNES_HUT_GROUP], y[BARNES_HUT_GROUP], z[BARNES_HUT_GROUP]; ///< relative to the group's centre
    uint32_t number[BARNES_HUT_GROUP];
    ForceColumns sums;
};

/// Of some of these, from the `first` on.
template <uint32_t Width>
struct BodyBatch {
    using Floats = headrace::Batch<float, Width>;
    using Numbers = headrace::Batch<uint32_t, Width>;
    struct Sums { ///< as ForceSum
        Floats *x, *y, *z, *potential;
    };

    HEADRACE_BATCH_CODE BodyBatch(const BodyColumns& group, uint32_t first)
        : x(Floats::load(group.x + first)),
          y(Floats::load(group.y + first)),
          z(Floats::load(group.z + first)),
          number(Numbers::load(group.number + first)) {}
    HEADRACE_BATCH_CODE Sums sums() { return {&sum_x, &sum_y, &sum_z, &potential}; }

    const Floats x, y, z;
    const Numbers number;
    Floats sum_x = 0, sum_y = 0, sum_z = 0, potential = 0;
};

template <bool Potential, uint32_t Width>
HEADRACE_BATCH_CODE void add(ForceColumns& to, uint32_t first, const BodyBatch<Width>& of) {
    const auto add_to = [&](float* sum, const auto& more) {
        (headrace::Batch<float, Width>::load(sum + first) + more).store(sum + first);
    };
    add_to(to.x, of.sum_x);
    add_to(to.y, of.sum_y);
    add_to(to.z, of.sum_z);
    if constexpr (Potential) add_to(to.potential, of.potential);
}

/// A list of nodes. False, and nothing is done, if there are no vectors.
template <bool Quadrupole, bool Potential>
bool pull_by_batches(BodyColumns& group, const NodeSource* nodes, uint32_t count, float softening2) {
    return headrace::run_with_vectors([&](auto width) {
        constexpr uint32_t lanes = decltype(width)::value;
        for (uint32_t first = 0; first < BARNES_HUT_GROUP; first += lanes) {
            BodyBatch<lanes> bodies(group, first);
            for (uint32_t j = 0; j < count; ++j) {
                const NodeSource& node = nodes[j];
                const auto x = node.x - bodies.x, y = node.y - bodies.y, z = node.z - bodies.z;
                if constexpr (Quadrupole)
                    pull_quadrupole(HEADRACE_CONSTANT(bool, Potential), bodies.sums(), x, y, z, &node,
                                    softening2);
                else
                    pull(HEADRACE_CONSTANT(bool, Potential), bodies.sums(), x, y, z, node.mass, softening2,
                         headrace::BatchMask<lanes>(false));
            }
            add<Potential>(group.sums, first, bodies);
        }
    });
}

/// A list of bodies. `numbers`: theirs, read if some may be of the group (`Own`). `near_from`: as the
/// function says; if `are_near` is set, some are, and nothing has been added. False, and nothing is done, if
/// there are no vectors.
template <bool Own, bool Potential>
bool pull_by_batches(BodyColumns& group, const Source* sources, const uint32_t* numbers, uint32_t count,
                     float softening2, float near_from, bool& are_near) {
    return headrace::run_with_vectors([&](auto width) {
        constexpr uint32_t lanes = decltype(width)::value;
        ForceColumns sums = group.sums;
        for (uint32_t first = 0; first < BARNES_HUT_GROUP; first += lanes) {
            BodyBatch<lanes> bodies(group, first);
            headrace::Batch<float, lanes> nearness = 0;
            for (uint32_t j = 0; j < count; ++j) {
                const Source& source = sources[j];
                headrace::BatchMask<lanes> is_self(false);
                if constexpr (Own) is_self = bodies.number == numbers[j];
                nearness += pull(HEADRACE_CONSTANT(bool, Potential), bodies.sums(), source.x - bodies.x,
                                 source.y - bodies.y, source.z - bodies.z, source.mass, softening2, is_self);
            }
            if ((nearness >= near_from).any()) {
                are_near = true;
                return;
            }
            add<Potential>(sums, first, bodies);
        }
        are_near = false;
        group.sums = sums;
    });
}

} // namespace barnes_hut

#endif
