// bench/joining.kernels.hpp - kernels that do nothing but write: index i one element, far from its
// neighbours'.
#pragma once
#include <headrace/domains/view.hpp>

#include <cstdint>

namespace bench {

/// A permutation of [0, size), `size` a power of two; and back.
HEADRACE_HOST_DEVICE inline std::uint64_t place_of(std::uint64_t i, std::uint64_t size) {
    return i * 0x9e3779b97f4a7c15ull & (size - 1);
}
HEADRACE_HOST_DEVICE inline std::uint64_t index_at(std::uint64_t place, std::uint64_t size) {
    return place * 0xf1de83e19937733dull & (size - 1);
}
static_assert(0x9e3779b97f4a7c15ull * 0xf1de83e19937733dull == 1);

struct ScatterOne {
    headrace::Scatter<std::uint64_t> x;
    std::uint64_t turn;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { x[place_of(i, x.size())] = i + turn; }
};
struct AddOne {
    headrace::Sum<std::uint64_t> x;
    std::uint64_t turn;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { x.add(place_of(i, x.size()), i + turn); }
};

} // namespace bench
