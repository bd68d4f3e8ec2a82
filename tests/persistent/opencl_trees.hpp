// tests/persistent/opencl_trees.hpp - the kernels of trees.kernels.hpp as their twins in OpenCL C, trees.cl.
#pragma once
#include "trees.cl.hpp"
#include "trees.kernels.hpp"

#include <headrace/persistent/opencl/opencl_kernel.hpp>

#include <memory>
#include <string>

namespace headrace::test {

inline std::unique_ptr<BoundKernel> bind_twin(const char* name, const Memory& arrivals, std::uint64_t bound,
                                              std::uint32_t kinds, std::size_t unit_bytes,
                                              std::uint32_t max_spawns) {
    OpenClKernel kernel;
    kernel.name = name;
    kernel.source = std::string(embedded::trees_cl);
    kernel.kinds = kinds;
    kernel.unit_bytes = static_cast<std::uint32_t>(unit_bytes);
    kernel.max_spawns = max_spawns;
    kernel.options = std::string("-D") + name;
    OpenClArguments arguments;
    arguments.buffer(arrivals).value(bound);
    return bind_opencl(kernel, std::move(arguments));
}

inline std::unique_ptr<BoundKernel> bind_twin(const BinaryTree& kernel, const Roots&,
                                              const Memory& arrivals) {
    return bind_twin("BINARY_TREE", arrivals, kernel.first_leaf, 1, sizeof(Node), 2);
}
inline std::unique_ptr<BoundKernel> bind_twin(const IrregularTree& kernel, const Roots&,
                                              const Memory& arrivals) {
    return bind_twin("IRREGULAR_TREE", arrivals, kernel.deepest, 1, sizeof(Node), 4);
}
inline std::unique_ptr<BoundKernel> bind_twin(const Chain&, const ChainStarts& seeds,
                                              const Memory& arrivals) {
    return bind_twin("CHAIN", arrivals, seeds.longest, 1, sizeof(Link), 1);
}
inline std::unique_ptr<BoundKernel> bind_twin(const Plant& kernel, const Sprouts&, const Memory& arrivals) {
    return bind_twin("PLANT", arrivals, kernel.depth, 3, sizeof(Bud), 3);
}
inline std::unique_ptr<BoundKernel> bind_twin(const Visit&, const Indices&, const Memory& arrivals) {
    return bind_twin("VISIT", arrivals, 0, 0, 0, 0);
}
inline std::unique_ptr<BoundKernel> bind_twin(const Liar&, const Roots&, const Memory& arrivals) {
    return bind_twin("LIAR", arrivals, 0, 1, sizeof(Node), 2);
}

} // namespace headrace::test
