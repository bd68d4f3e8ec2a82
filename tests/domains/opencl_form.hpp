// tests/domains/opencl_form.hpp - kernels in OpenCL C: of a file that has several, the one whose name is
// defined.
#pragma once
#include <headrace/persistent/opencl/opencl_kernel.hpp>

#include <string>
#include <string_view>

namespace headrace::test {

inline OpenClKernel opencl_form(const std::string& name, std::string_view source) {
    return {.name = name, .source = "#define " + name + "\n" + std::string(source)};
}

} // namespace headrace::test
