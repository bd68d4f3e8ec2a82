// domains/grids/texture_view.hpp - how kernels sample a picture between its pixels. Compiled for every
// technology. OpenCL kernels use opencl/texture.cl instead.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/devices/kernels/macros.hpp>

#include <cstdint>

namespace headrace {

/// What a sample beyond the edge shows: the pixel at the edge, or the picture mirrored at the edge (so the
/// pixel at the edge comes twice in a row).
enum class Addressing : std::int32_t { clamp, mirror };

/// Floats, row-major, sampled with bilinear filtering. A member of kernels, passed by value.
///
/// Coordinates  x counts columns, y counts rows; at whole numbers the sample is the pixel itself
/// Filter       the device's own if the view has a texture: its weights have 8 bits, so a sample may be off
///              by 1/512 of the difference between neighbours in each direction, and the hardware chooses
///              the rounding of the sum. Without a texture, and in `exact`: single-precision arithmetic with
///              two roundings a weight
/// Range        below 2^23 pixels in each direction; a NaN samples the pixel at the edge
struct TextureView {
    static constexpr Access access = Access::read;

    /// A cudaTextureObject_t; 0: none. For OpenCL a cl_mem. The first member: OpenCL kernels get it.
    std::uint64_t handle = 0;
    const float* pixels = nullptr;
    std::int32_t rows = 0, columns = 0;
    Addressing addressing = Addressing::clamp;

    /// Uses the hardware filter if there is a texture.
    [[nodiscard]] HEADRACE_HOST_DEVICE float sample(float x, float y) const {
        const float column = onto_picture(x, columns), row = onto_picture(y, rows);
#if defined(__CUDA_ARCH__)
        if (handle) return tex2D<float>(static_cast<cudaTextureObject_t>(handle), column + 0.5f, row + 0.5f);
#elif defined(__HIP_DEVICE_COMPILE__)
        if (handle)
            return tex2D<float>(reinterpret_cast<hipTextureObject_t>(handle), column + 0.5f, row + 0.5f);
#endif
        return blend(column, row);
    }
    /// Uses arithmetic; the same on every device.
    [[nodiscard]] HEADRACE_HOST_DEVICE float exact(float x, float y) const {
        return blend(onto_picture(x, columns), onto_picture(y, rows));
    }

    /// The coordinate in [0, size - 1] that shows the same value. At the edge both filtered pixels are equal,
    /// so the sample is that pixel. In software also before hardware filters: hardware mirrors need
    /// coordinates from 0 to 1, and a large picture then loses precision.
    [[nodiscard]] HEADRACE_HOST_DEVICE float onto_picture(float at, std::int32_t size) const {
        const auto last = static_cast<float>(size - 1);
        if (addressing == Addressing::mirror && !(at >= 0.0f && at <= last)) {
            const float period = 2.0f * static_cast<float>(size);
            at += 0.5f; // the mirror is at the corner of the edge pixel
            at -= period * floor_of(at / period);
            if (at > 0.5f * period) at = period - at;
            at -= 0.5f;
        }
        at = at > 0.0f ? at : 0.0f; // also for a NaN
        return at < last ? at : last;
    }

private:
    [[nodiscard]] HEADRACE_HOST_DEVICE static float floor_of(float value) {
        // Beyond 2^23 all floats are whole numbers; beyond 2^31 the conversion is undefined.
        if (!(value > -8388608.0f && value < 8388608.0f)) return value;
        const auto whole = static_cast<float>(static_cast<std::int32_t>(value));
        return whole > value ? whole - 1.0f : whole;
    }
    [[nodiscard]] HEADRACE_HOST_DEVICE float blend(float column, float row) const {
        const auto left = static_cast<std::int32_t>(column), top = static_cast<std::int32_t>(row);
        const float right_share = column - static_cast<float>(left);
        const float below_share = row - static_cast<float>(top);
        const std::int64_t right = left + 1 < columns ? 1 : 0;
        const std::int64_t below = top + 1 < rows ? columns : 0;
        const float* const corner = pixels + static_cast<std::int64_t>(top) * columns + left;
        const float above = mix(corner[0], corner[right], right_share);
        return mix(above, mix(corner[below], corner[below + right], right_share), below_share);
    }
    /// Exact at both ends and never outside them, with or without fused operations.
    [[nodiscard]] HEADRACE_HOST_DEVICE static float mix(float a, float b, float share) {
        return a * (1.0f - share) + b * share;
    }
};

/// A view without a texture, of memory that the caller's code can address: for kernels of jobs, host tasks
/// and tests.
[[nodiscard]] HEADRACE_HOST_DEVICE inline TextureView
texture_view(const float* pixels, std::int32_t rows, std::int32_t columns, Addressing addressing) {
    return {0, pixels, rows, columns, addressing};
}

} // namespace headrace
