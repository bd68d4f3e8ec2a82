// apps/coexec/gaussian.kernels.hpp - a Gaussian blur, not separated. A work unit is a pixel. gaussian.cl has
// it in OpenCL C.
#pragma once
#include <headrace/domains/view.hpp>

namespace coexec {

struct Blur {
    headrace::View<const float> image; ///< [row, column]; beyond its edges is what is there
    headrace::View<const float> filter;
    headrace::View<float> blurred;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t pixel) const {
        const int rows = static_cast<int>(image.extent.n[0]), columns = static_cast<int>(image.extent.n[1]);
        const int width = static_cast<int>(filter.extent.n[0]), radius = width / 2;
        const auto number = static_cast<std::uint32_t>(pixel);
        const int row = static_cast<int>(number / static_cast<std::uint32_t>(columns));
        const int column = static_cast<int>(number % static_cast<std::uint32_t>(columns));
        const bool is_inner = column >= radius && column + radius < columns;
        constexpr int strip = 4; // sums beside each other: a vector on every processor
        float sums[strip] = {};
        for (int i = 0; i < width; ++i) {
            const float* const line = image.origin + within(row + i - radius, rows) * columns;
            const float* const weights = filter.origin + i * width;
            int j = 0;
            if (is_inner)
                for (const float* const first = line + column - radius; j + strip <= width; j += strip)
                    for (int k = 0; k < strip; ++k) sums[k] += weights[j + k] * first[j + k];
            for (; j < width; ++j) sums[0] += weights[j] * line[within(column + j - radius, columns)];
        }
        blurred[pixel] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    HEADRACE_HOST_DEVICE static std::int64_t within(int at, int size) {
        return at < 0 ? 0 : at < size ? at : size - 1;
    }
};

} // namespace coexec
