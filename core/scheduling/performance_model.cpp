// core/scheduling/performance_model.cpp - see performance_model.hpp.
#include <headrace/core/performance_model.hpp>

#include <algorithm>

namespace headrace {

double size_ratio(std::uint64_t one, std::uint64_t other) {
    const double a = std::max(1.0, static_cast<double>(one)), b = std::max(1.0, static_cast<double>(other));
    return std::max(a / b, b / a);
}

bool KernelKey::is_within(double times, const KernelKey& other) const {
    return kernel == other.kernel && size_ratio(work_units, other.work_units) <= times &&
           size_ratio(bytes, other.bytes) <= times;
}

double PerformanceModel::peak(const DeviceInfo& device) {
    const double lanes =
        static_cast<double>(std::max(1U, device.compute_units)) * std::max(1U, device.lane_group);
    return device.peak_gflops > 0 ? device.peak_gflops : lanes;
}

} // namespace headrace
