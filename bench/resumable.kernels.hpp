// bench/resumable.kernels.hpp - walks through a table, as rays walk through a tree: steps of two phases, of
// which each walk takes another number, then work that all walks do. As one call, and in phases.
#pragma once
#include <headrace/domains/view.hpp>
#include <headrace/persistent/kernel.hpp>

#include <cstdint>

namespace bench {

struct alignas(16) Quad {
    std::uint32_t x, y, z, w;
};
struct Ray {
    std::uint32_t state, bounces;
};
struct Hit {
    std::uint32_t state, bounces;
};

struct RayRules {
    static constexpr std::uint32_t sums = 4096, node_quads = 5, leaf_quads = 4, quads = 5u << 15;
    headrace::View<const Quad> table; ///< `quads` of them
    headrace::Sum<std::uint64_t> marks;
    std::uint32_t mean;    ///< nodes of a walk: geometric
    std::uint32_t shading; ///< rounds at its end

    HEADRACE_HOST_DEVICE static std::uint32_t scatter(std::uint32_t x) { // MurmurHash3's finaliser
        x ^= x >> 16;
        x *= 0x85ebca6bu;
        x ^= x >> 13;
        x *= 0xc2b2ae35u;
        return x ^ (x >> 16);
    }
    template <std::uint32_t Count>
    HEADRACE_HOST_DEVICE std::uint32_t look_at(std::uint32_t state) const {
        const std::uint32_t first = scatter(state) % (quads / Count) * Count;
        for (std::uint32_t i = 0; i < Count; ++i) {
            const Quad quad = table[first + i];
            state = scatter(state ^ quad.x) + (quad.y ^ quad.z) * quad.w;
        }
        return state;
    }
    /// Phase 0. A third of the nodes lead to a leaf. `nodes` so far: some walks would go round in a circle.
    HEADRACE_HOST_DEVICE headrace::Phase visit_node(std::uint32_t& state, std::uint32_t& nodes) const {
        state = look_at<node_quads>(state);
        if (++nodes >= 64 * mean) return headrace::Phase::done;
        const std::uint32_t chance = scatter(state ^ 0x9e3779b9u);
        if (chance % mean == 0) return headrace::Phase::done;
        return headrace::Phase{chance / mean % 3 == 0 ? 1u : 0u};
    }
    /// Phase 1.
    HEADRACE_HOST_DEVICE headrace::Phase visit_leaf(std::uint32_t& state) const {
        state = look_at<leaf_quads>(state);
        return headrace::Phase{0};
    }
    HEADRACE_HOST_DEVICE std::uint32_t shade(std::uint32_t state) const {
        for (std::uint32_t round = 0; round < shading; ++round) state = scatter(state + round);
        marks.add(state % sums, state);
        return state;
    }
};

struct OfRays {
    RayRules rules;
};

/// One call for each ray.
struct CallRays : OfRays {
    using Units = headrace::Kinds<headrace::Kind<Ray, 1>>;
    HEADRACE_KERNEL void operator()(auto& lane, Ray ray) const {
        std::uint32_t nodes = 0;
        for (headrace::Phase phase{0}; phase != headrace::Phase::done;)
            phase = phase == headrace::Phase{0} ? rules.visit_node(ray.state, nodes)
                                                : rules.visit_leaf(ray.state);
        const std::uint32_t next = rules.shade(ray.state);
        if (ray.bounces > 0) lane.spawn(Ray{next, ray.bounces - 1});
    }
};

/// A triangle step once 8 of 32 lanes wait for one.
struct RayWalk {
    struct State {
        std::uint32_t state, bounces, nodes;
    };
    static constexpr unsigned phase_percent[] = {0, 25};
};
template <class Units_>
struct WalkRays {
    using Units = Units_;
    static constexpr unsigned refill_percent = 80;
    RayRules rules;
    HEADRACE_KERNEL RayWalk::State begin(auto&, const Ray& ray) const { return {ray.state, ray.bounces, 0}; }
    HEADRACE_KERNEL headrace::Phase step(headrace::Constant<0>, auto&, RayWalk::State& walk) const {
        return rules.visit_node(walk.state, walk.nodes);
    }
    HEADRACE_KERNEL headrace::Phase step(headrace::Constant<1>, auto&, RayWalk::State& walk) const {
        return rules.visit_leaf(walk.state);
    }
};
/// In phases; shading when lanes are refilled.
struct StepRays : WalkRays<headrace::Kinds<headrace::ResumableKind<Ray, 1, RayWalk>>> {
    HEADRACE_KERNEL void finish(auto& lane, RayWalk::State& walk) const {
        const std::uint32_t next = rules.shade(walk.state);
        if (walk.bounces > 0) lane.spawn(Ray{next, walk.bounces - 1});
    }
};
/// In phases; shading is a kind of its own, which gathers until it fills a lane group.
struct GatherRays
    : WalkRays<headrace::Kinds<headrace::ResumableKind<Ray, 1, RayWalk>, headrace::Kind<Hit, 1>>> {
    HEADRACE_KERNEL void finish(auto& lane, RayWalk::State& walk) const {
        lane.spawn(Hit{walk.state, walk.bounces});
    }
    HEADRACE_KERNEL void operator()(auto& lane, Hit hit) const {
        const std::uint32_t next = rules.shade(hit.state);
        if (hit.bounces > 0) lane.spawn(Ray{next, hit.bounces - 1});
    }
};

/// In phases; rays stay in the inbox, and are shaded once a whole lane group of them has ended.
struct InboxWalk : RayWalk {
    struct Result {
        std::uint32_t state;
    };
};
struct InboxRays : WalkRays<headrace::Kinds<headrace::ResumableKind<Ray, 1, InboxWalk>>> {
    HEADRACE_KERNEL void end(auto&, const RayWalk::State& walk, headrace::NoScratch&,
                             InboxWalk::Result& result) const {
        result.state = walk.state;
    }
    HEADRACE_KERNEL void finish(auto& lane, const InboxWalk::Result& result, const Ray& ray) const {
        const std::uint32_t next = rules.shade(result.state);
        if (ray.bounces > 0) lane.spawn(Ray{next, ray.bounces - 1});
    }
};

struct CameraRays {
    std::uint32_t bounces;
    HEADRACE_KERNEL Ray operator()(std::uint64_t index) const {
        return {static_cast<std::uint32_t>(index) * 0x9e3779b9u + 1, bounces};
    }
};

} // namespace bench
