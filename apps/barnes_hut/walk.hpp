// apps/barnes_hut/walk.hpp - a group of bodies walks the tree, its lanes together.
//
// The stack holds families: all children of a node that was opened. A step takes some families off its top,
// each lane tests one node, and the nodes go by vote to where they belong: opened ones as families back on
// the stack, accepted ones and the bodies of opened leaves into lists. As soon as a list has an entry for
// each lane it is evaluated: the lanes fetch one entry each into shared memory, then each pulls its own
// bodies towards all of them.
#pragma once
#include "interact.h"
#include <headrace/domains/view.hpp>

#include <cmath>

namespace barnes_hut {

/// What kernels walk.
struct TreeView {
    headrace::View<const NodeTest> tests;
    headrace::View<const NodeLink> links;
    headrace::View<const Moments> moments;
    headrace::View<const Body> bodies;
    headrace::View<const GroupBox> boxes;
    Space space;
};

/// Words of scratch that a walk by so many lanes needs.
///
/// The stack cannot overflow: a step takes families off the top and puts at most as many as there are lanes
/// there, all deeper than what lies below; so from bottom to top depths never fall, and of each depth there
/// are at most as many as one step makes, beside those that the walk began with.
constexpr uint32_t walk_words(uint32_t lanes) {
    constexpr uint32_t source_words = sizeof(NodeSource) / 4;
    return lanes * source_words                   // fetched
           + lanes * (BARNES_HUT_LEVELS + 1) + 16 // the stack
           + 2 * lanes + 2 * lanes + 2 * lanes;   // lists: nodes, bodies, leaves
}
static_assert(BARNES_HUT_FAMILIES <= 16);

template <class Group>
class Walk {
    template <class T>
    using PerLane = typename Group::template PerLane<T>;
    using Mask = typename Group::Mask;

    static constexpr uint32_t lanes = Group::size;
    static constexpr uint32_t families = lanes / 8; ///< that a step takes
    static constexpr uint32_t mine = BARNES_HUT_GROUP / lanes;
    static_assert(lanes >= 8 && BARNES_HUT_GROUP % lanes == 0);

    /// Of a lane's bodies.
    struct Targets {
        float x[mine], y[mine], z[mine];
    };
    struct Sums {
        float x[mine], y[mine], z[mine], potential[mine];
    };
    struct Seen {
        uint32_t node, first, bodies;
        bool is_there, is_near;
    };

public:
    HEADRACE_HOST_DEVICE Walk(Group& group, const TreeView& tree, uint32_t number)
        : group_(group),
          tree_(tree),
          box_(tree.boxes[number]),
          first_(number * BARNES_HUT_GROUP),
          fetched_(reinterpret_cast<NodeSource*>(group.scratch())),
          stack_(group.scratch() + lanes * (sizeof(NodeSource) / 4)),
          node_list_(stack_ + lanes * (BARNES_HUT_LEVELS + 1) + 16),
          body_list_(node_list_ + 2 * lanes),
          leaves_(body_list_ + 2 * lanes) {
        group_.each([&](uint32_t lane) {
            for (uint32_t i = 0; i < mine; ++i) {
                const Source body = source_of_body(&tree_.bodies[body_of(lane, i)], &box_);
                targets_[lane].x[i] = body.x;
                targets_[lane].y[i] = body.y;
                targets_[lane].z[i] = body.z;
                sums_[lane].x[i] = sums_[lane].y[i] = sums_[lane].z[i] = sums_[lane].potential[i] = 0;
            }
            loads_[lane] = 0;
        });
    }

    /// Puts a family onto the stack; sync follows.
    HEADRACE_HOST_DEVICE void begin_with(uint32_t family) {
        group_.each([&](uint32_t lane) {
            if (lane == 0) stack_[depth_] = family;
        });
        ++depth_;
    }

    /// Until nothing is left, or until ends_here() says so: it is asked each time that about `interval`
    /// interactions more of the group are done and no more than `most` families are left.
    template <class F>
    HEADRACE_HOST_DEVICE void run(uint32_t interval, uint32_t most, F&& ends_here) {
        group_.sync();
        for (uint32_t next = interval; depth_ > 0;) {
            step();
            if (node_count_ + body_count_ < next || depth_ > most) continue;
            if (ends_here()) break;
            next = node_count_ + body_count_ + interval;
        }
        if (nodes_ > 0) pull_nodes(nodes_);
        if (bodies_ > 0) pull_bodies(bodies_);
        nodes_ = bodies_ = 0;
        group_.sync();
    }

