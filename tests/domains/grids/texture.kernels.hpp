// tests/domains/grids/texture.kernels.hpp - samples of a picture at given points, by both filters.
#pragma once
#include <headrace/domains/grids/roles.hpp>

namespace headrace::test {

struct SampleAt {
    TextureView picture;
    In<float> points; ///< x and y of each
    Write<float> filtered, exact;
    int addressing; ///< for OpenCL C, where the function called says it
    HEADRACE_KERNEL void operator()(Index<1> at) const {
        const float x = points(2 * at.x), y = points(2 * at.x + 1);
        filtered[at] = picture.sample(x, y);
        exact[at] = picture.exact(x, y);
    }
};

/// The second of these again, without a texture: of an array that the kernel reads anyway.
struct SampleArray {
    In<float> pixels;
    int rows, columns;
    In<float> points;
    Write<float> exact;
    int addressing;
    HEADRACE_KERNEL void operator()(Index<1> at) const {
        const TextureView view =
            texture_view(pixels.data(), rows, columns, static_cast<Addressing>(addressing));
        exact[at] = view.exact(points(2 * at.x), points(2 * at.x + 1));
    }
};

/// Each pixel is what lies a step beside it, in a picture that another kernel changes meanwhile.
struct Shift {
    TextureView picture;
    Write<float> out;
    float dx, dy;
    HEADRACE_KERNEL void operator()(Index<2> at) const {
        out[at] = picture.sample(static_cast<float>(at.x) + dx, static_cast<float>(at.y) + dy);
    }
};

struct Fill {
    Write<float> out;
    float value;
    HEADRACE_KERNEL void operator()(Index<2> at) const { out[at] = value; }
};

} // namespace headrace::test
