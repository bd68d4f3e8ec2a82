// domains/grids/opencl/opencl_grid_absent.cpp - for builds without OpenCL: they have no OpenCL devices, so
// these functions are never called.
#include <headrace/domains/grids/opencl/opencl_grid.hpp>

namespace headrace {

OpenClGridKernel::OpenClGridKernel(std::string name, std::string, std::string_view, AnyGrid, std::string)
    : name_(std::move(name)) {}

void OpenClGridKernel::enqueue(const AnyGrid&, const KernelMembers&, const NativeStream&) const {
    throw Error{ErrorKind::unsupported, "this build lacks OpenCL, for which the kernel \"" + name_ + "\" is"};
}

} // namespace headrace
