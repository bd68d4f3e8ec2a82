// domains/runtime.hpp - owns the devices and runs jobs on them.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>
#include <headrace/devices/discovery.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/domains/job_handle.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// Where devices compute on domains. A device that a file gives private copies has them in any case.
enum class MemoryModel : std::uint8_t {
    natural, ///< processors in place, on the host's memory; GPUs on copies of their own
    unified, ///< whatever can in place: GPUs, too, where a domain is in memory of `Runtime::allocate_host`
    buffers, ///< everything on copies of its own
};

struct RuntimeOptions {
    /// "" (everything found, each processor once), "cpu,cuda:0", "@devices.toml": see select_devices.
    std::string devices = {};
    std::string policy = "adaptive"; ///< see make_policy
    /// What capabilities begin with: "calibrated", by what earlier jobs have measured, and where they have
    /// not, and with "online", by theoretical peaks; the job's own measurements go on from there. With "peak"
    /// they stay.
    std::string model = "calibrated";
    /// Instead of a model: capabilities by a device's id, or a kind's name ("cpu", "gpu"); those that are not
    /// named have 1. They stay as they are.
    std::map<std::string, double> powers = {};
    unsigned window = 2; ///< tasks in flight per device: while one runs, the next one's data moves
    MemoryModel memory = MemoryModel::natural;
    /// When a task has given no sign of life for so long, the log says who waits for what, and again each
    /// time; 0: never. See internal/domains/watchdog.hpp for what counts as one.
    std::chrono::nanoseconds patience = std::chrono::minutes(1);
    /// Called after that, by a thread of the runtime's. A kernel that does not answer cannot be stopped: who
    /// wants an end calls _exit.
    std::function<void()> on_hang = {};
};

/// By name, as in RuntimeOptions::model. Throws not_found for another name.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<PerformanceModel> make_model(std::string_view name);

/// Owns the devices, and a thread and a controller for each. Ends only after its jobs: the destructor cancels
/// them.
///
/// Threads   any
/// Processes a child of fork() cannot use it: `submit` throws invalid_argument there
/// Errors    the constructor throws what is wrong with the device list; `submit` throws unsupported if no
///           device of this runtime can run the job, with the reason for each
class HEADRACE_EXPORT Runtime {
public:
    explicit Runtime(RuntimeOptions options = {});
    /// On devices made elsewhere (tests; wrappers that slow a device down).
    Runtime(std::vector<std::unique_ptr<Device>> devices, RuntimeOptions options);
    ~Runtime();
    Runtime(const Runtime&) = delete; // threads hold its address
    Runtime& operator=(const Runtime&) = delete;

    JobHandle submit(const Job& job);

    [[nodiscard]] std::vector<const DeviceInfo*> devices() const;
    /// Host memory that devices copy from and to at full speed, aligned to 64 bytes: pinned by the driver of
    /// the first one with memory of its own, for all devices of its technology. Without one, plain memory.
    /// For Domain.
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) const;
    [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace headrace
