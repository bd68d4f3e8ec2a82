#pragma once
#include "half.h"
#include <headrace/domains/grids/roles.hpp>

struct Halve {
    headrace::Io<float> all;
    HEADRACE_KERNEL void operator()(headrace::Index<1> at) const { all[at] = consumer::half_of(all[at]); }
};
