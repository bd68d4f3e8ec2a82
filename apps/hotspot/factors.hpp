// apps/hotspot/factors.hpp - one step of one cell.
#pragma once
#include <headrace/devices/kernels/macros.hpp>

namespace hotspot {

/// What a cell's temperature takes up in one step: parts of a difference, and kelvin for each watt.
struct Factors {
    float down, across, sink, heat;
    float ambient; ///< temperature behind the sink

    HEADRACE_HOST_DEVICE float step(float here, float north, float south, float west, float east,
                                    float power) const {
        return here + heat * power + down * (north + south - 2 * here) + across * (west + east - 2 * here) +
               sink * (ambient - here);
    }
};

} // namespace hotspot
