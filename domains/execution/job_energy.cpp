// domains/execution/job_energy.cpp - see job_energy.hpp.
#include <headrace/internal/domains/job_energy.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

namespace headrace {
namespace {

Figure absent(std::string why) { return {std::nullopt, std::move(why)}; }

double seconds_of(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

Figure energy_delay_product(const Figure& joules, double seconds) {
    return joules.value ? Figure{*joules.value * seconds, {}} : joules;
}

} // namespace

void JobEnergy::begin() {
    for (Device& device : devices_)
        if (device.reader) device.before = device.reader->recent();
}

void JobEnergy::end(double seconds) {
    for (Device& device : devices_)
        if (device.before.valid() && seconds >= seconds_of(device.reader->shortest()))
            device.after = device.reader->fresh();
}

Figure JobEnergy::Device::joules(double seconds) const {
    if (!reader) return absent("nothing measures this device's energy");
    if (!before.valid()) return absent("the job has not begun");
    // If the job is too short for the meter, no caller waits for a reading.
    std::chrono::seconds patience{after.valid() ? 1 : 0};
    for (const auto& reading : {before, after}) {
        if (!reading.valid()) continue;
        if (reading.wait_for(patience) == std::future_status::ready) {
            if (!reading.get().value) return reading.get();
        } else if (after.valid()) {
            return absent("the meter did not answer in time");
        }
    }
    if (after.valid()) return {*after.get().value - *before.get().value, {}};
    const double least = seconds_of(reader->shortest());
    return absent(seconds < least ? "the job was shorter than the meter can tell (" +
                                        std::to_string(static_cast<int>(1e3 * least)) + " ms)"
                                  : "the job has not ended");
}

void JobEnergy::tell(JobReport& report) const {
    double sum = 0;
    std::vector<EnergyReader*> counted;
    report.energy_joules = absent("no task ended");
    std::string cannot_tell;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        DeviceReport& device = report.devices[i];
        device.energy_joules = devices_[i].joules(report.seconds);
        device.energy_delay_product = energy_delay_product(device.energy_joules, report.seconds);
        if (device.tasks == 0) continue;
        if (!device.energy_joules.value && cannot_tell.empty())
            cannot_tell = device.id + ": " + device.energy_joules.why_absent;
        EnergyReader* const reader = devices_[i].reader.get();
        if (std::ranges::find(counted, reader) != counted.end()) continue;
        counted.push_back(reader);
        sum += device.energy_joules.value.value_or(0);
    }
    if (!cannot_tell.empty())
        report.energy_joules = absent(cannot_tell);
    else if (!counted.empty())
        report.energy_joules = {sum, {}};
    report.energy_delay_product = energy_delay_product(report.energy_joules, report.seconds);
}

} // namespace headrace
