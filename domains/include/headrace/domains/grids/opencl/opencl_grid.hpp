// domains/grids/opencl/opencl_grid.hpp - a kernel over a grid in OpenCL C.
//
// The __kernel function has the name of the C++ struct. Its parameters are the struct's members in their
// order, with a __global pointer for a role, then the grid's ends, slowest first: one `long`, or two or three
// `int`. Work-items beyond the ends must do nothing. get_global_id(0) is the fastest index. A part of a grid
// has other ends than its arrays: if a kernel needs the arrays' sizes, it has them as further members.
//     __kernel void Scale(__global const float* in, __global float* out, float factor, int rows, int columns)
//     {
//         const int x = get_global_id(0), y = get_global_id(1);
//         if (x < columns && y < rows) out[y * columns + x] = factor * in[y * columns + x];
//     }
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/grids/implementations.hpp>

#include <string>
#include <string_view>

namespace headrace {

/// A kernel in OpenCL C. Each device builds it when it is first enqueued there.
class HEADRACE_EXPORT OpenClGridKernel {
public:
    /// `name`: of the __kernel function. `file`: shown in build errors. `block`: work-items of a work-group;
    /// with rank 0 the library chooses. `options`: for the compiler.
    OpenClGridKernel(std::string name, std::string file, std::string_view source, AnyGrid block = {},
                     std::string options = {});

    /// Threads: any. Errors: throws kernel, with the compiler's log, if the source does not compile, and
    /// invalid_argument if its parameters are not `members` and the ends of the grid.
    void enqueue(const AnyGrid& grid, const KernelMembers& members, const NativeStream& stream) const;

private:
    std::string name_, source_, options_;
    std::string key_; ///< all of them
    AnyGrid block_;
};

namespace on_opencl {

/// The return value of a generated unit.
template <class Kernel>
Implementations<Kernel> compiled(std::string_view name, std::string_view file, std::string_view source) {
    AnyGrid block;
    if constexpr (requires { Kernel::block; }) block = Kernel::block;
    OpenClGridKernel opencl(std::string(name), std::string(file), source, block);
    Implementations<Kernel> all;
    all.add({"opencl"}, [opencl = std::move(opencl)](const Kernel& kernel, const AnyGrid& grid,
                                                     MembersOf<Kernel> members, const NativeStream& stream) {
        opencl.enqueue(grid, members(kernel), stream);
    });
    return all;
}

} // namespace on_opencl
} // namespace headrace
