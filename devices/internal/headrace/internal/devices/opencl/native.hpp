// internal/devices/opencl/native.hpp - OpenCL's own objects, for adapters of kernels and for users' OpenCL
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

/// The target of a program build: one device in its context.
struct OpenClTarget {
    cl_context context = nullptr;
    cl_device_id device = nullptr;
};

/// Borrowed from `device`; throws invalid_argument if the device is of another technology.
[[nodiscard]] HEADRACE_EXPORT OpenClTarget opencl_target(const Device& device);
[[nodiscard]] HEADRACE_EXPORT OpenClTarget opencl_target(const NativeStream& stream);

/// Builds `source`, or takes a finished build of this process or of the cache on disk (program_cache.hpp).
///
/// Threads: any. Errors: kernel, with the compiler's log, if the source does not compile; device.
[[nodiscard]] HEADRACE_EXPORT opencl::ProgramHandle
build_program(OpenClTarget target, const std::string& source, const std::string& options);

/// True if launches of one program with different grids must not overlap (opencl/stream_number.hpp).
[[nodiscard]] HEADRACE_EXPORT bool mixes_up_grids(const NativeStream& stream);

/// The build option for programs with grids that differ from launch to launch. Empty; or, where the driver
/// mixes up grids, a definition that keeps this stream's programs apart from those of other streams.
[[nodiscard]] HEADRACE_EXPORT std::string stream_option(const NativeStream& stream);

/// A kernel that several launches share. The thread that holds the mutex owns the kernel's arguments until
/// its launch is enqueued.
struct SharedKernel {
    std::mutex mutex;
    opencl::KernelHandle native;
};

/// Returns the kernel that the target's context keeps under `key`, or keeps `make()` there. So a launch does
/// not search all programs for its source. The kernel lives as long as the device.
[[nodiscard]] HEADRACE_EXPORT std::shared_ptr<SharedKernel>
shared_kernel(OpenClTarget target, const std::string& key, const std::function<opencl::KernelHandle()>& make);

/// Throws Error{kernel} if the program has no kernel of that name.
[[nodiscard]] HEADRACE_EXPORT opencl::KernelHandle make_kernel(const opencl::ProgramHandle& program,
                                                               const std::string& name);

} // namespace headrace
