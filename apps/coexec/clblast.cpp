// apps/coexec/clblast.cpp - rows of c = a b by CLBlast, on OpenCL devices.
#include "matrices.hpp"
#include <headrace/devices/opencl/check.hpp>

#include <clblast_c.h>

namespace coexec {
namespace {

CLBlastStatusCode multiply(std::size_t rows, std::size_t columns, std::size_t inner, float, cl_mem a,
                           std::size_t first_of_a, cl_mem b, cl_mem c, std::size_t first_of_c,
                           cl_command_queue queue) {
    return CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, rows, columns, inner,
                        1, a, first_of_a, inner, b, 0, columns, 0, c, first_of_c, columns, &queue, nullptr);
}
CLBlastStatusCode multiply(std::size_t rows, std::size_t columns, std::size_t inner, double, cl_mem a,
                           std::size_t first_of_a, cl_mem b, cl_mem c, std::size_t first_of_c,
                           cl_command_queue queue) {
    return CLBlastDgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, rows, columns, inner,
                        1, a, first_of_a, inner, b, 0, columns, 0, c, first_of_c, columns, &queue, nullptr);
}

} // namespace

template <class Real>
HostFunction multiply_by_clblast(const Matrices<Real>& matrices) {
    return [m = matrices](headrace::Task& task, const headrace::NativeStream& stream) {
        const Rows part = rows_of(task, m);
        const auto handle = [&](const headrace::Domain<Real>& domain) {
            return static_cast<cl_mem>(task.memory(domain).handle());
        };
        const CLBlastStatusCode status = multiply(
            part.count, m.columns(), m.inner(), Real{}, handle(m.a), part.first * m.inner(), handle(m.b),
            handle(m.c), part.first * m.columns(), static_cast<cl_command_queue>(stream.stream));
        // Its codes are OpenCL's and some of its own.
        headrace::opencl::check(static_cast<cl_int>(status), "CLBlast's gemm");
    };
}

template HostFunction multiply_by_clblast(const Matrices<float>&);
template HostFunction multiply_by_clblast(const Matrices<double>&);

} // namespace coexec
