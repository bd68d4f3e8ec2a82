// tests/domains/two_devices.hpp - a job's bookkeeping with two made-up devices.
#pragma once
#include <headrace/internal/domains/job_execution.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {

inline DeviceInfo device_info(std::string id, double gflops) {
    DeviceInfo info;
    info.id = std::move(id);
    info.peak_gflops = gflops;
    return info;
}

/// Numbers 4 and 7; the second is less than a third as fast.
struct Two {
    DeviceInfo fast = device_info("fast", 1000), slow = device_info("slow", 300);

    /// What most tests say of times is made up, and is not to be learned from.
    std::shared_ptr<JobExecution> run(Job job, bool learns = false) {
        const auto guess = [](const DeviceInfo& info) {
            return Estimate{.peak = info.peak_gflops, .units_per_second = {}};
        };
        auto execution =
            JobExecution::make(std::move(job), JobExecution::Scheduling{make_policy("demand"), learns},
                               std::vector<JobExecution::Participant>{{4, &fast, guess(fast), nullptr},
                                                                      {7, &slow, guess(slow), nullptr}});
        execution->start();
        return execution;
    }
};

inline ErrorPtr lost() { return std::make_shared<const Error>(ErrorKind::device, "fell off the bus"); }

} // namespace headrace::test
