// core/policy.hpp - how much work a device gets next: arithmetic, without locks, clocks or devices.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace headrace {

/// Where a job stands.
struct Progress {
    std::uint64_t total = 0;     ///< work units of the job
    std::uint64_t remaining = 0; ///< not yet given to any device
    /// Work per unit of time of every device that takes part, relative to each other; 0: it takes part no
    /// more.
    std::span<const double> capability;
};

/// Decides the sizes of one job's tasks. One object per job, so a policy may remember what it gave.
///
/// Threads: one at a time.
class Policy {
public:
    virtual ~Policy() = default;
    Policy(const Policy&) = delete;
    Policy& operator=(const Policy&) = delete;

    /// Work units for `device` (an index into the capabilities), which has room for a task. At most what
    /// remains; 0: none, now. The fastest device is never refused while work remains.
    [[nodiscard]] virtual std::uint64_t next(std::size_t device, const Progress& progress) = 0;
    /// Told when tasks have ended, one or several of a launch, with their time as the device measured it.
    virtual void completed(std::size_t device, std::uint64_t units, std::chrono::nanoseconds time) {
        static_cast<void>(device), static_cast<void>(units), static_cast<void>(time);
    }

protected:
    Policy() = default;
};

/// Demand driven: a task is N / divisions x Cd / max(C) work units, at least one.
///
/// A device so slow that one unit would take it longer than the others need for all that remains gets none:
/// taking part must not make a job later.
///
/// Source  Ribeiro et al., "Irregular workloads", 2014, sec. 4.1. Differs in the refusal above
class DemandPolicy final : public Policy {
public:
    static constexpr std::uint64_t default_divisions = 10;
    /// Throws invalid_argument for 0.
    explicit DemandPolicy(std::uint64_t divisions = default_divisions);
    [[nodiscard]] std::uint64_t next(std::size_t device, const Progress& progress) override;

private:
    std::uint64_t divisions_;
};

/// A policy by name, with its parameter after a colon: "demand", "demand:20". Throws not_found for an unknown
/// name, with the known ones, and invalid_argument for a parameter that is none.
[[nodiscard]] std::unique_ptr<Policy> make_policy(std::string_view name);

} // namespace headrace
