// apps/path_tracer/collapse.cpp - see collapse.hpp.
#include "collapse.hpp"

#include <tbb/parallel_invoke.h>

namespace path_tracer {
namespace {

/// What is below a node costs so much, and has so many wide nodes, if it fills at most 1 to 7 slots above.
struct Costs {
    std::array<float, wide_slots> area{}; ///< half the area of all wide nodes
    std::array<uint32_t, wide_slots> wide_nodes{};
};

class Planner {
public:
    Planner(const Bvh& bvh, std::vector<NodePlan>& plan) : bvh_(bvh), plan_(plan) {}

    /// `half_area`: of the box around it
    Costs plan(const Branch& branch, float half_area) {
        if (!branch.is_inner()) return {};
        const BvhNode& node = bvh_.nodes[branch.place()];
        const auto [first, second] = children_of(bvh_, branch);
        Costs firsts, seconds;
        const auto plan_first = [&, to = first] {
            firsts = plan(to, half_area_of(node.x.half0, node.y.half0, node.z.half0));
        };
        const auto plan_second = [&, to = second] {
            seconds = plan(to, half_area_of(node.x.half1, node.y.half1, node.z.half1));
        };
        if (branch.nodes() >= nodes_worth_a_thread) {
            tbb::parallel_invoke(plan_first, plan_second);
        } else {
            plan_first();
            plan_second();
        }
        return choose(firsts, seconds, half_area, plan_[branch.place()]);
    }

private:
    static float half_area_of(float x, float y, float z) { return 4 * (x * y + y * z + z * x); }

    static Costs choose(const Costs& first, const Costs& second, float half_area, NodePlan& plan) {
        // In 2 to 8 slots, those of the children.
        std::array<float, wide_slots + 1> area{};
        const auto nodes = [&](std::size_t slots) {
            const std::size_t of_first = plan.first[slots];
            return first.wide_nodes[of_first] + second.wide_nodes[slots - of_first];
        };
        for (std::size_t slots = 2; slots <= wide_slots; ++slots) {
            plan.first[slots] = 1;
            area[slots] = first.area[1] + second.area[slots - 1];
            for (std::size_t of_first = 2; of_first < slots; ++of_first) {
                const float there = first.area[of_first] + second.area[slots - of_first];
                if (there >= area[slots]) continue;
                area[slots] = there;
                plan.first[slots] = static_cast<unsigned char>(of_first);
            }
        }
        Costs costs;
        costs.area[1] = half_area + area[wide_slots];
        costs.wide_nodes[1] = 1 + nodes(wide_slots);
        plan.wide_nodes = costs.wide_nodes[1];
        plan.fills[1] = 1;
        for (std::size_t slots = 2; slots < wide_slots; ++slots) {
            const bool is_better = area[slots] < costs.area[slots - 1];
            costs.area[slots] = is_better ? area[slots] : costs.area[slots - 1];
            costs.wide_nodes[slots] = is_better ? nodes(slots) : costs.wide_nodes[slots - 1];
            plan.fills[slots] = is_better ? static_cast<unsigned char>(slots) : plan.fills[slots - 1];
        }
        return costs;
    }

    const Bvh& bvh_;
    std::vector<NodePlan>& plan_;
};

} // namespace

std::array<Branch, 2> children_of(const Bvh& bvh, const Branch& parent) {
    const BvhNode& node = bvh.nodes[parent.place()];
    const Branch second{node.child1, parent.end};
    return {Branch{node.child0, second.is_inner() ? second.place() : parent.end}, second};
}

std::vector<NodePlan> plan_of_collapse(const Bvh& bvh) {
    std::vector<NodePlan> plan(bvh.nodes.size());
    Planner(bvh, plan).plan(root_of(bvh), bvh.box.half_area());
    return plan;
}

} // namespace path_tracer
