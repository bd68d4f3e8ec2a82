// devices/opencl/image.hpp - an image object as DeviceTexture.
#pragma once
#include "opencl/memory.hpp"
#include <headrace/core/export.hpp>

namespace headrace::opencl {

/// A copy of a buffer's pixels. That an image may show a buffer itself is an extension
/// (cl_khr_image2d_from_buffer) which PoCL lacks.
class HEADRACE_EXPORT ImageObject final : public DeviceTexture {
public:
    /// Null where the device has no images, or none so large.
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
    BufferHandle pixels_; // a reference of its own: the driver would not notice if they went
    Bytes offset_ = 0;
    std::size_t rows_ = 0, columns_ = 0;
    bool is_part_ = false; ///< of a device: there PoCL 3.1 cannot copy a buffer to an image (it asserts)
    BufferHandle image_;   // released before the context
};

} // namespace headrace::opencl
