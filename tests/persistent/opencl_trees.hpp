// tests/persistent/opencl_trees.hpp - the kernels of trees.kernels.hpp as their twins in OpenCL C, trees.cl.
#pragma once
#include "trees.cl.hpp"
#include "walks.kernels.hpp"

#include <headrace/persistent/opencl/opencl_kernel.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {

inline OpenClKernel twin(const char* name, std::uint32_t kinds, std::size_t unit_bytes,
                         std::uint32_t max_spawns) {
    OpenClKernel kernel;
    kernel.name = name;
    kernel.source = std::string(embedded::trees_cl);
    kernel.kinds = kinds;
    kernel.unit_bytes = static_cast<std::uint32_t>(unit_bytes);
    kernel.max_spawns = max_spawns;
    kernel.options = std::string("-D") + name;
    return kernel;
}
template <class Kernel>
OpenClKernel by_group(OpenClKernel kernel) {
    kernel.by_group = true;
    kernel.scratch_words = scratch_words<Kernel>;
    return kernel;
}
inline std::unique_ptr<BoundKernel> bind_twin(const OpenClKernel& kernel, const Memory& arrivals,
                                              std::uint64_t bound) {
    OpenClArguments arguments;
    arguments.buffer(arrivals).value(bound);
    return bind_opencl(kernel, std::move(arguments));
}

inline std::unique_ptr<BoundKernel> bind_twin(const BinaryTree& kernel, const Roots&,
                                              const Memory& arrivals) {
    return bind_twin(twin("BINARY_TREE", 1, sizeof(Node), 2), arrivals, kernel.first_leaf);
}
inline std::unique_ptr<BoundKernel> bind_twin(const IrregularTree& kernel, const Roots&,
                                              const Memory& arrivals) {
    return bind_twin(twin("IRREGULAR_TREE", 1, sizeof(Node), 4), arrivals, kernel.deepest);
}
inline std::unique_ptr<BoundKernel> bind_twin(const Chain&, const ChainStarts& seeds,
                                              const Memory& arrivals) {
    return bind_twin(twin("CHAIN", 1, sizeof(Link), 1), arrivals, seeds.longest);
}
inline std::unique_ptr<BoundKernel> bind_twin(const Plant& kernel, const Sprouts&, const Memory& arrivals) {
    return bind_twin(twin("PLANT", 3, sizeof(Bud), 3), arrivals, kernel.depth);
}
inline std::unique_ptr<BoundKernel> bind_twin(const Visit&, const Indices&, const Memory& arrivals) {
    return bind_twin(twin("VISIT", 0, 0, 0), arrivals, 0);
}
inline std::unique_ptr<BoundKernel> bind_twin(const Liar&, const Roots&, const Memory& arrivals) {
    return bind_twin(twin("LIAR", 1, sizeof(Node), 2), arrivals, 0);
}
inline std::unique_ptr<BoundKernel> bind_twin(const GroupTree& kernel, const Roots&, const Memory& arrivals) {
    return bind_twin(by_group<GroupTree>(twin("IRREGULAR_TREE", 1, sizeof(Node), 4)), arrivals,
                     kernel.deepest);
}
inline std::unique_ptr<BoundKernel> bind_twin(const GroupPlant& kernel, const Sprouts&,
                                              const Memory& arrivals) {
    return bind_twin(by_group<GroupPlant>(twin("GROUP_PLANT", 3, sizeof(Bud), 2)), arrivals, kernel.depth);
}
inline OpenClKernel with_ranges(OpenClKernel kernel, std::vector<OpenClRange> ranges,
                                const char* options = "") {
    kernel.ranges = std::move(ranges);
    kernel.options += options;
    return kernel;
}
/// `width` in the upper half of `bound`.
inline std::uint64_t bound_of(const Fireworks& kernel) { return kernel.width << 32 | kernel.depth; }
inline std::unique_ptr<BoundKernel> bind_twin(const Fireworks& kernel, const Fuses&, const Memory& arrivals) {
    return bind_twin(with_ranges(twin("FIREWORKS", 2, sizeof(Range<Burst>), 2), {{1, 0}}), arrivals,
                     bound_of(kernel));
}
inline std::unique_ptr<BoundKernel> bind_twin(const GroupFireworks& kernel, const Fuses&,
                                              const Memory& arrivals) {
    return bind_twin(
        with_ranges(by_group<GroupFireworks>(twin("FIREWORKS", 2, sizeof(Range<Burst>), 2)), {{1, 0}}),
        arrivals, bound_of(kernel));
}
inline std::unique_ptr<BoundKernel> bind_twin(const Fireworks& kernel, const Rockets& seeds,
                                              const Memory& arrivals) {
    return bind_twin(with_ranges(twin("FIREWORKS", 2, sizeof(Range<Burst>), 2), {{1, 0}}, " -DROCKETS"),
                     arrivals, seeds.longest << 32 | kernel.depth);
}
inline std::unique_ptr<BoundKernel> bind_twin(const Conifer& kernel, const Saplings&,
                                              const Memory& arrivals) {
    return bind_twin(with_ranges(twin("CONIFER", 5, sizeof(Range<Whorl>), 2), {{0, 4}, {3, 2}}), arrivals,
                     kernel.depth);
}
inline std::unique_ptr<BoundKernel> bind_twin(const IrregularTree& kernel, const SparseRoots& seeds,
                                              const Memory& arrivals) {
    OpenClKernel tree = twin("IRREGULAR_TREE", 1, sizeof(Node), 4);
    tree.options += " -DONE_IN=" + std::to_string(seeds.one_in) + "ul";
    return bind_twin(tree, arrivals, kernel.deepest);
}
inline std::unique_ptr<BoundKernel> bind_twin(const GroupVisit&, const Indices&, const Memory& arrivals) {
    return bind_twin(by_group<GroupVisit>(twin("GROUP_VISIT", 0, 0, 0)), arrivals, 0);
}

