// devices/simt/texture.cpp - see texture.hpp.
#include "simt/texture.hpp"

#include <cstring>

namespace headrace::HEADRACE_ON_SIMT {
namespace {

std::size_t limit(const Context& context, DeviceAttribute attribute) {
    return static_cast<std::size_t>(std::max(device_attribute(attribute, context.ordinal()), 0));
}

constexpr std::size_t up_to(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

bool TextureObject::possible(const Context& context, int rows, int columns) {
    return static_cast<std::size_t>(columns) <= limit(context, attribute_texture_width) &&
           static_cast<std::size_t>(rows) <= limit(context, attribute_texture_height);
}

TextureObject::TextureObject(std::shared_ptr<Context> context, const std::byte* pixels, int rows, int columns)
    : context_(std::move(context)),
      pixels_(pixels),
      row_bytes_(static_cast<std::size_t>(columns) * sizeof(float)),
      rows_(static_cast<std::size_t>(rows)) {
    context_->make_current();
    const std::size_t first = std::max<std::size_t>(limit(*context_, attribute_texture_alignment), 1);
    const std::size_t each = std::max<std::size_t>(limit(*context_, attribute_pitch_alignment), 1);
    pitch_ = up_to(row_bytes_, each);
    const bool in_place = pitch_ == row_bytes_ && reinterpret_cast<std::uintptr_t>(pixels) % first == 0;
    if (!in_place) {
        copy_ = std::make_unique<DeviceMemory>(context_, pitch_ * rows_ + first);
        copy_pixels_ =
            reinterpret_cast<std::byte*>(up_to(reinterpret_cast<std::uintptr_t>(copy_->address()), first));
    }
    HEADRACE_RUNTIME(ResourceDesc) memory;
    std::memset(&memory, 0, sizeof memory); // it contains a union: braces would leave parts of it unset
    memory.resType = HEADRACE_RUNTIME(ResourceTypePitch2D);
    memory.res.pitch2D.devPtr = const_cast<std::byte*>(in_place ? pixels_ : copy_pixels_);
    memory.res.pitch2D.desc.x = 8 * sizeof(float);
    memory.res.pitch2D.desc.f = HEADRACE_RUNTIME(ChannelFormatKindFloat);
    memory.res.pitch2D.width = static_cast<std::size_t>(columns);
    memory.res.pitch2D.height = rows_;
    memory.res.pitch2D.pitchInBytes = pitch_;
    HEADRACE_RUNTIME(TextureDesc) sampling;
    std::memset(&sampling, 0, sizeof sampling);
    for (auto& mode : sampling.addressMode) mode = HEADRACE_RUNTIME(AddressModeClamp);
    sampling.filterMode = HEADRACE_RUNTIME(FilterModeLinear);
    sampling.readMode = HEADRACE_RUNTIME(ReadModeElementType);
    HEADRACE_CALL(CreateTextureObject, &texture_, &memory, &sampling, nullptr);
}

TextureObject::~TextureObject() {
    static_cast<void>(HEADRACE_RUNTIME(SetDevice)(context_->ordinal()));
    static_cast<void>(HEADRACE_RUNTIME(DestroyTextureObject)(texture_));
}

std::uint64_t TextureObject::handle() const noexcept {
    static_assert(sizeof texture_ == sizeof(std::uint64_t));
    std::uint64_t handle = 0;
    std::memcpy(&handle, &texture_, sizeof handle); // a number for CUDA, a pointer for HIP
    return handle;
}

void TextureObject::refresh(const NativeStream& stream) {
    if (copy_)
        HEADRACE_CALL(Memcpy2DAsync, copy_pixels_, pitch_, pixels_, row_bytes_, row_bytes_, rows_,
                      HEADRACE_RUNTIME(MemcpyDeviceToDevice), static_cast<StreamHandle>(stream.stream));
}

} // namespace headrace::HEADRACE_ON_SIMT
