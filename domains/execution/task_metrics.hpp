// domains/execution/task_metrics.hpp - what tasks took, as reports and hooks of users get it. Private to
// domains/.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace headrace {

/// How long the launches took together.
[[nodiscard]] std::chrono::steady_clock::duration sum(std::span<const EventTimes> launches);

/// "film [0, 512)"
[[nodiscard]] std::string task_name(const JobExecution& job, const WorkRange& work_range);

/// Calls a hook of the user, if there is one, with what `work_ranges` took.
void call_hook(const TaskHook& hook, const DeviceInfo& device, const std::vector<WorkRange>& work_ranges,
               const TaskMetrics& metrics);

} // namespace headrace
