// core/scheduling/rates.cpp - see rates.hpp.
#include <headrace/internal/core/rates.hpp>

#include <algorithm>

namespace headrace {
namespace {

constexpr double kept = 0.7;    // weight of the earlier sums when a task is added
constexpr unsigned several = 3; // measurements: the first one may contain effects that happen only once
constexpr double far = 2;       // factor, slower or faster

bool agree(double one, double other) { return one < far * other && other < far * one; }

/// The median; 1 if there are no ratios.
double median(std::vector<double> ratios) {
    if (ratios.empty()) return 1;
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::ranges::nth_element(ratios, middle);
    return *middle;
}

} // namespace

Rates::Rates(std::vector<Estimate> estimates, bool learns) : learns_(learns) {
    std::vector<double> ratios;
    for (const Estimate& estimate : estimates) {
        devices_.push_back({.estimate = estimate});
        if (estimate.units_per_second) ratios.push_back(*estimate.units_per_second / estimate.peak);
    }
    units_per_peak_ = median(std::move(ratios));
}

void Rates::completed(std::size_t device, std::uint64_t units, std::chrono::nanoseconds time) {
    if (!learns_ || units == 0 || time.count() <= 0) return;
    note(devices_[device], kept, static_cast<double>(units), std::chrono::duration<double>(time).count());
}

void Rates::tell(std::size_t device, double units_per_second) {
    if (learns_ && units_per_second > 0) note(devices_[device], 0, units_per_second, 1);
}

/// `weight`: of what was measured before.
void Rates::note(One& one, double weight, double units, double seconds) {
    const double rate = units / seconds, before = one.seconds > 0 ? one.units / one.seconds : rate;
    one.agreeing = agree(rate, before) ? one.agreeing + 1 : 1;
    one.units = weight * one.units + units;
    one.seconds = weight * one.seconds + seconds;
    one.fastest = std::max(one.fastest, one.units / one.seconds);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < devices_.size(); ++i)
        if (const auto known = units_per_second(i)) ratios.push_back(*known / estimated(devices_[i]));
    slower_or_faster_ = median(std::move(ratios));
}

double Rates::estimated(const One& device) const {
    return device.estimate.units_per_second.value_or(device.estimate.peak * units_per_peak_);
}

double Rates::capability(std::size_t device) const {
    const One& one = devices_[device];
    if (one.lost) return 0;
    return units_per_second(device).value_or(estimated(one) * slower_or_faster_);
}

double Rates::relative_capability(std::size_t device) const {
    double best = 0;
    for (std::size_t i = 0; i < devices_.size(); ++i) best = std::max(best, capability(i));
    return best > 0 ? capability(device) / best : 0;
}

bool Rates::are_per_second() const {
    for (std::size_t i = 0; i < devices_.size(); ++i)
        if (measured(i)) return true;
    return false;
}

bool Rates::measured(std::size_t device) const {
    return devices_[device].seconds > 0 || devices_[device].estimate.units_per_second.has_value();
}

bool Rates::certain(std::size_t device) const {
    const One& one = devices_[device];
    return one.agreeing >= several || (one.estimate.certain && agree(slower_or_faster_, 1));
}

std::optional<double> Rates::units_per_second(std::size_t device) const {
    const One& one = devices_[device];
    if (one.seconds <= 0) return std::nullopt;
    return one.units / one.seconds;
}

double Rates::slowdown(std::size_t device) const {
    const auto now = units_per_second(device);
    return now ? devices_[device].fastest / *now : 0;
}

} // namespace headrace
