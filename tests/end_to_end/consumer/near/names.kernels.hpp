// Kernels with names that Headrace has too, in the global namespace and in one of the user's own.
#pragma once
#include <headrace/domains/grids/roles.hpp>
#include <headrace/domains/view.hpp>

struct Step {
    std::uint64_t left;
};

struct Event { // seeds
    HEADRACE_KERNEL Step operator()(std::uint64_t i) const { return {i}; }
};

struct Trace {
    using Units = headrace::Kinds<headrace::Kind<Step, 1>>;
    headrace::Sum<std::uint64_t> steps;
    HEADRACE_KERNEL void operator()(auto& lane, Step step) const {
        steps.add(0, 1);
        if (step.left > 0) lane.spawn(Step{step.left - 1});
    }
};

struct Policy {
    headrace::Sum<std::int64_t> sum;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t) const { sum.add(0, -1); }
};

namespace detail {
struct Count {
    headrace::Sum<std::uint32_t> calls;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t) const { calls.add(0, 1); }
};
} // namespace detail

struct Grid {
    headrace::Io<float> all;
    HEADRACE_KERNEL void operator()(headrace::Index<1> at) const { all[at] += 1; }
};
