#pragma once
#include <headrace/domains/view.hpp>

struct Square {
    headrace::View<const float> in;
    headrace::View<float> out;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { out[i] = in[i] * in[i]; }
};
