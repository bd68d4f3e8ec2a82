// tests/domains/job_order.hpp - jobs of host functions on made-up devices, which may be slow at random.
#pragma once
#include <core/fake_device.hpp>
#include <core/flag.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {

using Numbers = Domain<std::uint64_t>;
using Work = std::function<void(Task&)>;

/// `longest_delay`: of each request, at random.
inline std::unique_ptr<Runtime> fake_runtime(std::size_t count, RuntimeOptions options = {},
                                             std::chrono::microseconds longest_delay = {}) {
    std::vector<std::unique_ptr<Device>> devices;
    for (std::size_t i = 0; i < count; ++i)
        devices.push_back(std::make_unique<FakeDevice>(
            FakeOptions{.id = "fake:" + std::to_string(i), .longest_delay = longest_delay, .seed = i + 1}));
    return std::make_unique<Runtime>(std::move(devices), std::move(options));
}

inline Job with(Job job, Work work) {
    job.host_function("fake", [work = std::move(work)](Task& task, const NativeStream&) { work(task); });
    return job;
}

class JobOrder : public ::testing::Test {
protected:
    Flag may_go_on_;
    std::unique_ptr<Runtime> runtime_ = fake_runtime(2, {.policy = "dynamic:4", .model = "peak"});

    /// Its tasks wait until they may go on.
    Work held(Work work) {
        return [this, work = std::move(work)](Task& task) {
            may_go_on_.wait();
            work(task);
        };
    }
    static Job sets(const Numbers& x, std::uint64_t value) {
        return with(std::move(Job("set", x.size()).writes(rows(x))), [x, value](Task& task) {
            const auto view = task.write(x);
            for (auto i = task.range().begin; i < task.range().end; ++i) view[i] = value;
        });
    }
    static Job throws(Job job) { return with(std::move(job), throw_error); }
    static void throw_error(Task&) { throw std::runtime_error("not in the mood"); }
    ErrorPtr failure_of(const Numbers& x) {
        try {
            static_cast<void>(x.gather());
        } catch (const Error& error) {
            return std::make_shared<const Error>(error);
        }
        return nullptr;
    }
};

} // namespace headrace::test
