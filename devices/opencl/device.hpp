// devices/opencl/device.hpp - an OpenCL device as Device.
#pragma once
#include "opencl/context.hpp"
#include <headrace/core/export.hpp>

#include <memory>

namespace headrace::opencl {

class HEADRACE_EXPORT OpenClDevice final : public Device {
public:
    /// Makes a context for `device`, which must exist as long as the process. Throws Error{device}.
    OpenClDevice(cl_device_id device, DeviceInfo info);

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return context_->info(); }
    [[nodiscard]] std::unique_ptr<Memory> allocate(Bytes size) override;
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) override;
    [[nodiscard]] std::unique_ptr<Stream> make_stream(Timing timing) override;
    [[nodiscard]] std::unique_ptr<DeviceTexture> make_texture(const Memory& pixels, Bytes offset, int rows,
                                                              int columns) override;
    [[nodiscard]] bool reaches(const Device& other) const override;
    /// The total less what this object allocated, because OpenCL cannot report free memory.
    [[nodiscard]] Bytes free_memory() const override;

    [[nodiscard]] const Context& context() const noexcept { return *context_; }

private:
    std::shared_ptr<Context> context_;
};

} // namespace headrace::opencl