    /// What is left of the stack.
    HEADRACE_HOST_DEVICE uint32_t left() const { return depth_; }
    HEADRACE_HOST_DEVICE uint32_t family(uint32_t i) const { return stack_[i]; }

    /// put(place, force) for each of the group's bodies.
    template <class F>
    HEADRACE_HOST_DEVICE void each_force(F&& put) {
        group_.each([&](uint32_t lane) {
            for (uint32_t i = 0; i < mine; ++i) {
                const uint32_t place = lane + i * lanes;
                if (first_ + place >= tree_.space.bodies) continue;
                const Sums& sums = sums_[lane];
                put(place,
                    Force{sums.x[i], sums.y[i], sums.z[i], sums.potential[i] + as_nothing(loads_[lane])});
            }
        });
    }
    /// Entries of lists that all of the group's bodies have been pulled by.
    HEADRACE_HOST_DEVICE uint32_t nodes_done() const { return node_count_; }
    HEADRACE_HOST_DEVICE uint32_t bodies_done() const { return body_count_; }
    /// Lanes that have met a body whose distance is not known, or one at the place of their own, list by
    /// list.
    HEADRACE_HOST_DEVICE uint32_t too_near() const { return too_near_; }
    HEADRACE_HOST_DEVICE uint32_t together() const { return together_; }

private:
    /// Beyond the last body of all it is the last one again.
    HEADRACE_HOST_DEVICE uint32_t body_of(uint32_t lane, uint32_t i) const {
        const uint32_t body = first_ + lane + i * lanes;
        return body < tree_.space.bodies ? body : tree_.space.bodies - 1;
    }

    HEADRACE_HOST_DEVICE void step() {
        const uint32_t taken = depth_ < families ? depth_ : families;
        depth_ -= taken;
        group_.each([&](uint32_t lane) {
            Seen seen{0, 0, 0, false, false};
            if (lane / 8 < taken) {
                const uint32_t family = stack_[depth_ + lane / 8];
                if (lane % 8 <= family >> BARNES_HUT_NODE_BITS) {
                    seen.node = (family & BARNES_HUT_NODE_MASK) + lane % 8;
                    const NodeTest test = tree_.tests[seen.node];
                    const NodeLink link = tree_.links[seen.node];
                    seen.first = link.first;
                    seen.bodies = link.bodies;
                    seen.is_there = true;
                    seen.is_near = is_near(&test, &link, &box_);
                    loads_[lane] += fibonacci(tree_.space.load);
                }
            }
            seen_[lane] = seen;
        });
        const Mask accepted =
            group_.ballot([&](uint32_t lane) { return seen_[lane].is_there && !seen_[lane].is_near; });
        const Mask opened =
            group_.ballot([&](uint32_t lane) { return seen_[lane].is_near && seen_[lane].bodies == 0; });
        const Mask leaves =
            group_.ballot([&](uint32_t lane) { return seen_[lane].is_near && seen_[lane].bodies > 0; });
        group_.sync(); // the families are read and may be written
        group_.each([&](uint32_t lane) {
            const Seen& seen = seen_[lane];
            if (Group::has(accepted, lane))
                node_list_[nodes_ + Group::count_below(accepted, lane)] = seen.node;
            if (Group::has(opened, lane)) stack_[depth_ + Group::count_below(opened, lane)] = seen.first;
            if (Group::has(leaves, lane)) {
                const uint32_t place = Group::count_below(leaves, lane);
                leaves_[2 * place] = seen.first;
                leaves_[2 * place + 1] = seen.bodies;
            }
        });
        group_.sync(); // what was written is seen by all
        depth_ += Group::count(opened);
        nodes_ += Group::count(accepted);
        if (nodes_ >= lanes) {
            nodes_ -= lanes;
            pull_nodes_at(nodes_, lanes);
        }
        const uint32_t leaf_count = Group::count(leaves);
        for (uint32_t leaf = 0; leaf < leaf_count; ++leaf)
            add_bodies(leaves_[2 * leaf], leaves_[2 * leaf + 1]);
        if (leaf_count > 0) group_.sync(); // the list of leaves is read and may be written
    }

