// devices/opencl/image.hpp - an image object as DeviceTexture.
#pragma once
#include "opencl/memory.hpp"
#include <headrace/core/export.hpp>

namespace headrace::opencl {

/// A copy of a buffer's pixels. An image that shows the buffer itself needs an extension
/// (cl_khr_image2d_from_buffer), which PoCL lacks.
class HEADRACE_EXPORT ImageObject final : public DeviceTexture {
public:
    /// Null if the device has no images, or none of this size.
    [[nodiscard]] static std::unique_ptr<ImageObject> make(std::shared_ptr<Context> context, cl_mem pixels,
                                                           Bytes offset, int rows, int columns);

    [[nodiscard]] std::uint64_t handle() const noexcept override {
        return reinterpret_cast<std::uintptr_t>(image_.get());
    }
    [[nodiscard]] bool shows_memory() const noexcept override { return false; }
    void refresh(const NativeStream& stream) override;

private:
    ImageObject() = default;
    void copy_by_kernel(const NativeStream& stream) const;

    std::shared_ptr<Context> context_;
    BufferHandle pixels_; // holds a reference: the driver does not notice when the pixels go
    Bytes offset_ = 0;
    std::size_t rows_ = 0, columns_ = 0;
    bool is_part_ = false; ///< part of a device: there PoCL 3.1 cannot copy a buffer to an image (it asserts)
    BufferHandle image_;   // released before the context
};

} // namespace headrace::opencl
