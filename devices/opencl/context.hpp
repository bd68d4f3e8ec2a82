// devices/opencl/context.hpp - what all objects of one OpenCL device share and keep alive.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/devices/opencl/native.hpp>
#include <headrace/internal/devices/serial_executor.hpp>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace headrace::opencl {

/// One device in its own context. Events, streams and memories hold it by shared pointer.
///
/// Its address is the `family` of its events, because the driver orders events only within one context.
class HEADRACE_EXPORT Context : public std::enable_shared_from_this<Context> {
public:
    Context(cl_device_id device, DeviceInfo device_info);
    ~Context();
    Context(const Context&) = delete; // shared by address
    Context& operator=(const Context&) = delete;

    [[nodiscard]] cl_context get() const noexcept { return context_.get(); }
    [[nodiscard]] cl_device_id device() const noexcept { return device_; }
    [[nodiscard]] const DeviceInfo& info() const noexcept { return info_; }
    /// True if streams must not share programs (stream_number.hpp).
    [[nodiscard]] bool mixes_up_grids() const noexcept { return mixes_up_grids_; }

    /// Makes an in-order queue with profiling.
    [[nodiscard]] QueueHandle make_queue() const;
    /// Converts device time to the host's clock. Both clocks run at one rate, so a constant offset is enough.
    [[nodiscard]] std::chrono::steady_clock::time_point host_time(cl_ulong device_nanoseconds) const noexcept;

    /// Completes a user event of this context soon. Calls no driver in the calling thread.
    void complete(EventHandle user_event) const;

    /// Finds a program that is already built. The key is everything that determines the result of a build.
    [[nodiscard]] ProgramHandle find_program(const std::string& key) const;
    void keep_program(const std::string& key, ProgramHandle program) const;
    /// Kernels that launches share (native.hpp). `keep_kernel` returns the first kernel kept under `key`.
    [[nodiscard]] std::shared_ptr<SharedKernel> find_kernel(const std::string& key) const;
    std::shared_ptr<SharedKernel> keep_kernel(const std::string& key,
                                              std::shared_ptr<SharedKernel> kernel) const;
    /// Returns our Context for a native one, or null if there is none. The caller must keep it alive.
    [[nodiscard]] static const Context* of(cl_context native);

    std::atomic<Bytes> allocated = 0;

private:
    void measure_clock();

    cl_device_id device_;
    DeviceInfo info_;
    bool mixes_up_grids_;
    ContextHandle context_;
    std::chrono::nanoseconds clock_offset_{};
    mutable std::mutex mutex_;
    mutable std::map<std::string, ProgramHandle> programs_;
    mutable std::map<std::string, std::shared_ptr<SharedKernel>> kernels_;
    mutable SerialExecutor completions_; // last: it ends before the members that it uses
};

} // namespace headrace::opencl
