// apps/matrices/multiply_opencl.cpp - see multiply_opencl.hpp.
#include "matrices/multiply_opencl.hpp"
#include <headrace/domains/grids/opencl/opencl_grid.hpp>

#include "multiply.cl.hpp"

#include <array>
#include <span>

namespace matrices {

using namespace headrace;

Implementations<Multiply>::Run on_opencl(const OpenClMultiply& which) {
    OpenClGridKernel kernel(which.name, "multiply.cl", embedded::multiply_cl,
                            grid(which.group_rows, which.group_columns));
    return [kernel = std::move(kernel), which](const Multiply& k, const AnyGrid& whole,
                                               MembersOf<Multiply> members, const NativeStream& stream) {
        const int first = static_cast<int>(whole.first), last = static_cast<int>(whole.end[0]);
        const std::array<int, 4> numbers{first, last, k.c.columns(), k.b.rows()};
        KernelMembers arguments = members(k);
        for (const int& number : numbers) arguments.push_back(std::as_bytes(std::span(&number, 1)));
        const auto items = [](int size, int item) { return (size + item - 1) / item; };
        kernel.enqueue(grid(items(last - first, which.item_rows), items(k.c.columns(), which.item_columns)),
                       arguments, stream);
    };
}

} // namespace matrices
