// tests/domains/two_devices.hpp - a job's bookkeeping with two made-up devices.
#pragma once
#include <headrace/domains/job_execution.hpp>

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

    std::shared_ptr<JobExecution> run(Job job) {
        auto execution =
            std::make_shared<JobExecution>(std::move(job), make_policy("demand"), "demand",
                                           std::vector<JobExecution::Participant>{
                                               {.device = 4, .info = &fast}, {.device = 7, .info = &slow}},
                                           std::vector<LeftOut>{});
        execution->start();
        return execution;
    }
};

inline ErrorPtr lost() { return std::make_shared<const Error>(ErrorKind::device, "fell off the bus"); }

} // namespace headrace::test
