// A header with the file name of another one in the same target, and kernels with the names of its.
#pragma once
#include <headrace/domains/grids/roles.hpp>
#include <headrace/domains/view.hpp>

namespace far {

struct Walk {
    std::uint64_t left;
};

struct Event { // seeds
    HEADRACE_KERNEL Walk operator()(std::uint64_t) const { return {9}; }
};

struct Trace {
    using Units = headrace::Kinds<headrace::Kind<Walk, 1>>;
    headrace::Sum<std::uint64_t> steps;
    HEADRACE_KERNEL void operator()(auto& lane, Walk walk) const {
        steps.add(0, 1);
        if (walk.left > 0) lane.spawn(Walk{walk.left - 1});
    }
};

struct Index {
    headrace::Io<float> all;
    HEADRACE_KERNEL void operator()(headrace::Index<1> at) const { all[at] *= 10; }
};

} // namespace far

namespace detail {
struct Shape {
    headrace::Io<float> all;
    HEADRACE_KERNEL void operator()(headrace::Index<1> at) const { all[at] -= 2; }
};
} // namespace detail
