// domains/report.hpp - what a job did: who computed how much, in what time, and what it moved.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/figure.hpp>
#include <headrace/devices/candidate.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// How the persistent engine was set up: its own choice for device and kernel, or what Job::tune wanted.
struct EngineChoice {
    std::uint32_t lanes = 0;  ///< in a lane group; 0: no engine ran
    std::uint32_t groups = 0; ///< lane groups resident at once
    /// A group looks for more when fewer are at work; 0: as the OpenCL source says.
    std::uint32_t refill_lanes = 0;
    std::uint32_t inbox_units = 0; ///< room for each kind in a group's own inbox
    std::uint32_t bundles = 0;     ///< of a lane group's units, between groups; grows when it runs out
};

/// What the persistent engine did; sums over launches.
struct HEADRACE_EXPORT EngineFigures {
    std::uint64_t launches = 0;
    std::uint64_t units = 0; ///< work units completed, spawned ones included
    std::uint64_t spawned = 0;
    std::uint64_t lane_turns = 0; ///< lanes x calls of the kernel by a whole lane group
    EngineChoice choice{};        ///< the last task's

    EngineFigures& operator+=(const EngineFigures& other);
    /// The average share of a lane group's lanes that had a unit.
    [[nodiscard]] double lanes_at_work() const;
};

/// One device's part in a job.
struct DeviceReport {
    std::string id, name;
    DeviceKind kind = DeviceKind::cpu;
    double capability = 0; ///< what the scheduler reckoned with, the best device of the job being 1
    std::uint64_t tasks = 0;
    std::uint64_t work_units = 0; ///< seeds and indices; what they spawned is in `engine`
    double share = 0;             ///< of the job's work units
    double busy_seconds = 0;      ///< with at least one kernel running, by the device's own clock
    double finished_seconds = 0;  ///< end of its last task, since the job began
    /// So many times as long a unit took it in the end as when it was quickest: units differ, or it slowed
    /// down. 0: speeds were given, not measured.
    double slowdown = 0;
    std::uint64_t bytes_in = 0, bytes_out = 0;
    std::uint64_t seeds_given = 0;    ///< of its tasks, not begun when others had nothing to do
    std::uint64_t units_given = 0;    ///< the same, of units that sprang from its tasks: Job::share_units
    std::uint64_t units_received = 0; ///< of those that others gave, in tasks that it finished
    EngineFigures engine;
    Figure energy_joules;        ///< all that the hardware used meanwhile, for whatever programs
    Figure energy_delay_product; ///< joule seconds: with the job's seconds
    std::string reserve;         ///< why it was to stay out of the job; empty: it was not
    std::string failure;         ///< why it was retired; empty: it was not
};

/// The figures of one job. Seconds are wall-clock on the host unless said otherwise.
///
/// Source   Ribeiro et al. 2014, sec. 5.2 (speed-up and efficiency); Nozal et al. 2021, sec. 5 (balance)
struct HEADRACE_EXPORT JobReport {
    std::string job;
    std::string policy;
    double seconds = 0; ///< from the start of the first task to the end of the last
    std::uint64_t work_units = 0;
    std::vector<DeviceReport> devices;
    std::vector<LeftOut> left_out; ///< devices of this machine that took no part

    Figure balance;                  ///< first device to finish / last
    Figure gpu_over_cpu;             ///< when GPUs and other accelerators had finished / when processors had
    Figure heterogeneous_speed_up;   ///< T of the fastest device alone / T
    Figure heterogeneous_efficiency; ///< (1 / T) / sum of 1 / T_i
    Figure energy_joules;            ///< of the devices that had tasks, each piece of hardware once
    Figure energy_delay_product;     ///< joule seconds

    /// Fills in the figures that follow from single-device times T_i [s], in the order of `devices`.
    void compare_with(const std::vector<double>& single_device_seconds);

    [[nodiscard]] std::string table() const; ///< for people; several lines
    [[nodiscard]] std::string json() const;  ///< an object; keys as the members here
};

} // namespace headrace
