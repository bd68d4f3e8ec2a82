// devices/opencl/check.hpp - OpenCL's status codes as names and as Errors.
#pragma once
#define CL_TARGET_OPENCL_VERSION 300
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>

#include <CL/cl.h>

#include <string_view>

namespace headrace::opencl {

/// Returns for example "CL_OUT_OF_RESOURCES", or "an unknown code" if our headers have no name for it.
[[nodiscard]] HEADRACE_EXPORT std::string_view status_name(cl_int status) noexcept;

/// An Error of kind out_of_memory or device, as fits `status`, with the code, its name and the call.
[[nodiscard]] HEADRACE_EXPORT Error status_error(
    cl_int status, std::string_view call, std::source_location where = std::source_location::current());

/// Throws `status_error` if a call failed.
inline void check(cl_int status, std::string_view call,
                  std::source_location where = std::source_location::current()) {
    if (status != CL_SUCCESS) throw Error{status_error(status, call, where)};
}

} // namespace headrace::opencl
