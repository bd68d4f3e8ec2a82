// devices/simt/device.hpp - a CUDA or HIP GPU as Device.
#pragma once
#include "simt/stream.hpp"
#include <headrace/core/export.hpp>

namespace headrace::HEADRACE_ON_SIMT {

class HEADRACE_EXPORT SimtDevice final : public Device {
public:
    SimtDevice(int ordinal, DeviceInfo info);

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return context_->info(); }
    [[nodiscard]] std::unique_ptr<Memory> allocate(Bytes size) override;
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) override;
    [[nodiscard]] std::unique_ptr<Stream> make_stream(Timing timing) override;
    [[nodiscard]] std::unique_ptr<DeviceTexture> make_texture(const Memory& pixels, Bytes offset, int rows,
                                                              int columns) override;
    [[nodiscard]] bool reaches_host(const void* memory) const override;
    [[nodiscard]] bool reaches(const Device& other) const override;
    [[nodiscard]] bool adds_from(const Device& other) const override;
    [[nodiscard]] Bytes free_memory() const override { return context_->free_memory(); }

private:
    std::shared_ptr<Context> context_;
};

} // namespace headrace::HEADRACE_ON_SIMT
