// tests/persistent/cpu_only.kernels.hpp - a kernel that is offered for one technology.
#pragma once
#include <headrace/persistent/kernel.hpp>

namespace headrace::test {

struct CpuOnly {
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t) const {}
};

} // namespace headrace::test
