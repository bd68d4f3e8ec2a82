// domains/streams/estimated_times.cpp - see estimated_times.hpp.
#include <headrace/internal/domains/streams/estimated_times.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace headrace {
namespace {

constexpr double drifts = 1.15; // as a factor: parts are timed from outside, with all their delays
constexpr double seldom = 50;   // a device is retried after this many times the delay that a try may cause

double sum(const std::vector<double>& pieces) { return std::accumulate(pieces.begin(), pieces.end(), 0.0); }

} // namespace

EstimatedTimes::EstimatedTimes(std::vector<std::vector<double>> measured)
    : measured_(std::move(measured)), estimated_(measured_), without_(measured_.size()) {}

double EstimatedTimes::of(const StagePart& part) const {
    const std::vector<double>& pieces = estimated_[part.device];
    return std::accumulate(pieces.begin() + static_cast<std::ptrdiff_t>(part.begin),
                           pieces.begin() + static_cast<std::ptrdiff_t>(part.end), 0.0);
}

bool EstimatedTimes::took(const StagePart& part, double seconds) {
    const double estimated = of(part);
    if (!(estimated > 0) || !std::isfinite(estimated)) return false; // the device cannot run the part
    const double factor = seconds / estimated;
    if (factor < drifts && factor > 1 / drifts) return false;
    for (double& piece : estimated_[part.device]) piece *= factor;
    return true;
}

void EstimatedTimes::use(const std::vector<StagePart>& parts, std::int64_t item) {
    for (std::size_t device = 0; device < without_.size(); ++device) {
        const bool has_part = std::ranges::find(parts, device, &StagePart::device) != parts.end();
        if (has_part)
            without_[device].reset();
        else if (!without_[device] || item == 0)
            without_[device] = item;
    }
}

bool EstimatedTimes::forgets(std::int64_t item) {
    bool has_forgotten = false;
    for (std::size_t device = 0; device < without_.size(); ++device) {
        const double slower = sum(estimated_[device]) / sum(measured_[device]); // NaN: unable to run items
        const bool is_long = without_[device] &&
                             static_cast<double>(item - *without_[device]) > seldom * enough_items * slower;
        if (!(slower > 1) || !is_long) continue;
        estimated_[device] = measured_[device];
        has_forgotten = true;
    }
    return has_forgotten;
}

} // namespace headrace
