// domains/report.hpp - metrics of a job: what each device computed, in what time, and what it moved.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/figure.hpp>
#include <headrace/devices/candidate.hpp>
#include <headrace/domains/cluster/traffic.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// The set-up of the persistent engine: its own choice for device and kernel, or the values of Job::tune.
struct EngineChoice {
    std::uint32_t lanes = 0;  ///< in a lane group; 0: no engine ran
    std::uint32_t groups = 0; ///< lane groups resident at once
    /// A group fetches more work when fewer lanes than this have work; 0: the OpenCL source decides.
    std::uint32_t refill_lanes = 0;
    std::uint32_t inbox_units = 0; ///< room for each kind of unit in a group's own inbox
    std::uint32_t bundles = 0;     ///< one lane group's units each, between groups; grows if none is left
};

/// Counters of the persistent engine, summed over launches.
struct HEADRACE_EXPORT EngineMetrics {
    std::uint64_t launches = 0;
    std::uint64_t units = 0; ///< work units completed, spawned ones included
    std::uint64_t spawned = 0;
    std::uint64_t lane_turns = 0; ///< lanes x calls of the kernel by a whole lane group
    EngineChoice choice{};        ///< that of the last task

    EngineMetrics& operator+=(const EngineMetrics& other);
    /// The average share of a lane group's lanes that had a unit.
    [[nodiscard]] double lanes_at_work() const;
};
using EngineFigures [[deprecated("it is EngineMetrics now")]] = EngineMetrics;

/// The part of one device in a job.
struct HEADRACE_EXPORT DeviceReport {
    std::string id, name;
    DeviceKind kind = DeviceKind::cpu;
    double capability = 0; ///< as the scheduler used it; the best device of the job has 1
    std::uint64_t tasks = 0;
    std::uint64_t work_units = 0; ///< seeds and indices; units that they spawned are in `engine`
    double share = 0;             ///< of the job's work units
    double busy_seconds = 0;      ///< time with at least one kernel running, by the device's own clock
    double finished_seconds = 0;  ///< end of its last task, since the job began
    /// Time for a unit at the end / shortest time for a unit. More than 1: units differ, or the device slowed
    /// down. 0: speeds were given, not measured.
    double slowdown = 0;
    std::uint64_t bytes_in = 0, bytes_out = 0;
    union { ///< seeds of its tasks, not begun, transferred to devices without work
        std::uint64_t seeds_transferred = 0;
        [[deprecated("it is seeds_transferred now")]] std::uint64_t seeds_given;
    };
    union { ///< the same, for units spawned by its tasks: Job::share_units
        std::uint64_t units_transferred = 0;
        [[deprecated("it is units_transferred now")]] std::uint64_t units_given;
    };
    std::uint64_t units_received = 0; ///< transferred from other devices, in tasks that it finished
    EngineMetrics engine;
    Figure energy_joules;        ///< all that the hardware used meanwhile, for all programs
    Figure energy_delay_product; ///< joule seconds: with the job's seconds
    std::string reserve;         ///< why the device was on standby; empty: it was not
    std::string failure;         ///< why the device was retired; empty: it was not

    /// Adds its part in a later job: what can be counted, and the energy. The capability is that of the last
    /// job, the slowdown the greater one, and the failure the first one. Leaves what depends on the times and
    /// units of all: share, end, energy-delay product.
    DeviceReport& operator+=(const DeviceReport& later);
};

/// The metrics of one job. Seconds are wall-clock time on the host, except where noted.
///
/// Source   Ribeiro et al. 2014, sec. 5.2 (speed-up and efficiency); Nozal et al. 2021, sec. 5 (balance)
struct HEADRACE_EXPORT JobReport {
    std::string job;
    std::string policy;
    double seconds = 0; ///< from the start of the first task to the end of the last
    std::uint64_t work_units = 0;
    std::uint64_t resumed_units = 0; ///< done by an earlier run, besides: run_in_epochs
    std::vector<DeviceReport> devices;
    std::vector<LeftOut> left_out; ///< devices of this machine that took no part

    Figure balance;                  ///< end of the first device to finish / end of the last
    Figure gpu_over_cpu;             ///< end of the last GPU or other accelerator / end of the last processor
    Figure heterogeneous_speed_up;   ///< T of the fastest device alone / T
    Figure heterogeneous_efficiency; ///< (1 / T) / sum of 1 / T_i
    Figure energy_joules;            ///< of the devices that had tasks, each piece of hardware once
    Figure energy_delay_product;     ///< joule seconds
    /// Of a cluster: what each rank has sent since its start, not only for this job. Empty unless the program
    /// sets it to cluster::collect_traffic().
    std::vector<cluster::RankTraffic> ranks;

    /// Fills in the metrics that follow from single-device times T_i [s], in the order of `devices`.
    void compare_with(const std::vector<double>& single_device_seconds);

    [[nodiscard]] std::string table() const; ///< for people; several lines
    [[nodiscard]] std::string json() const;  ///< an object of docs/report.schema.json
};

/// For nlohmann::json: the object of json().
template <class Json>
void to_json(Json& json, const JobReport& report) {
    json = Json::parse(report.json());
}

} // namespace headrace
