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

/// Reads a two-dimensional array as a picture. A launch with this argument reads the array.
///
/// Each controller gets a texture or image of its device at first use. In CUDA it shows the array's memory
/// itself if its rows are aligned as the hardware needs. Else, and on OpenCL, a launch first copies the array
/// on the controller's stream, if it was written since the last copy.
///
/// Filter    `exact`: views without textures. OpenCL kernels get the image in both cases; the function that
///           they call selects the filter
/// Lifetime  the array and the controllers outlive it. The destructor waits for every request on the array
/// Threads   any
/// Errors    throws invalid_argument for an array that does not have two dimensions; a launch throws
///           unsupported on an OpenCL device without images of this size
class HEADRACE_EXPORT Texture {
public:
    explicit Texture(const Array<float>& pixels, Addressing addressing = Addressing::clamp,
                     Filter filter = Filter::hardware);
    ~Texture();
    Texture(const Texture&) = delete; // unfinished launches use its textures
    Texture& operator=(const Texture&) = delete;

    [[nodiscard]] const Array<float>& pixels() const noexcept { return pixels_; }
    [[nodiscard]] int rows() const noexcept { return pixels_.shape().rows; }
    [[nodiscard]] int columns() const noexcept { return pixels_.shape().columns; }

    /// For `launch`: the view for the next kernel that this controller launches. May launch a copy.
    [[nodiscard]] TextureView view_on(Controller& controller) const;

private:
    struct OnController {
        const Controller* controller;
        const void* memory; ///< source of `texture`: an address, or OpenCL's handle
        std::shared_ptr<DeviceTexture> texture;
        std::uint64_t shows = ~std::uint64_t{0}; ///< number of changes of the array when it was copied
        Event copied = {};
    };

    // With the mutex held:
    [[nodiscard]] OnController& place_of(Controller& controller, const Memory& memory) const;
    void refresh(OnController& here, Controller& controller) const;

    const Array<float>& pixels_;
    const Addressing addressing_;
    const Filter filter_;
    mutable std::mutex mutex_;
    mutable std::vector<OnController> textures_; // `const` protects what the textures show
};

} // namespace headrace
