// domains/grids/texture.hpp - an array as a picture that kernels sample between its pixels.
//
//     struct Warp {
//         headrace::TextureView frame; headrace::In<float> dx, dy; headrace::Write<float> out;
//         HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
//             out[at] = frame.sample(at.x + dx[at], at.y + dy[at]);
//         }
//     };
//     Texture picture(frame, Addressing::mirror);                   // frame: Array<float>
//     launch<Warp>(gpu, grid(rows, columns), picture, dx, dy, out);
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/grids/array.hpp>
#include <headrace/domains/grids/texture_view.hpp>

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace headrace {

enum class Filter { hardware, exact };

/// Reads an array of two dimensions as a picture; a launch that it is an argument of reads the array.
///
/// The devices' own textures or images are made on first use there, one for each controller. CUDA's show the
/// array's memory itself where its rows begin where the hardware wants them; elsewhere, and on OpenCL, a
/// launch copies the array first, on the controller's own stream, if anything has written it since the last.
///
/// Filter    `exact`: views without textures. OpenCL kernels take the image all the same, and choose by the
///           function that they call
/// Lifetime  the array and the controllers outlive it. The destructor waits for every request on the array
/// Threads   any
/// Errors    throws invalid_argument for an array of another number of dimensions; a launch throws
///           unsupported on an OpenCL device that has no image as large
class HEADRACE_EXPORT Texture {
public:
    explicit Texture(const Array<float>& pixels, Addressing addressing = Addressing::clamp,
                     Filter filter = Filter::hardware);
    ~Texture();
    Texture(const Texture&) = delete; // launches under way use its textures
    Texture& operator=(const Texture&) = delete;

    [[nodiscard]] const Array<float>& pixels() const noexcept { return pixels_; }
    [[nodiscard]] int rows() const noexcept { return pixels_.shape().rows; }
    [[nodiscard]] int columns() const noexcept { return pixels_.shape().columns; }

    /// For `launch`: what a kernel that this controller launches next is given. May launch a copy.
    [[nodiscard]] TextureView view_on(Controller& controller) const;

private:
    struct OnController {
        const Controller* controller;
        const void* memory; ///< of which `texture` was made: an address, or OpenCL's handle
        std::shared_ptr<DeviceTexture> texture;
        std::uint64_t shows = ~std::uint64_t{0}; ///< the array after so many changes
        Event copied = {};
    };

    // With the mutex held:
    [[nodiscard]] OnController& place_of(Controller& controller, const Memory& memory) const;
    void refresh(OnController& here, Controller& controller) const;

    const Array<float>& pixels_;
    const Addressing addressing_;
    const Filter filter_;
    mutable std::mutex mutex_;
    mutable std::vector<OnController> textures_; // what is const is what it shows
};

} // namespace headrace
