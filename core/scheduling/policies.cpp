// core/scheduling/policies.cpp - see policies.hpp.
#include "scheduling/policies.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace headrace {
namespace {

/// The capabilities of the other devices: their sum and the best one.
struct Others {
    double sum = 0, best = 0;
};

Others others(std::size_t device, const Progress& progress) {
    Others others;
    for (std::size_t i = 0; i < progress.devices.size(); ++i) {
        if (i == device) continue;
        const double capability = std::max(0.0, progress.devices[i].capability);
        others.sum += capability;
        others.best = std::max(others.best, capability);
    }
    return others;
}

/// `wanted` as a whole number, at least 1 and at most `remaining`. It is raised by a relative 1e-12, so that
/// 1000 / 10 x 0.3 / 1.0 gives 30 and not 29.
std::uint64_t whole(double wanted, std::uint64_t remaining) {
    const double units = std::max(std::floor(wanted * (1 + 1e-12)), 1.0);
    return units < static_cast<double>(remaining) ? static_cast<std::uint64_t>(units) : remaining;
}

} // namespace

std::uint64_t StaticPolicy::next(std::size_t device, const Progress& progress) {
    served_.resize(progress.devices.size(), false);
    const double mine = progress.devices[device].capability;
    if (progress.remaining == 0 || mine <= 0) return 0;
    double waiting = 0; // sum of capabilities of devices without a task, including this one
    for (std::size_t i = 0; i < served_.size(); ++i)
        if (!served_[i]) waiting += std::max(0.0, progress.devices[i].capability);
    if (waiting == 0) { // all have a task, but some work remains, because a device was lost
        std::fill(served_.begin(), served_.end(), false);
        waiting = mine + others(device, progress).sum;
    }
    if (served_[device]) return 0;
    served_[device] = true;
    return whole(std::round(static_cast<double>(progress.remaining) * mine / waiting), progress.remaining);
}

DynamicPolicy::DynamicPolicy(std::uint64_t packages) : packages_(packages) {
    if (packages == 0)
        throw Error{ErrorKind::invalid_argument, "policy 'dynamic' divides the work into at least 1 package"};
}

std::uint64_t DynamicPolicy::next(std::size_t device, const Progress& progress) {
    if (progress.remaining == 0 || progress.devices[device].capability <= 0) return 0;
    // Rounded up, so that there are at most `packages_` packages.
    const std::uint64_t size = progress.total / packages_ + (progress.total % packages_ != 0 ? 1 : 0);
    return std::min(size, progress.remaining);
}

std::uint64_t GuidedPolicy::next(std::size_t device, const Progress& progress) {
    const double mine = progress.devices[device].capability;
    if (progress.remaining == 0 || mine <= 0) return 0;
    const Others other = others(device, progress);
    const auto count = static_cast<double>(std::ranges::count_if(
        progress.devices, [](const DeviceProgress& one) { return one.capability > 0; }));
    const double share = static_cast<double>(progress.remaining) * mine / (k * count * (mine + other.sum));
    const double floor =
        floor_ > 0 ? static_cast<double>(floor_) : static_cast<double>(progress.total) / 1000;
    return whole(std::max(share, floor * mine / std::max(mine, other.best)), progress.remaining);
}

DemandPolicy::DemandPolicy(std::uint64_t divisions) : divisions_(divisions) {
    if (divisions == 0)
        throw Error{ErrorKind::invalid_argument, "policy 'demand' divides the work into at least 1 part"};
}

std::uint64_t DemandPolicy::next(std::size_t device, const Progress& progress) {
    const double mine = progress.devices[device].capability;
    if (progress.remaining == 0 || mine <= 0) return 0;
    const Others other = others(device, progress);
    const double wanted = static_cast<double>(progress.total) / static_cast<double>(divisions_) * mine /
                          std::max(mine, other.best);
    if (wanted < 1 && other.best > 0) {
        const double without_me =
            std::max(static_cast<double>(progress.remaining) / other.sum, 1 / other.best);
        const auto with_mine = static_cast<double>(progress.devices[device].in_flight + 1);
        if (with_mine / mine > without_me) return 0;
    }
    return whole(wanted, progress.remaining);
}

} // namespace headrace
