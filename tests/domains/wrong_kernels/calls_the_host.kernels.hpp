// A kernel that calls a function which devices do not have.
#pragma once
#include <headrace/domains/view.hpp>

inline float on_the_host(float x) { return x + 1; }

struct CallsTheHost {
    headrace::View<float> out;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { out[i] = on_the_host(out[i]); }
};