    HEADRACE_HOST_DEVICE void add_bodies(uint32_t first, uint32_t count) {
        for (uint32_t done = 0; done < count; done += lanes) {
            const uint32_t now = count - done < lanes ? count - done : lanes;
            group_.each([&](uint32_t lane) {
                if (lane < now) body_list_[bodies_ + lane] = first + done + lane;
            });
            bodies_ += now;
            if (bodies_ < lanes) continue;
            group_.sync();
            bodies_ -= lanes;
            pull_bodies_at(bodies_, lanes);
        }
    }

    HEADRACE_HOST_DEVICE void pull_nodes(uint32_t count) { pull_nodes_at(0, count); }
    HEADRACE_HOST_DEVICE void pull_bodies(uint32_t count) {
        group_.sync();
        pull_bodies_at(0, count);
    }

    /// The nodes that are in the list from `at` on.
    HEADRACE_HOST_DEVICE void pull_nodes_at(uint32_t at, uint32_t count) {
        group_.each([&](uint32_t lane) {
            if (lane >= count) return;
            const uint32_t node = node_list_[at + lane];
            fetched_[lane] = source_of_node(&tree_.tests[node], &tree_.moments[node], &box_);
        });
        group_.sync(); // fetched
        if (tree_.space.quadrupole != 0) {
            if (tree_.space.with_potential != 0)
                pull_towards<true, true>(count);
            else
                pull_towards<true, false>(count);
        } else {
            if (tree_.space.with_potential != 0)
                pull_towards<false, true>(count);
            else
                pull_towards<false, false>(count);
        }
        node_count_ += count;
        group_.sync(); // read, and may be written
    }

    template <bool Quadrupole, bool Potential>
    HEADRACE_HOST_DEVICE void pull_towards(uint32_t count) {
        const float softening2 = tree_.space.softening2;
        group_.each([&](uint32_t lane) {
            const Targets targets = targets_[lane];
            Sums sums{};
            for (uint32_t j = 0; j < count; ++j) {
                const NodeSource node = fetched_[j];
                for (uint32_t i = 0; i < mine; ++i) {
                    const ForceSum sum{&sums.x[i], &sums.y[i], &sums.z[i], &sums.potential[i]};
                    const float x = node.x - targets.x[i], y = node.y - targets.y[i],
                                z = node.z - targets.z[i];
                    if constexpr (Quadrupole)
                        pull_quadrupole(HEADRACE_CONSTANT(bool, Potential), sum, x, y, z, &node, softening2);
                    else
                        pull(HEADRACE_CONSTANT(bool, Potential), sum, x, y, z, node.mass, softening2, false);
                }
            }
            add(sums_[lane], sums);
        });
    }

    /// The bodies that are in the list from `at` on.
    HEADRACE_HOST_DEVICE void pull_bodies_at(uint32_t at, uint32_t count) {
        if (!pull_distant_bodies(at, count)) pull_near_bodies(at, count);
        body_count_ += count;
        group_.sync(); // read, and may be written
    }

    /// However near they are to the group's bodies. Of most lists like that few pairs are near: the others
    /// are computed as in lists without any.
    HEADRACE_HOST_DEVICE void pull_near_bodies(uint32_t at, uint32_t count) {
        Body* const fetched = reinterpret_cast<Body*>(fetched_);
        group_.sync(); // what was fetched for pull_distant_bodies is read, and may be written
        group_.each([&](uint32_t lane) {
            if (lane < count) fetched[lane] = tree_.bodies[body_list_[at + lane]];
        });
        group_.sync();                                                               // fetched
        const float softening2 = tree_.space.softening2, near2 = 1.01f * box_.near2; // with room for rounding
        group_.each([&](uint32_t lane) {
            const Targets targets = targets_[lane];
            Sums sums{};
            uint32_t odd = 0; // a bit for each kind
            for (uint32_t j = 0; j < count; ++j) {
                const Source body = source_of_body(&fetched[j], &box_);
                const uint32_t number = body_list_[at + j];
                for (uint32_t i = 0; i < mine; ++i) {
                    const uint32_t self = body_of(lane, i);
                    if (number == self) continue;
                    const ForceSum sum{&sums.x[i], &sums.y[i], &sums.z[i], &sums.potential[i]};
                    const float x = body.x - targets.x[i], y = body.y - targets.y[i],
                                z = body.z - targets.z[i];
                    if (x * x + (y * y + z * z) > near2)
                        pull(HEADRACE_CONSTANT(bool, true), sum, x, y, z, body.mass, softening2, false);
                    else // rarely: the place is not kept for it
                        odd |= 1u << pull_precisely(sum, &tree_.bodies[self], &fetched[j], softening2);
                }
            }
            add(sums_[lane], sums);
            odd_[lane] = odd;
        });
        too_near_ +=
            Group::count(group_.ballot([&](uint32_t lane) { return (odd_[lane] >> IS_TOO_NEAR & 1u) != 0; }));
        together_ +=
            Group::count(group_.ballot([&](uint32_t lane) { return (odd_[lane] >> IS_TOGETHER & 1u) != 0; }));
    }

