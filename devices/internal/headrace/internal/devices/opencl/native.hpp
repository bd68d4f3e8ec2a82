// internal/devices/opencl/native.hpp - OpenCL's own objects, for kernels' adapters and for users' OpenCL
// code.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/devices/opencl/handle.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace headrace {

/// Where a program is built for: one device in its context.
struct OpenClTarget {
    cl_context context = nullptr;
    cl_device_id device = nullptr;
};

/// Borrowed from `device`; throws invalid_argument if that is of another technology.
[[nodiscard]] HEADRACE_EXPORT OpenClTarget opencl_target(const Device& device);
[[nodiscard]] HEADRACE_EXPORT OpenClTarget opencl_target(const NativeStream& stream);

/// Builds `source`, or finds it built: in this process, or in the cache on disk (program_cache.hpp).
///
/// Threads: any. Errors: kernel if the source does not compile, with the compiler's log; device.
[[nodiscard]] HEADRACE_EXPORT opencl::ProgramHandle
build_program(OpenClTarget target, const std::string& source, const std::string& options);

/// Whether launches of one program whose grids differ must not overlap (opencl/stream_number.hpp).
[[nodiscard]] HEADRACE_EXPORT bool mixes_up_grids(const NativeStream& stream);

/// What programs are built with whose grids differ from launch to launch: nothing, or a name that keeps the
/// stream's programs apart from other streams' where grids are mixed up.
[[nodiscard]] HEADRACE_EXPORT std::string stream_option(const NativeStream& stream);

/// A kernel that several launches share. Its arguments belong to whoever holds the mutex, until the launch is
/// enqueued.
struct SharedKernel {
    std::mutex mutex;
    opencl::KernelHandle native;
};

/// The kernel that goes by `key` in the target's context, or `make()` from now on: a launch should not look
/// for its source among all programs. It lives as long as the device.
[[nodiscard]] HEADRACE_EXPORT std::shared_ptr<SharedKernel>
shared_kernel(OpenClTarget target, const std::string& key, const std::function<opencl::KernelHandle()>& make);

/// Throws Error{kernel} if the program has no kernel of that name.
[[nodiscard]] HEADRACE_EXPORT opencl::KernelHandle make_kernel(const opencl::ProgramHandle& program,
                                                               const std::string& name);

} // namespace headrace
