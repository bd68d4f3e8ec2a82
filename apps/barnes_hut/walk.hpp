// apps/barnes_hut/walk.hpp - a group of bodies walks the tree, its lanes together.
//
// The stack holds families: all children of a node that was opened. A step takes some families off its top,
// each lane tests one node, and the nodes go by vote to where they belong: opened ones as families back on
// the stack, accepted ones and the bodies of opened leaves into lists. As soon as a list has an entry for
// each lane it is evaluated: the lanes fetch one entry each into shared memory, then each pulls its own
// bodies towards all of them.
//
// The longest walks of a job end long after the others, alone on their processors: what they take is the
// latency of each step, not the device's throughput. The loops over lists hide most of it while two pairs and
// the next source fit into registers. So what these loops do not need lies in scratch.
#pragma once
#include "interact.h"
#include "pull_batches.hpp"
#include <headrace/domains/view.hpp>
#include <headrace/persistent/sync.hpp>

#include <cmath>

/// Before a loop over a lane's bodies: g++ makes a vector of them, unless it unrolls the loop before.
#ifdef HEADRACE_HAS_BATCHES
    #define BARNES_HUT_ONE_VECTOR _Pragma("GCC unroll 1")
#else
    #define BARNES_HUT_ONE_VECTOR
#endif

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

/// What a walk needs now and then, in scratch.
struct WalkState {
    GroupBox box;
    /// Lanes that have met a body whose distance is not known, or one at the place of their own, list by
    /// list.
    uint32_t too_near, together;
    uint32_t unused[2];
};

/// Words of the list of bodies: less than a list is left from the step before, three find room beside.
constexpr uint32_t body_list_words(uint32_t lanes) { return 4 * lanes; }

/// Words of scratch that a walk by so many lanes needs.
///
/// The stack cannot overflow: a step takes families off the top and puts at most as many as there are lanes
/// there, all deeper than what lies below; so from bottom to top depths never fall, and of each depth there
/// are at most as many as one step makes, beside those that the walk began with.
constexpr uint32_t walk_words(uint32_t lanes) {
    constexpr uint32_t source_words = sizeof(NodeSource) / 4, state_words = sizeof(WalkState) / 4;
    return lanes * source_words                   // fetched
           + 4 * BARNES_HUT_GROUP + state_words   // sums
           + lanes * (BARNES_HUT_LEVELS + 1) + 16 // the stack
           + 2 * lanes + body_list_words(lanes)   // lists: nodes, bodies
           + 3 * lanes;                           // leaves
}
static_assert(BARNES_HUT_FAMILIES <= 16 && sizeof(WalkState) % 16 == 0);

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
    struct alignas(16) Sums {
        float x[mine], y[mine], z[mine], potential[mine];
    };
    struct Seen {
        uint32_t node, first, bodies;
        bool is_there, is_near;
    };

    /// A leaf that a lane has opened, and where its bodies lie in the row of those of all lanes.
    struct Leaf {
        uint32_t first, begin, bodies;
    };

