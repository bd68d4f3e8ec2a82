// apps/optical_flow/flow.h - what the steps of optical flow compute. C++ and OpenCL C read this file.
#ifndef HEADRACE_OPTICAL_FLOW_FLOW_H
#define HEADRACE_OPTICAL_FLOW_FLOW_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(optical_flow)

/// Where the middle of pixel `i` is among pixels of which `ratio` are as long as one of its own.
HEADRACE_FUNCTION float position(int i, float ratio) { return ((float)i + 0.5f) * ratio - 0.5f; }

/// Of brightness, from the pixels two and one before, one and two behind: fourth order.
HEADRACE_FUNCTION float slope_of(float two_before, float before, float behind, float two_behind) {
    return (two_before - 8.0f * before + 8.0f * behind - two_behind) * (1.0f / 12.0f);
}

/// Of the equation that Relax solves, from the slopes of brightness.
HEADRACE_FUNCTION float scale_of(float alpha, float x, float y) { return 1.0f / sqrt(alpha + x * x + y * y); }

HEADRACE_FUNCTION float mean_of(float above, float left, float right, float below) {
    return 0.25f * (above + (left + right) + below);
}

typedef struct Flow {
    float u, v;
} Flow;

/// A step of Jacobi's from the means of neighbours.
HEADRACE_FUNCTION Flow relaxed(float mean_u, float mean_v, float a, float b, float c) {
    const float error = a * mean_u + b * mean_v + c;
    const Flow next = {mean_u - a * error, mean_v - b * error};
    return next;
}

HEADRACE_END_NAMESPACE

#endif
