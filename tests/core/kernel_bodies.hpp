// tests/core/kernel_bodies.hpp - what tests launch when it is not about what a kernel does.
#pragma once
#include <headrace/core/device.hpp>

#include <stdexcept>

namespace headrace::test {

inline void nothing(const NativeStream&) {}
inline void fails(const NativeStream&) { throw std::runtime_error("the kernel's own words"); }

} // namespace headrace::test
