// domains/grids/opencl/opencl_grid.hpp - a kernel over a grid in OpenCL C.
//
// The __kernel function has the name of the C++ struct. Its parameters are the struct's members in their
// order, a role being a __global pointer, and then the ends of the grid, slowest first: one `long`, or two or
// three `int`. Work-items beyond them must do nothing. get_global_id(0) is the fastest index. The ends of a
// part of a grid are not those of its arrays: a kernel that needs these has them as numbers of its own.
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

/// A kernel in OpenCL C, built for a device when it is first enqueued there.
class HEADRACE_EXPORT OpenClGridKernel {
public:
    /// `name`: of the __kernel function. `file` is for people: a build's errors name it. `block`: work-items
    /// of a work-group; of rank 0: our choice. `options` are the compiler's.
    OpenClGridKernel(std::string name, std::string file, std::string_view source, AnyGrid block = {},
                     std::string options = {});

    /// Threads: any. Errors: throws kernel, with the compiler's log, if the source does not compile, and
    /// invalid_argument if its parameters are not `members` and the grid's.
    void enqueue(const AnyGrid& grid, const KernelMembers& members, const NativeStream& stream) const;

private:
    std::string name_, source_, options_;
    std::string key_; ///< all of them
    AnyGrid block_;
};

namespace on_opencl {

/// What a generated unit returns.
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
