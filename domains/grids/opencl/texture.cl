// domains/grids/opencl/texture.cl - pictures in OpenCL C; texture_view.hpp is for other technologies. This
// file precedes the source of every kernel over a grid. A member `TextureView frame;` of the C++ struct is a
// parameter `read_only image2d_t frame`. The called function selects the filter, its argument the addressing:
//     headrace_sample(frame, HEADRACE_MIRROR, x, y)          the device's own filter
//     headrace_sample_exact(frame, HEADRACE_MIRROR, x, y)    single-precision arithmetic
//     headrace_sample_array(pixels, rows, columns, HEADRACE_CLAMP, x, y)    the same, of a __global array

#define HEADRACE_CLAMP 0
#define HEADRACE_MIRROR 1

// The same as TextureView::onto_picture.
inline float headrace_onto_picture(float at, int size, int addressing) {
    const float last = (float)(size - 1);
    if (addressing == HEADRACE_MIRROR && !(at >= 0.0f && at <= last)) {
        const float period = 2.0f * (float)size;
        at += 0.5f;
        at -= period * floor(at / period);
        if (at > 0.5f * period) at = period - at;
        at -= 0.5f;
    }
    at = at > 0.0f ? at : 0.0f;
    return at < last ? at : last;
}

inline float headrace_mix(float a, float b, float share) { return a * (1.0f - share) + b * share; }

inline float headrace_sample_array(__global const float* pixels, int rows, int columns, int addressing, float x,
                                   float y) {
    const float column = headrace_onto_picture(x, columns, addressing);
    const float row = headrace_onto_picture(y, rows, addressing);
    const int left = (int)column, top = (int)row;
    const int right = left + 1 < columns ? 1 : 0, below = top + 1 < rows ? columns : 0;
    __global const float* corner = pixels + (long)top * columns + left;
    return headrace_mix(
        headrace_mix(corner[0], corner[right], column - (float)left),
        headrace_mix(corner[below], corner[below + right], column - (float)left), row - (float)top);
}

#ifdef __IMAGE_SUPPORT__
constant sampler_t headrace_linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t headrace_nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

inline float headrace_sample(read_only image2d_t image, int addressing, float x, float y) {
    const float column = headrace_onto_picture(x, get_image_width(image), addressing);
    const float row = headrace_onto_picture(y, get_image_height(image), addressing);
    return read_imagef(image, headrace_linear, (float2)(column + 0.5f, row + 0.5f)).x;
}

inline float headrace_sample_exact(read_only image2d_t image, int addressing, float x, float y) {
    const float column = headrace_onto_picture(x, get_image_width(image), addressing);
    const float row = headrace_onto_picture(y, get_image_height(image), addressing);
    const int2 corner = (int2)((int)column, (int)row); // the sampler clamps neighbours beyond the edge
    const float above = headrace_mix(read_imagef(image, headrace_nearest, corner).x,
                                     read_imagef(image, headrace_nearest, corner + (int2)(1, 0)).x,
                                     column - (float)corner.x);
    const float below = headrace_mix(read_imagef(image, headrace_nearest, corner + (int2)(0, 1)).x,
                                     read_imagef(image, headrace_nearest, corner + (int2)(1, 1)).x,
                                     column - (float)corner.x);
    return headrace_mix(above, below, row - (float)corner.y);
}
#endif
