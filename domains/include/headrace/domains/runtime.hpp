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

/// Where devices compute on domains. A device that the device file gives private copies always has them.
enum class MemoryModel : std::uint8_t {
    natural, ///< processors in place, on the host's memory; GPUs on copies of their own
    unified, ///< in place where possible; GPUs too, for a domain in memory of `Runtime::allocate_host`
    buffers, ///< every device on copies of its own
};

struct RuntimeOptions {
    /// "" (all devices found, each processor once), "cpu,cuda:0", "@devices.toml": see select_devices.
    std::string devices = {};
    std::string policy = "adaptive"; ///< see make_policy
    /// Initial capabilities. "calibrated": measurements of earlier jobs, or theoretical peaks where there are
    /// none. "online": theoretical peaks. The job's own measurements then update both. "peak": theoretical
    /// peaks, never updated.
    std::string model = "calibrated";
    /// Replaces the model: capabilities by device id or by name of a kind ("cpu", "gpu"). Devices that are
    /// not named have 1. Measurements do not change them.
    std::map<std::string, double> powers = {};
    unsigned window = 2; ///< tasks in flight per device: while one runs, the data of the next one moves
    MemoryModel memory = MemoryModel::natural;
    /// If a task shows no progress for this time, the log says what waits for what, once in every such time;
    /// 0: never. internal/domains/watchdog.hpp says what counts as progress.
    std::chrono::nanoseconds patience = std::chrono::minutes(1);
    /// Called after each such log entry, by a thread of the runtime. A kernel that does not answer cannot be
    /// stopped; to end the program, call _exit.
    std::function<void()> on_hang = {};
};

/// The model with this name: see RuntimeOptions::model. Throws not_found for an unknown name.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<PerformanceModel> make_model(std::string_view name);

/// Owns the devices, and one thread and one controller for each. The destructor cancels all jobs and waits
/// until they have ended.
///
/// Threads   any
/// Processes a child of fork() cannot use it: `submit` throws invalid_argument there
/// Errors    the constructor throws what is wrong with the device list; `submit` throws unsupported if no
///           device of this runtime can run the job, with the reason for each
class HEADRACE_EXPORT Runtime {
public:
    explicit Runtime(RuntimeOptions options = {});
    /// On devices that the caller made (for tests, or wrappers that slow a device down).
    Runtime(std::vector<std::unique_ptr<Device>> devices, RuntimeOptions options);
    ~Runtime();
    Runtime(const Runtime&) = delete; // threads hold its address
    Runtime& operator=(const Runtime&) = delete;

    JobHandle submit(const Job& job);

    [[nodiscard]] std::vector<const DeviceInfo*> devices() const;
    /// Host memory that devices copy from and to at full speed, aligned to 64 bytes, for Domain. The driver
    /// of the first device with memory of its own pins it, for all devices of its technology. Without such a
    /// device it is plain memory.
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) const;
    [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace headrace
