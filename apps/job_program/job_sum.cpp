// apps/job_program/job_sum.cpp - see job_sum.hpp.
#include "job_program/job_sum.hpp"

#include <algorithm>

namespace job_program {
namespace {

using headrace::DeviceReport;

/// Of jobs that took so many seconds, a figure that is in inverse proportion to them. Absent if one of them
/// is.
void add_gain(headrace::Figure& to, double to_seconds, const headrace::Figure& from, double from_seconds) {
    if (to.value && from.value)
        to.value = (*to.value * to_seconds + *from.value * from_seconds) / (to_seconds + from_seconds);
    else if (to.value)
        to = from;
}

/// First device to finish / last, of the sums.
headrace::Figure balance_of(const std::vector<DeviceReport>& devices, const headrace::Figure& otherwise) {
    double first = 0, last = 0;
    unsigned at_work = 0;
    for (const DeviceReport& device : devices) {
        if (device.tasks == 0) continue;
        first = at_work == 0 ? device.finished_seconds : std::min(first, device.finished_seconds);
        last = std::max(last, device.finished_seconds);
        ++at_work;
    }
    if (at_work < 2 || last == 0) return otherwise;
    return {first / last, {}};
}

} // namespace

JobSum::JobSum(const std::string& nothing) {
    for (headrace::Figure* const figure :
         {&total_.balance, &total_.gpu_over_cpu, &total_.heterogeneous_speed_up,
          &total_.heterogeneous_efficiency, &total_.energy_joules, &total_.energy_delay_product})
        figure->why_absent = nothing;
}

void JobSum::add(const headrace::JobReport& job) {
    if (jobs_++ == 0) {
        total_ = job;
        return;
    }
    add_gain(total_.heterogeneous_speed_up, total_.seconds, job.heterogeneous_speed_up, job.seconds);
    add_gain(total_.heterogeneous_efficiency, total_.seconds, job.heterogeneous_efficiency, job.seconds);
    total_.seconds += job.seconds;
    total_.work_units += job.work_units;
    for (const DeviceReport& device : job.devices) {
        const auto known = std::ranges::find(total_.devices, device.id, &DeviceReport::id);
        if (known == total_.devices.end())
            total_.devices.push_back(device);
        else
            (*known += device).finished_seconds += device.finished_seconds;
    }
    for (DeviceReport& device : total_.devices)
        device.share = total_.work_units == 0
                           ? 0
                           : static_cast<double>(device.work_units) / static_cast<double>(total_.work_units);
    total_.balance = balance_of(total_.devices, job.balance);
    total_.energy_joules += job.energy_joules;
    const auto delayed = [this](const headrace::Figure& joules) {
        return joules.value ? headrace::Figure{*joules.value * total_.seconds, {}} : joules;
    };
    for (DeviceReport& device : total_.devices) device.energy_delay_product = delayed(device.energy_joules);
    total_.energy_delay_product = delayed(total_.energy_joules);
}

} // namespace job_program
