// devices/simt/texture.hpp - a texture object as DeviceTexture.
#pragma once
#include "simt/stream.hpp"
#include <headrace/core/export.hpp>

namespace headrace::HEADRACE_ON_SIMT {

/// A texture of row-major memory. It uses the pixels in place if their rows are aligned as the hardware needs
/// (32 bytes on NVIDIA's), else a copy with longer rows.
///
/// A cudaArray has tiles, which suit samples scattered in both directions better. But it always needs a copy,
/// and its allocation waits for all work of the device; ours follows a stream's order. This choice would
/// change if measurements showed too few lines in the texture cache, for example for walks along columns.
class HEADRACE_EXPORT TextureObject final : public DeviceTexture {
public:
    TextureObject(std::shared_ptr<Context> context, const std::byte* pixels, int rows, int columns);
    ~TextureObject() override;

    /// False: too large, or the device has no texture units.
    [[nodiscard]] static bool possible(const Context& context, int rows, int columns);

    [[nodiscard]] std::uint64_t handle() const noexcept override;
    [[nodiscard]] bool shows_memory() const noexcept override { return copy_ == nullptr; }
    void refresh(const NativeStream& stream) override;

private:
    const std::shared_ptr<Context> context_;
    const std::byte* const pixels_;
    const std::size_t row_bytes_, rows_;
    std::size_t pitch_ = 0;
    std::byte* copy_pixels_ = nullptr;
    std::unique_ptr<DeviceMemory> copy_; // null: not needed
    TextureHandle texture_{};
};

} // namespace headrace::HEADRACE_ON_SIMT
