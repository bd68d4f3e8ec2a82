// devices/simt/texture.hpp - a texture object as DeviceTexture.
#pragma once
#include "simt/stream.hpp"
#include <headrace/core/export.hpp>

namespace headrace::HEADRACE_ON_SIMT {

/// A texture of row-major memory: of the pixels in place where their rows begin where the hardware wants them
/// (32 bytes on NVIDIA's), else of a copy with longer rows.
///
/// Not of a cudaArray, whose tiles suit samples scattered in both directions better: it would be a copy in
/// every case, and its allocation waits for all work of the device, where ours is in the order of a stream.
/// Figures that show the texture cache short of lines, for walks along columns say, would change that.
class HEADRACE_EXPORT TextureObject final : public DeviceTexture {
public:
    TextureObject(std::shared_ptr<Context> context, const std::byte* pixels, int rows, int columns);
    ~TextureObject() override;

    /// False: too large, or a device without texture units.
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
    std::unique_ptr<DeviceMemory> copy_; // null: none is needed
    TextureHandle texture_{};
};

} // namespace headrace::HEADRACE_ON_SIMT
