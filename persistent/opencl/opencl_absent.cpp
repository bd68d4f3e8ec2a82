// persistent/opencl/opencl_absent.cpp - for builds without OpenCL: there are no OpenCL devices, so a null
// kernel does no harm.
#include <headrace/persistent/opencl/opencl_kernel.hpp>

namespace headrace {

std::unique_ptr<BoundKernel> bind_opencl(const OpenClKernel&, OpenClArguments) { return nullptr; }

} // namespace headrace
