// core/performance_model.cpp - see performance_model.hpp.
#include <headrace/core/performance_model.hpp>

#include <algorithm>

namespace headrace {

double PerformanceModel::peak(const DeviceInfo& device) {
    const double lanes =
        static_cast<double>(std::max(1U, device.compute_units)) * std::max(1U, device.lane_group);
    return device.peak_gflops > 0 ? device.peak_gflops : lanes;
}

} // namespace headrace