/// `kind` walks, and `id` is the id of its unit.
inline OpenClKernel walking(OpenClKernel kernel, std::uint32_t kind, const char* id) {
    kernel.options += " -DWALK=" + std::to_string(kind) + " -DWALK_ID=" + id;
    return kernel;
}
inline OpenClKernel walk_tree() {
    return walking(twin("IRREGULAR_TREE", 1, sizeof(Node), 4), 0, "mix(unit.seed)^unit.heap");
}
inline std::unique_ptr<BoundKernel> bind_twin(const WalkTree& kernel, const Roots&, const Memory& arrivals) {
    return bind_twin(walk_tree(), arrivals, kernel.deepest);
}
inline std::unique_ptr<BoundKernel> bind_twin(const WalkTree& kernel, const SparseRoots& seeds,
                                              const Memory& arrivals) {
    OpenClKernel tree = walk_tree();
    tree.options += " -DONE_IN=" + std::to_string(seeds.one_in) + "ul";
    return bind_twin(tree, arrivals, kernel.deepest);
}
inline std::unique_ptr<BoundKernel> bind_twin(const WalkPlant& kernel, const Sprouts&,
                                              const Memory& arrivals) {
    return bind_twin(walking(twin("PLANT", 3, sizeof(Bud), 3), 1, "unit.id"), arrivals, kernel.depth);
}
inline std::unique_ptr<BoundKernel> bind_twin(const WalkFireworks& kernel, const Fuses&,
                                              const Memory& arrivals) {
    return bind_twin(
        with_ranges(walking(twin("FIREWORKS", 2, sizeof(Range<Burst>), 2), 0, "unit.spark.id"), {{1, 0}}),
        arrivals, bound_of(kernel));
}
inline std::unique_ptr<BoundKernel> bind_twin(const WalkFireworks& kernel, const Rockets& seeds,
                                              const Memory& arrivals) {
    return bind_twin(with_ranges(walking(twin("FIREWORKS", 2, sizeof(Range<Burst>), 2), 0, "unit.spark.id"),
                                 {{1, 0}}, " -DROCKETS"),
                     arrivals, seeds.longest << 32 | kernel.depth);
}
inline std::unique_ptr<BoundKernel> bind_twin(const WalkConifer& kernel, const Saplings&,
                                              const Memory& arrivals) {
    return bind_twin(
        with_ranges(walking(twin("CONIFER", 5, sizeof(Range<Whorl>), 2), 2, "unit.own.id"), {{0, 4}, {3, 2}}),
        arrivals, kernel.depth);
}

} // namespace headrace::test
