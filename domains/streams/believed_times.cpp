// domains/streams/believed_times.cpp - see believed_times.hpp.
#include <headrace/domains/streams/believed_times.hpp>

#include <numeric>
#include <utility>

namespace headrace {
namespace {

constexpr double drifts = 1.15; // by this factor: parts are measured from outside, with what delays them
constexpr double seldom = 50;   // times as long as it would be in the way

double sum(const std::vector<double>& pieces) { return std::accumulate(pieces.begin(), pieces.end(), 0.0); }

} // namespace

BelievedTimes::BelievedTimes(std::vector<std::vector<double>> measured)
    : measured_(std::move(measured)), believed_(measured_) {}

double BelievedTimes::of(const StagePart& part) const {
    const std::vector<double>& pieces = believed_[part.device];
    return std::accumulate(pieces.begin() + static_cast<std::ptrdiff_t>(part.begin),
                           pieces.begin() + static_cast<std::ptrdiff_t>(part.end), 0.0);
}

bool BelievedTimes::took(const StagePart& part, double seconds) {
    const double believed = of(part);
    if (believed <= 0) return false;
    const double factor = seconds / believed;
    if (factor < drifts && factor > 1 / drifts) return false;
    for (double& piece : believed_[part.device]) piece *= factor;
    return true;
}

bool BelievedTimes::had_no_part(std::size_t device, std::size_t items) {
    const double slower = sum(believed_[device]) / sum(measured_[device]); // NaN: it never can
    if (!(slower > 1) || static_cast<double>(items) <= seldom * enough_items * slower) return false;
    believed_[device] = measured_[device];
    return true;
}

} // namespace headrace
