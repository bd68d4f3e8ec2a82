// domains/epochs/report_sum.cpp - see report_sum.hpp.
#include <headrace/internal/domains/epochs/report_sum.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace headrace::epochs {
namespace {

Figure times(const Figure& figure, double factor) {
    return figure.value ? Figure{*figure.value * factor, {}} : figure;
}

} // namespace

DeviceReport& ReportSum::device(const DeviceReport& like) {
    const auto known = std::ranges::find(sum_.devices, like.id, &DeviceReport::id);
    if (known != sum_.devices.end()) return *known;
    DeviceReport fresh;
    fresh.id = like.id;
    fresh.name = like.name;
    fresh.kind = like.kind;
    fresh.energy_joules = {0.0, {}};
    return sum_.devices.emplace_back(std::move(fresh));
}

void ReportSum::add(const JobReport& job, double begin) {
    sum_.job = job.job;
    sum_.policy = job.policy;
    sum_.work_units += job.work_units;
    sum_.left_out = job.left_out;
    for (const DeviceReport& one : job.devices) {
        DeviceReport& all = device(one) += one;
        if (one.tasks > 0) all.finished_seconds = begin + one.finished_seconds;
    }
    if (is_first_)
        sum_.energy_joules = job.energy_joules;
    else
        sum_.energy_joules += job.energy_joules;
    const auto end_of = [&](bool is_cpu) {
        double end = 0;
        for (const DeviceReport& one : job.devices)
            if (one.tasks > 0 && (one.kind == DeviceKind::cpu) == is_cpu)
                end = std::max(end, one.finished_seconds);
        return end;
    };
    const double of_cpus = end_of(true), of_gpus = end_of(false);
    if (job.balance.value) {
        last_ends_ += std::max(of_cpus, of_gpus);
        first_ends_ += *job.balance.value * std::max(of_cpus, of_gpus);
    }
    if (job.gpu_over_cpu.value) {
        gpu_ends_ += of_gpus;
        cpu_ends_ += of_cpus;
    }
    if (is_first_) {
        sum_.balance.why_absent = job.balance.why_absent;
        sum_.gpu_over_cpu.why_absent = job.gpu_over_cpu.why_absent;
    }
    is_first_ = false;
}

JobReport ReportSum::report(double seconds) const {
    JobReport report = sum_;
    report.seconds = seconds;
    const auto units = static_cast<double>(std::max<std::uint64_t>(report.work_units, 1));
    for (DeviceReport& one : report.devices) {
        one.share = static_cast<double>(one.work_units) / units;
        one.energy_delay_product = times(one.energy_joules, seconds);
        // It takes no part any more, and is in the report already.
        std::erase_if(report.left_out, [&](const LeftOut& other) { return other.id == one.id; });
    }
    report.energy_delay_product = times(report.energy_joules, seconds);
    if (last_ends_ > 0) report.balance = {first_ends_ / last_ends_, {}};
    if (cpu_ends_ > 0) report.gpu_over_cpu = {gpu_ends_ / cpu_ends_, {}};
    report.heterogeneous_speed_up.why_absent = report.heterogeneous_efficiency.why_absent =
        "the job ran in epochs";
    if (!is_first_) return report;
    for (Figure* const figure :
         {&report.balance, &report.gpu_over_cpu, &report.energy_joules, &report.energy_delay_product})
        *figure = {std::nullopt, "an earlier run did all work units"};
    return report;
}

} // namespace headrace::epochs
