// apps/hotspot/factors.h - one step of one cell. C++ and OpenCL C read this file.
#ifndef HEADRACE_HOTSPOT_FACTORS_H
#define HEADRACE_HOTSPOT_FACTORS_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(hotspot)

/// What a cell's temperature takes up in one step: parts of a difference, and kelvin for each watt.
typedef struct Factors {
    float down, across, sink, heat;
    float ambient; ///< temperature behind the sink
} Factors;

HEADRACE_FUNCTION float stepped(Factors f, float here, float north, float south, float west, float east,
                                float power) {
    return here + f.heat * power + f.down * (north + south - 2 * here) + f.across * (west + east - 2 * here) +
           f.sink * (f.ambient - here);
}

HEADRACE_END_NAMESPACE

#endif