    /// False if some are near: then nothing has been added.
    HEADRACE_HOST_DEVICE bool pull_distant_bodies(uint32_t at, uint32_t count) {
        Source* const fetched = reinterpret_cast<Source*>(fetched_);
        const Mask own = group_.ballot([&](uint32_t lane) {
            if (lane >= count) return false;
            const uint32_t body = body_list_[at + lane];
            fetched[lane] = source_of_body(&tree_.bodies[body], &box_);
            return body - first_ < BARNES_HUT_GROUP;
        });
        group_.sync(); // fetched
        const bool has_own = own != 0;
        if (tree_.space.with_potential != 0) {
            if (has_own)
                pull_towards_bodies<true, true>(fetched, at, count);
            else
                pull_towards_bodies<false, true>(fetched, at, count);
        } else {
            if (has_own)
                pull_towards_bodies<true, false>(fetched, at, count);
            else
                pull_towards_bodies<false, false>(fetched, at, count);
        }
        const float from = near_from(&box_, tree_.space.softening2);
        const Mask near = group_.ballot([&](uint32_t lane) { return nearness_[lane] >= from; });
        if (near != 0) return false;
        group_.each([&](uint32_t lane) { add(sums_[lane], listed_[lane]); });
        return true;
    }

    template <bool Own, bool Potential>
    HEADRACE_HOST_DEVICE void pull_towards_bodies(const Source* fetched, uint32_t at, uint32_t count) {
        const float softening2 = tree_.space.softening2;
        group_.each([&](uint32_t lane) {
            const Targets targets = targets_[lane];
            Sums sums{};
            float nearness[mine] = {};
            for (uint32_t j = 0; j < count; ++j) {
                const Source body = fetched[j];
                const uint32_t number = Own ? body_list_[at + j] : 0;
                for (uint32_t i = 0; i < mine; ++i) {
                    const ForceSum sum{&sums.x[i], &sums.y[i], &sums.z[i], &sums.potential[i]};
                    nearness[i] += pull(HEADRACE_CONSTANT(bool, Potential), sum, body.x - targets.x[i],
                                        body.y - targets.y[i], body.z - targets.z[i], body.mass, softening2,
                                        Own && number == body_of(lane, i));
                }
            }
            listed_[lane] = sums;
            float most = nearness[0];
            for (uint32_t i = 1; i < mine; ++i) most = std::fmax(most, nearness[i]);
            nearness_[lane] = most;
        });
    }

    /// Sums of lists of some dozens go into the whole one at a time: that keeps rounding errors small.
    static HEADRACE_HOST_DEVICE void add(Sums& to, const Sums& sums) {
        for (uint32_t i = 0; i < mine; ++i) {
            to.x[i] += sums.x[i];
            to.y[i] += sums.y[i];
            to.z[i] += sums.z[i];
            to.potential[i] += sums.potential[i];
        }
    }

    Group& group_;
    const TreeView& tree_;
    const GroupBox box_;
    const uint32_t first_; ///< body
    NodeSource* fetched_;
    uint32_t *stack_, *node_list_, *body_list_, *leaves_;
    uint32_t depth_ = 0, nodes_ = 0, bodies_ = 0; ///< in stack and lists
    uint32_t node_count_ = 0, body_count_ = 0;    ///< evaluated
    uint32_t too_near_ = 0, together_ = 0;
    PerLane<Targets> targets_;
    PerLane<Sums> sums_, listed_; ///< of all, and of the list that is under way
    PerLane<float> nearness_;     ///< of that list: see near_from
    PerLane<uint32_t> odd_;
    PerLane<Seen> seen_;
    PerLane<uint32_t> loads_;
};

} // namespace barnes_hut
