// persistent/opencl/opencl_absent.cpp - builds without OpenCL: devices of it do not exist, so nobody is
// misled.
#include <headrace/persistent/opencl/opencl_kernel.hpp>

namespace headrace {

std::unique_ptr<BoundKernel> bind_opencl(const OpenClKernel&, OpenClArguments) { return nullptr; }

} // namespace headrace