public:
    HEADRACE_HOST_DEVICE Walk(Group& group, const TreeView& tree, uint32_t number)
        : group_(group),
          tree_(tree),
          first_(number * BARNES_HUT_GROUP),
          fetched_(reinterpret_cast<NodeSource*>(group.scratch())),
          sums_(reinterpret_cast<Sums*>(fetched_ + lanes)),
          state_(reinterpret_cast<WalkState*>(sums_ + lanes)),
          stack_(reinterpret_cast<uint32_t*>(state_ + 1)),
          node_list_(stack_ + lanes * (BARNES_HUT_LEVELS + 1) + 16),
          body_list_(node_list_ + 2 * lanes),
          leaves_(reinterpret_cast<Leaf*>(body_list_ + body_list_words(lanes))) {
        static_assert(sizeof(Sums) * lanes == sizeof(float) * 4 * BARNES_HUT_GROUP);
        const GroupBox box = tree.boxes[number];
        group_.each([&](uint32_t lane) {
            if (lane == 0) *state_ = {box, 0, 0, {}};
            for (uint32_t i = 0; i < mine; ++i) {
                const Source body = source_of_body(&tree_.bodies[body_of(lane, i)], &box);
                targets_[lane].x[i] = body.x;
                targets_[lane].y[i] = body.y;
                targets_[lane].z[i] = body.z;
            }
            loads_[lane] = 0;
            begin_sums(lane);
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
        uint32_t next = interval;
        for (bool ends = depth_ == 0; !ends || nodes_ + bodies_ > 0;) {
            if (!ends) step();
            ends = ends || depth_ == 0;
            do {
                list_bodies();
                group_.sync(); // lists and the stack are seen by all
                const bool are_all = ends && listed_ == found_;
                if (nodes_ >= (are_all ? 1 : lanes)) pull_nodes();
                while (bodies_ >= (are_all ? 1 : lanes)) pull_bodies();
            } while (listed_ < found_);
            if (ends || node_count_ + body_count_ < next || depth_ > most) continue;
            ends = ends_here();
            next = node_count_ + body_count_ + interval;
        }
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
                Force force = sum_of(lane, i);
                force.potential += as_nothing(loads_[lane]);
                put(place, force);
            }
        });
    }
    /// Entries of lists that all of the group's bodies have been pulled by.
    HEADRACE_HOST_DEVICE uint32_t nodes_done() const { return node_count_; }
    HEADRACE_HOST_DEVICE uint32_t bodies_done() const { return body_count_; }
    HEADRACE_HOST_DEVICE uint32_t too_near() const { return state_->too_near; } ///< see WalkState
    HEADRACE_HOST_DEVICE uint32_t together() const { return state_->together; }

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
                    seen.is_near = is_near(&test, &link, &state_->box);
                    loads_[lane] += fibonacci(tree_.space.load);
                }
            }
            seen_[lane] = seen;
        });
        const Mask accepted =
            group_.ballot([&](uint32_t lane) { return seen_[lane].is_there && !seen_[lane].is_near; });
        const Mask opened =
            group_.ballot([&](uint32_t lane) { return seen_[lane].is_near && seen_[lane].bodies == 0; });
        group_.sync(); // the families are read and may be written
        group_.each([&](uint32_t lane) {
            const Seen& seen = seen_[lane];
            if (Group::has(accepted, lane))
                node_list_[nodes_ + Group::count_below(accepted, lane)] = seen.node;
            if (Group::has(opened, lane)) stack_[depth_ + Group::count_below(opened, lane)] = seen.first;
            if (!seen.is_near) seen_[lane].bodies = 0;
            begins_[lane] = 0;
        });
        depth_ += Group::count(opened);
        nodes_ += Group::count(accepted);
        line_up_leaves();
    }

    /// Where each leaf's bodies begin is the sum of those of leaves before it. It is voted bit by bit:
    /// numbers are small, and one leaf after the other takes as long as computing its pairs.
    HEADRACE_HOST_DEVICE void line_up_leaves() {
        listed_ = found_ = 0;
        for (uint32_t bit = 0;; ++bit) {
            if (group_.ballot([&](uint32_t lane) { return seen_[lane].bodies >> bit != 0; }) == 0) break;
            const Mask ones =
                group_.ballot([&](uint32_t lane) { return (seen_[lane].bodies >> bit & 1u) != 0; });
            found_ += Group::count(ones) << bit;
            group_.each([&](uint32_t lane) { begins_[lane] += Group::count_below(ones, lane) << bit; });
        }
        group_.each([&](uint32_t lane) {
            leaves_[lane] = {seen_[lane].first, begins_[lane], seen_[lane].bodies};
        });
    }

    /// As many of the bodies found as the list has room for; sync follows.
    HEADRACE_HOST_DEVICE void list_bodies() {
        const uint32_t room = body_list_words(lanes) - bodies_, left = found_ - listed_;
        const uint32_t end = listed_ + (left < room ? left : room);
        group_.each([&](uint32_t lane) {
            const Leaf leaf = leaves_[lane];
            const uint32_t leaf_end = leaf.begin + leaf.bodies, last = leaf_end < end ? leaf_end : end;
            for (uint32_t i = leaf.begin > listed_ ? leaf.begin : listed_; i < last; ++i)
                body_list_[bodies_ + (i - listed_)] = leaf.first + (i - leaf.begin);
        });
        bodies_ += end - listed_;
        listed_ = end;
    }

    /// One list, the newest nodes.
    HEADRACE_HOST_DEVICE void pull_nodes() {
        const uint32_t count = nodes_ < lanes ? nodes_ : lanes;
        nodes_ -= count;
        group_.each([&](uint32_t lane) {
            if (lane >= count) return;
            const uint32_t node = node_list_[nodes_ + lane];
            fetched_[lane] = source_of_node(&tree_.tests[node], &tree_.moments[node], &state_->box);
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
#ifdef HEADRACE_HAS_BATCHES
        if (pull_by_batches<Quadrupole, Potential>(columns_, fetched_, count, tree_.space.softening2)) return;
#endif
        pull_lane_by_lane<Quadrupole, Potential>(count);
    }

    template <bool Quadrupole, bool Potential>
    HEADRACE_HOST_DEVICE void pull_lane_by_lane(uint32_t count) {
        const float softening2 = tree_.space.softening2;
        group_.each([&](uint32_t lane) {
            const Targets targets = targets_[lane];
            Sums sums{};
            for (uint32_t j = 0; j < count; ++j) {
                const NodeSource node = fetched_[j];
                BARNES_HUT_ONE_VECTOR
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
            add<Potential>(lane, sums);
        });
    }

    /// One list, the newest bodies.
    HEADRACE_HOST_DEVICE void pull_bodies() {
        const uint32_t count = bodies_ < lanes ? bodies_ : lanes;
        bodies_ -= count;
        if (!pull_distant_bodies(count)) pull_near_bodies(count);
        body_count_ += count;
        group_.sync(); // read, and may be written
    }

    /// However near they are to the group's bodies. Of most lists like that few pairs are near: the others
    /// are computed as in lists without any.
    HEADRACE_HOST_DEVICE void pull_near_bodies(uint32_t count) {
        const Source* const fetched = reinterpret_cast<const Source*>(fetched_);
        const float softening2 = tree_.space.softening2;
        group_.each([&](uint32_t lane) {
            const float near2 = 1.01f * state_->box.near2; // with room for rounding
            const Targets targets = targets_[lane];
            Sums sums{};
            uint32_t odd = 0; // a bit for each kind
            for (uint32_t j = 0; j < count; ++j) {
                const Source body = fetched[j];
                const uint32_t number = body_list_[bodies_ + j];
                for (uint32_t i = 0; i < mine; ++i) {
                    const uint32_t self = body_of(lane, i);
                    if (number == self) continue;
                    const ForceSum sum{&sums.x[i], &sums.y[i], &sums.z[i], &sums.potential[i]};
                    const float x = body.x - targets.x[i], y = body.y - targets.y[i],
                                z = body.z - targets.z[i];
                    if (x * x + (y * y + z * z) > near2)
                        pull(HEADRACE_CONSTANT(bool, true), sum, x, y, z, body.mass, softening2, false);
                    else // rarely: the places are not kept for it
                        odd |=
                            1u << pull_precisely(sum, &tree_.bodies[self], &tree_.bodies[number], softening2);
                }
            }
            add<true>(lane, sums);
            odd_[lane] = odd;
        });
        const Mask near = group_.ballot([&](uint32_t lane) { return (odd_[lane] >> IS_TOO_NEAR & 1u) != 0; });
        const Mask same = group_.ballot([&](uint32_t lane) { return (odd_[lane] >> IS_TOGETHER & 1u) != 0; });
        group_.each([&](uint32_t lane) {
            if (lane != 0) return;
            state_->too_near += Group::count(near);
            state_->together += Group::count(same);
        });
    }

    /// False if some are near: then nothing has been added.
    HEADRACE_HOST_DEVICE bool pull_distant_bodies(uint32_t count) {
        Source* const fetched = reinterpret_cast<Source*>(fetched_);
        const Mask own = group_.ballot([&](uint32_t lane) {
            if (lane >= count) return false;
            const uint32_t body = body_list_[bodies_ + lane];
            fetched[lane] = source_of_body(&tree_.bodies[body], &state_->box);
            return body - first_ < BARNES_HUT_GROUP;
        });
        const bool has_own = own != 0;
        group_.sync(); // fetched
        if (tree_.space.with_potential != 0) {
            if (has_own) return pull_towards_bodies<true, true>(count);
            return pull_towards_bodies<false, true>(count);
        }
        if (has_own) return pull_towards_bodies<true, false>(count);
        return pull_towards_bodies<false, false>(count);
    }

    template <bool Own, bool Potential>
    HEADRACE_HOST_DEVICE bool pull_towards_bodies(uint32_t count) {
        const Source* const fetched = reinterpret_cast<const Source*>(fetched_);
        const float softening2 = tree_.space.softening2;
        const float from = near_from(&state_->box, softening2);
#ifdef HEADRACE_HAS_BATCHES
        if (bool are_near = false; pull_by_batches<Own, Potential>(columns_, fetched, body_list_ + bodies_,
                                                                   count, softening2, from, are_near))
            return !are_near;
#endif
        PerLane<Sums> of_list;
        PerLane<float> nearness;
        group_.each([&](uint32_t lane) {
            const Targets targets = targets_[lane];
            Sums sums{};
            float near[mine] = {};
            for (uint32_t j = 0; j < count; ++j) {
                const Source body = fetched[j];
                const uint32_t number = Own ? body_list_[bodies_ + j] : 0;
                for (uint32_t i = 0; i < mine; ++i) {
                    const ForceSum sum{&sums.x[i], &sums.y[i], &sums.z[i], &sums.potential[i]};
                    near[i] += pull(HEADRACE_CONSTANT(bool, Potential), sum, body.x - targets.x[i],
                                    body.y - targets.y[i], body.z - targets.z[i], body.mass, softening2,
                                    Own && number == body_of(lane, i));
                }
            }
            of_list[lane] = sums;
            float most = near[0];
            for (uint32_t i = 1; i < mine; ++i) most = std::fmax(most, near[i]);
            nearness[lane] = most;
        });
        if (group_.ballot([&](uint32_t lane) { return nearness[lane] >= from; }) != 0) return false;
        group_.each([&](uint32_t lane) { add<Potential>(lane, of_list[lane]); });
        return true;
    }

    // ---- the whole sums: in scratch, or (with vectors) in columns

    /// Sums of lists of some dozens go into the whole one at a time: that keeps rounding errors small.
    template <bool Potential>
    HEADRACE_HOST_DEVICE void add(uint32_t lane, const Sums& sums) {
        for (uint32_t i = 0; i < mine; ++i) {
#ifdef HEADRACE_HAS_BATCHES
            const uint32_t place = lane + i * lanes;
            columns_.sums.x[place] += sums.x[i];
            columns_.sums.y[place] += sums.y[i];
            columns_.sums.z[place] += sums.z[i];
            if (Potential) columns_.sums.potential[place] += sums.potential[i];
#else
            Sums& to = sums_[lane];
            to.x[i] += sums.x[i];
            to.y[i] += sums.y[i];
            to.z[i] += sums.z[i];
            if (Potential) to.potential[i] += sums.potential[i];
#endif
        }
    }
    /// Nothing has pulled at a lane's bodies. Columns get their places, too.
    HEADRACE_HOST_DEVICE void begin_sums(uint32_t lane) {
#ifdef HEADRACE_HAS_BATCHES
        for (uint32_t i = 0; i < mine; ++i) {
            const uint32_t place = lane + i * lanes;
            columns_.x[place] = targets_[lane].x[i];
            columns_.y[place] = targets_[lane].y[i];
            columns_.z[place] = targets_[lane].z[i];
            columns_.number[place] = body_of(lane, i);
            columns_.sums.x[place] = columns_.sums.y[place] = columns_.sums.z[place] = 0;
            columns_.sums.potential[place] = 0;
        }
#else
        sums_[lane] = {};
#endif
    }
    HEADRACE_HOST_DEVICE Force sum_of(uint32_t lane, uint32_t i) const {
#ifdef HEADRACE_HAS_BATCHES
        const uint32_t place = lane + i * lanes;
        const ForceColumns& sums = columns_.sums;
        return {sums.x[place], sums.y[place], sums.z[place], sums.potential[place]};
#else
        const Sums& sums = sums_[lane];
        return {sums.x[i], sums.y[i], sums.z[i], sums.potential[i]};
#endif
    }

    Group& group_;
    const TreeView& tree_;
    const uint32_t first_; ///< body
    NodeSource* fetched_;
    Sums* sums_; ///< of each lane
    WalkState* state_;
    uint32_t *stack_, *node_list_, *body_list_;
    Leaf* leaves_;                                ///< of each lane, in the last step
    uint32_t depth_ = 0, nodes_ = 0, bodies_ = 0; ///< in stack and lists
    uint32_t found_ = 0, listed_ = 0;             ///< bodies of the last step's leaves
    uint32_t node_count_ = 0, body_count_ = 0;    ///< evaluated
    PerLane<Targets> targets_;
    PerLane<uint32_t> odd_;
    PerLane<Seen> seen_;
    PerLane<uint32_t> loads_, begins_;
#ifdef HEADRACE_HAS_BATCHES
    BodyColumns columns_;
#endif
};

} // namespace barnes_hut
