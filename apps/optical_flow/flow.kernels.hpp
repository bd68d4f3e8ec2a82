// apps/optical_flow/flow.kernels.hpp - the steps of hierarchical Horn-Schunck optical flow on one level.
//
// Brightness is in [0, 1], flow in pixels of its level. Beyond the edge all that is seen is a mirror image.
// `pitch`: columns of arrays that Relax works on, a multiple of four; the last ones may be nobody's.
//
// Source  B. Horn, B. Schunck, "Determining optical flow", Artificial Intelligence 17, 1981; M. Smirnov,
//         "Optical flow estimation with CUDA", NVIDIA 2013
#pragma once
#include "flow.h"
#include <headrace/domains/grids/mirror.hpp>
#include <headrace/kernel.hpp>

namespace optical_flow {

using headrace::mirrored;

/// The next coarser level: each pixel is the mean of four samples a quarter of it away from its middle.
struct Shrink {
    headrace::TextureView fine;
    headrace::Write<float> coarse;
    float ratio_x, ratio_y; ///< fine pixels for one coarse one
    int exact;              ///< for OpenCL C: no hardware's filter

    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        const float x = position(at.x, ratio_x), y = position(at.y, ratio_y);
        const float dx = 0.25f * ratio_x, dy = 0.25f * ratio_y;
        coarse[at] = 0.25f * (fine.sample(x - dx, y) + fine.sample(x + dx, y) + fine.sample(x, y - dy) +
                              fine.sample(x, y + dy));
    }
};

/// The second frame, seen from where the flow leads.
struct Warp {
    headrace::TextureView frame;
    headrace::In<float> u, v;
    headrace::Write<float> warped;
    int exact;

    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        warped[at] = frame.sample(static_cast<float>(at.x) + u[at], static_cast<float>(at.y) + v[at]);
    }
};

/// The equation that Relax solves, from the derivatives of both frames (five points, fourth order): where
/// brightness B stays, Bx du + By dv + Bt = 0. With s = 1 / sqrt(alpha + Bx^2 + By^2), a = s Bx, b = s By,
/// c = s Bt: so a step of relaxation needs no division and three numbers.
struct Linearise {
    headrace::In<float> source, warped;
    headrace::Write<float> a, b, c;
    int rows, columns, pitch;
    float alpha;

    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        const float x = 0.5f * (slope(source, at, 0, 1) + slope(warped, at, 0, 1));
        const float y = 0.5f * (slope(source, at, 1, 0) + slope(warped, at, 1, 0));
        const float scale = scale_of(alpha, x, y);
        a[at] = scale * x;
        b[at] = scale * y;
        c[at] = scale * (warped[at] - source[at]);
    }

    HEADRACE_HOST_DEVICE float slope(const headrace::In<float>& frame, headrace::Index<2> at, int dy,
                                     int dx) const {
        const auto pixel = [&](int steps) {
            return frame(mirrored(at.y + steps * dy, rows), mirrored(at.x + steps * dx, columns));
        };
        return slope_of(pixel(-2), pixel(-1), pixel(1), pixel(2));
    }
};

/// `iterations` steps of Jacobi's from (du, dv), as many as most_iterations allows.
struct Relax {
    headrace::In<float> du, dv, a, b, c;
    headrace::Write<float> du_after, dv_after;
    int rows, columns, pitch;
    int iterations;

    /// One.
    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        const int above = at.y > 0 ? at.y - 1 : 0, below = at.y + 1 < rows ? at.y + 1 : at.y;
        const int left = at.x > 0 ? at.x - 1 : 0, right = at.x + 1 < columns ? at.x + 1 : at.x;
        const auto mean = [&](const headrace::In<float>& of) {
            return mean_of(of(above, at.x), of(at.y, left), of(at.y, right), of(below, at.x));
        };
        const Flow next = relaxed(mean(du), mean(dv), a[at], b[at], c[at]);
        du_after[at] = next.u;
        dv_after[at] = next.v;
    }
};

/// Of one launch of Relax there: on CUDA a pass over memory does many (relax_cuda.cuh).
[[nodiscard]] inline int most_iterations(const headrace::DeviceInfo& device) {
    return device.technology == "cuda" ? 8 : 1;
}

/// What the solver found is added to the flow.
struct Update {
    headrace::Io<float> u, v;
    headrace::In<float> du, dv;
    int columns, pitch;

    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        u[at] += du[at];
        v[at] += dv[at];
    }
};

/// A coarser level's flow on this one, in pixels of this one.
struct Prolong {
    headrace::TextureView coarse;
    headrace::Write<float> fine;
    float ratio_x, ratio_y; ///< coarse pixels for one fine one
    float scale;            ///< fine pixels for one coarse one, along the component's axis
    int exact;

    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        fine[at] = scale * coarse.sample(position(at.x, ratio_x), position(at.y, ratio_y));
    }
};

/// Both are zero.
struct Clear {
    headrace::Write<float> u, v;

    HEADRACE_KERNEL void operator()(headrace::Index<1> at) const {
        u[at] = 0.0f;
        v[at] = 0.0f;
    }
};

} // namespace optical_flow
