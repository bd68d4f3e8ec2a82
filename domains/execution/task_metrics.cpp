// domains/execution/task_metrics.cpp - see task_metrics.hpp.
#include "execution/task_metrics.hpp"

namespace headrace {

std::chrono::steady_clock::duration sum(std::span<const EventTimes> launches) {
    std::chrono::steady_clock::duration sum{0};
    for (const EventTimes& launch : launches) sum += launch.end - launch.begin;
    return sum;
}

std::string task_name(const JobExecution& job, const WorkRange& work_range) {
    return job.job().name() + " " + work_range.text();
}

void call_hook(const TaskHook& hook, const DeviceInfo& device, const std::vector<WorkRange>& work_ranges,
               const TaskMetrics& metrics) {
    if (!hook) return;
    std::vector<IndexRange> ranges;
    std::uint64_t units = 0;
    for (const WorkRange& work_range : work_ranges) {
        units += work_range.work_units();
        if (!work_range.units) ranges.push_back(work_range.range);
    }
    BusyTime busy;
    for (const EventTimes& launch : metrics.launches) busy.add(launch);
    const double seconds = std::chrono::duration<double>(busy.total()).count();
    hook({.device = device.id,
          .ranges = ranges,
          .seconds = seconds,
          .units_per_second = seconds > 0 ? static_cast<double>(units) / seconds : 0,
          .bytes_in = metrics.bytes_in,
          .bytes_out = metrics.bytes_out});
}

} // namespace headrace
