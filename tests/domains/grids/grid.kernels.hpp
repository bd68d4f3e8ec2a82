// tests/domains/grids/grid.kernels.hpp - small kernels in one to three dimensions, each role among them.
#pragma once
#include <headrace/domains/grids/roles.hpp>

#include <cstdint>

namespace headrace::test {

/// Each point writes what names it, so that one left out, doubled or misplaced shows.
struct Number1 {
    Write<std::int64_t> out;
    std::int64_t offset;
    HEADRACE_KERNEL void operator()(Index<1> at) const { out[at] = at.x + offset; }
};
struct Number2 {
    Write<std::int32_t> out;
    HEADRACE_KERNEL void operator()(Index<2> at) const { out[at] = 1000 * at.y + at.x; }
};
struct Number3 {
    Write<std::int32_t> out;
    static constexpr auto block = grid(2, 4, 16);
    HEADRACE_KERNEL void operator()(Index<3> at) const { out[at] = 10000 * at.z + 100 * at.y + at.x; }
};

/// The mean of a point and its four neighbours, edges being their own neighbours.
struct Blur {
    In<std::uint8_t> in;
    Write<std::uint8_t> out;
    static constexpr int margin = 1;
    HEADRACE_KERNEL void operator()(IndexOf<2> auto at) const {
        const int sum =
            in[at] + in.near(at, -1, 0) + in.near(at, 1, 0) + in.near(at, 0, -1) + in.near(at, 0, 1);
        out[at] = static_cast<std::uint8_t>(sum / 5);
    }
};

/// What lies `reach` before and behind, in one dimension and in three: opposite corners.
struct Around1 {
    In<int> in;
    Write<int> out;
    static constexpr int margin = 2;
    HEADRACE_KERNEL void operator()(IndexOf<1> auto at) const {
        out[at] = 1000 * in.near(at, -2) + in.near(at, 2);
    }
};
struct Around3 {
    In<int> in;
    Write<int> out;
    int planes; ///< of the arrays, for OpenCL C, where only the grid's ends are known otherwise
    static constexpr int margin = 1;
    HEADRACE_KERNEL void operator()(IndexOf<3> auto at) const {
        out[at] = 1000 * in.near(at, -1, -1, -1) + in.near(at, 1, 1, 1);
    }
};

/// Every second element is written; the others stay.
struct Odd {
    Out<float> out;
    float value;
    HEADRACE_KERNEL void operator()(Index<1> at) const {
        if (at.x % 2 != 0) out[at] = value;
    }
};

struct AddTo {
    In<float> in;
    Io<float> sum;
    HEADRACE_KERNEL void operator()(Index<1> at) const { sum[at] += in[at]; }
};

} // namespace headrace::test
